import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  /** By lower-case name; a header sent twice is joined by a comma. */
  headers: Record<string, string | undefined>;
  body: string;
}

export interface RawConnection {
  socket: Socket;
  send(bytes: string | Buffer): void;
  /** The next whole answer. Rejects when the server closes first, or is silent for too long. */
  answer(): Promise<RawAnswer>;
  /** Every answer until the server closes. Rejects when it does not, or when it stops in the middle of an answer. */
  untilClosed(): Promise<RawAnswer[]>;
  /** Goes on sending, and reads nothing, until the server has cut the connection off. */
  pesterUntilCut(): Promise<void>;
}

export interface RawOptions {
  host?: string;
  /** How long a silent server is waited for before it counts as hung. */
  patienceMs?: number;
}

/** A connection on which a test says exactly the bytes it wants to say. */
export function openRaw(port: number, { host = '127.0.0.1', patienceMs = 8000 }: RawOptions = {}): RawConnection {
  const socket = connect({ port, host });
  let received = Buffer.alloc(0);
  let closed = false;
  let wake = () => {};
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  // A reset is one way to be closed; what arrived before it still counts.
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
    wake();
  });

  async function next(): Promise<RawAnswer | undefined> {
    const deadline = setTimeout(() => {
      socket.destroy(new Error('hung'));
    }, patienceMs);
    try {
      for (;;) {
        const read = readAnswer(received, closed);
        if (read !== undefined) {
          received = received.subarray(read.length);
          return read.answer;
        }
        if (closed) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      clearTimeout(deadline);
    }
    if (socket.errored?.message === 'hung') {
      throw new Error(`The connection hung after ${shown(received)}.`);
    }
    if (received.length > 0) throw new Error(`Half an answer: ${shown(received)}`);
    return undefined;
  }

  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    async answer() {
      const answer = await next();
      if (answer === undefined) throw new Error('The server closed without an answer.');
      return answer;
    },
    async untilClosed() {
      const answers: RawAnswer[] = [];
      for (let answer = await next(); answer !== undefined; answer = await next()) answers.push(answer);
      return answers;
    },
    async pesterUntilCut() {
      socket.pause();
      const pester = setInterval(() => socket.write('x'), 25);
      const deadline = setTimeout(() => socket.destroy(new Error('hung')), patienceMs);
      while (!closed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      clearInterval(pester);
      clearTimeout(deadline);
      if (socket.errored?.message === 'hung') throw new Error('The server never cut the connection off.');
    },
  };
}

/** Says something on a connection of its own and reads until the server closes it. */
export async function sayRaw(port: number, bytes: string | Buffer, options?: RawOptions): Promise<RawAnswer[]> {
  const connection = openRaw(port, options);
  connection.send(bytes);
  return connection.untilClosed();
}

/** The first of some bytes, all of them as plain ASCII: Node's test runner loses its way when others are reported. */
export function shown(bytes: Buffer): string {
  const text = JSON.stringify(bytes.subarray(0, 1500).toString('latin1'));
  return text.replaceAll(/[^ -~]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function readAnswer(bytes: Buffer, closed: boolean): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`Not a status line: ${shown(bytes)}`);
  const headers: RawAnswer['headers'] = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const start = headEnd + 4;
  // An answer to HEAD announces a length and sends nothing: what follows is the end, or the next answer.
  const bare = bytes.length === start ? closed : bytes.subarray(start).indexOf('HTTP/1.1 ') === 0;
  const length = bare || status < 200 || status === 204 || status === 304 ? 0 : Number(headers['content-length'] ?? 0);
  if (bytes.length < start + length) return undefined;
  const body = bytes.subarray(start, start + length).toString('utf8');
  return { answer: { status, headers, body }, length: start + length };
}
