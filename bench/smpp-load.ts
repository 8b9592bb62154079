import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { encodePdu } from '../src/smpp/encode.ts';
import { createFrameReader } from '../src/smpp/frames.ts';
import { commandIds, emptySubmit } from '../src/smpp/pdu.ts';

export interface SmppBind {
  /** Keeps this many submits unanswered for the time. Returns how many were answered, and in how long. */
  submit(window: number, ms: number): Promise<{ answered: number; elapsedMs: number }>;
  close(): void;
}

const [statusAt, sequenceAt] = [8, 12];

/** A program that is bound: it answers probes, and writes submits that were made in advance. */
export async function openBind(
  port: number,
  { systemId, password }: { systemId: string; password: string },
  text: { from: string; message: string },
): Promise<SmppBind> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const frames = createFrameReader();
  let onAnswer = (_status: number) => {};
  socket.on('data', (chunk: Buffer) => {
    let probes = 0;
    for (const frame of frames.read(chunk)) {
      if (frame.readUInt32BE(4) === commandIds.enquire_link) {
        socket.write(encodePdu({ command: 'enquire_link_resp', status: 0, sequence: frame.readUInt32BE(sequenceAt) }));
        probes++;
      } else onAnswer(frame.readUInt32BE(statusAt));
    }
    if (probes === 0) flush();
  });
  socket.on('error', () => {});
  const frame = (to: string) =>
    encodePdu({
      ...{ command: 'submit_sm', status: 0, sequence: 1, ...emptySubmit },
      ...{ sourceTon: 5, source: text.from, destinationTon: 1, destinationNpi: 1, destination: to },
      shortMessage: Buffer.from(text.message, 'latin1'),
    });
  const submits = Array.from({ length: 1000 }, (_, index) => frame(`4477009${String(index).padStart(5, '0')}`));
  let sequence = 1;
  let pending: Buffer[] = [];

  function add(): void {
    const next = Buffer.from(submits[sequence % submits.length] as Buffer);
    next.writeUInt32BE(sequence++, sequenceAt);
    pending.push(next);
  }

  function flush(): void {
    if (pending.length === 0) return;
    socket.write(Buffer.concat(pending));
    pending = [];
  }

  const bound = new Promise<number>((resolve) => {
    onAnswer = resolve;
  });
  const who = { systemId, password, systemType: '', interfaceVersion: 0x34, addressTon: 0, addressNpi: 0 };
  socket.write(encodePdu({ command: 'bind_transceiver', status: 0, sequence: sequence++, ...who, addressRange: '' }));
  const status = await bound;
  if (status !== 0) throw new Error(`the bind was answered 0x${status.toString(16)}`);

  return {
    async submit(window, ms) {
      const startedMs = performance.now();
      let answered = 0;
      let open = window;
      let lastMs = startedMs;
      await new Promise<void>((resolve, reject) => {
        onAnswer = (answer) => {
          if (answer !== 0) {
            reject(new Error(`a submit was answered 0x${answer.toString(16)}`));
            return;
          }
          answered++;
          lastMs = performance.now();
          if (lastMs - startedMs < ms) add();
          else if (--open === 0) resolve();
        };
        for (let count = 0; count < window; count++) add();
        flush();
      });
      return { answered, elapsedMs: lastMs - startedMs };
    },
    close: () => socket.destroy(),
  };
}
