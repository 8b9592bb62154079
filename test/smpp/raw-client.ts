// An ESME as plain as possible: it sends PDUs and shows what comes back, in order.
import { connect, type Socket } from 'node:net';
import { decodePdu } from '../../src/smpp/decode.ts';
import { encodePdu } from '../../src/smpp/encode.ts';
import { createFrameReader } from '../../src/smpp/frames.ts';
import {
  type BindAnswerCommand,
  type BindAnswerPdu,
  type BindCommand,
  type DeliverPdu,
  emptySubmit,
  type MessageAnswerPdu,
  type Pdu,
  type SubmitFields,
} from '../../src/smpp/pdu.ts';

type PduOf<Command, Any extends Pdu = Pdu> = Any extends Pdu ? (Command extends Any['command'] ? Any : never) : never;

export interface RawClient {
  send(pdu: Pdu): void;
  sendOctets(octets: Buffer): void;
  /** Takes the next PDU with this command out of those that came. */
  take<Command extends Pdu['command']>(command: Command): Promise<PduOf<Command>>;
  /** Looks whenever something has come, and once the connection is closed. */
  until(what: string, isThere: () => boolean): Promise<void>;
  readonly isClosed: boolean;
  /** Takes the next PDU, whatever it is. */
  next(): Promise<Pdu>;
  readonly received: readonly Pdu[];
  readonly lost: string | undefined;
  bind(command?: BindCommand, more?: { systemId?: string; password?: string }): Promise<BindAnswerPdu>;
  submit(fields?: Partial<SubmitFields>): Promise<MessageAnswerPdu>;
  /** The next receipt, answered. */
  takeReceipt(status?: number): Promise<DeliverPdu>;
  closed(): Promise<void>;
  /** Sends no more, and reads on. */
  end(): void;
  close(): void;
}

const plain = (port: number): Socket => connect({ port, host: '127.0.0.1', noDelay: true });

export async function connectRaw(port: number, open = plain): Promise<RawClient> {
  const socket = open(port);
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const frames = createFrameReader();
  const received: Pdu[] = [];
  let sequence = 0;
  let isClosed = false;
  /** Woken when something has come. */
  const waiting = new Set<() => void>();
  socket.on('data', (chunk) => {
    for (const frame of frames.read(chunk)) received.push(decodePdu(frame).pdu);
    for (const wake of waiting) wake();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
    for (const wake of waiting) wake();
  });
  function until(what: string, isThere: () => boolean): Promise<void> {
    if (isThere()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const end = (act: () => void) => {
        waiting.delete(wake);
        clearTimeout(late);
        act();
      };
      const wake = () => isThere() && end(resolve);
      const late = setTimeout(() => end(() => reject(new Error(`not within a minute: ${what}`))), 60_000);
      waiting.add(wake);
    });
  }

  /** Several may wait for what is there once: the first takes it, the others wait on. */
  async function takeOne(what: string, isWanted: (pdu: Pdu) => boolean): Promise<Pdu> {
    for (;;) {
      await until(what, () => received.some(isWanted));
      const index = received.findIndex(isWanted);
      const [pdu] = index < 0 ? [] : received.splice(index, 1);
      if (pdu !== undefined) return pdu;
    }
  }

  const client: RawClient = {
    send: (pdu) => void socket.write(encodePdu(pdu)),
    sendOctets: (octets) => void socket.write(octets),
    async take(command) {
      return (await takeOne(`a ${command} comes`, (pdu) => pdu.command === command)) as never;
    },
    next: () => takeOne('a PDU comes', () => true),
    get received() {
      return received;
    },
    get lost() {
      return frames.lost;
    },
    async bind(command = 'bind_transceiver', { systemId = 'tester', password = 'secret' } = {}) {
      const bind = { systemId, password, systemType: '', interfaceVersion: 0x34, addressTon: 0, addressNpi: 0 };
      client.send({ command, status: 0, sequence: ++sequence, ...bind, addressRange: '' });
      return client.take<BindAnswerCommand>(`${command}_resp`);
    },
    async submit(fields = {}) {
      const own = ++sequence;
      client.send({ ...textTo('447700900123'), ...fields, command: 'submit_sm', status: 0, sequence: own });
      // Answers may come in another order.
      const isOwn = (pdu: Pdu) => pdu.command === 'submit_sm_resp' && pdu.sequence === own;
      return (await takeOne(`the answer of submit ${own} comes`, isOwn)) as MessageAnswerPdu;
    },
    async takeReceipt(status = 0) {
      const receipt = await client.take('deliver_sm');
      client.send({ command: 'deliver_sm_resp', status, sequence: receipt.sequence, messageId: '', tlvs: [] });
      return receipt;
    },
    until,
    get isClosed() {
      return isClosed;
    },
    closed: () => until('the SMSC closes the connection', () => isClosed),
    end: () => void socket.end(),
    close: () => socket.destroy(),
  };
  return client;
}

/** A short text that asks for a receipt. */
export function textTo(destination: string): SubmitFields {
  return {
    ...emptySubmit,
    sourceTon: 5,
    source: 'ACME',
    destinationTon: 1,
    destinationNpi: 1,
    destination,
    registeredDelivery: 1,
    shortMessage: Buffer.from('hello'),
  };
}
