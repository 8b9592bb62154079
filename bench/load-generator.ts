// The load, in a process of its own so that it does not take the server's time. Plain sockets that stay open, one request
// at a time on each, written in advance: what is measured is the server.
import { once as onceEmitted } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Job {
  /** Connections are spread evenly over them. */
  ports: number[];
  /** Whole requests, sent in turn. */
  requests: string[];
  connections: number;
  /** Sends this many in one piece, and the next when all are answered, so that the load is not the limit. */
  together?: number;
  ms: number;
  /** Sends this many a second whatever the answers do, instead of the next behind each answer. */
  perSecond?: number;
  /** Others that are sent from here too, at their own pace, and whose answers are not read. */
  beside?: { requests: string[]; connections: number; perSecond: number };
  /** Sends no request twice: it is over when all are answered, or the time is. */
  once?: boolean;
}

export interface Outcome {
  /** In the time. */
  answered: number;
  /** With those that were on their way when it ended: what the server has worked for. */
  worked: number;
  /** Of those that were sent beside. */
  answeredBeside: number;
  perSecond: number;
  statuses: Record<string, number>;
  medianMs: number;
  p99Ms: number;
  /** How much of one core the load itself took: near 1 the server was not the limit. */
  busy: number;
}

interface Connection {
  socket: Socket;
  received: string;
  sentAt: number[];
}

const lateMs = 3000;

async function run(job: Job): Promise<Outcome> {
  const { ports, requests, connections, together = 1, ms, perSecond, beside, once = false } = job;
  const statuses: Record<string, number> = {};
  const took: number[] = [];
  let next = 0;
  let waiting = 0;
  let worked = 0;
  let lastMs = 0;
  let phase: 'opening' | 'measured' | 'over' = 'opening';
  let nothingWaits = () => {};
  const send = (connection: Connection) => {
    let piece = '';
    for (let count = 0; count < together && !(once && next >= requests.length); count++) {
      waiting += 1;
      connection.sentAt.push(performance.now());
      piece += requests[next++ % requests.length] ?? '';
    }
    if (piece !== '') connection.socket.write(piece, 'latin1');
  };
  const receive = (connection: Connection, status: string) => {
    waiting -= 1;
    const sentAt = connection.sentAt.shift() ?? 0;
    if (phase !== 'opening') worked += 1;
    if (phase === 'measured') {
      lastMs = performance.now();
      took.push(lastMs - sentAt);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (perSecond === undefined && connection.sentAt.length === 0) send(connection);
    }
    const more = phase === 'measured' && (!once || next < requests.length);
    if (waiting === 0 && !more) nothingWaits();
  };
  const all = await open(ports, connections, receive);
  let answeredBeside = 0;
  let nextBeside = 0;
  const others = await open(ports, beside?.connections ?? 0, () => answeredBeside++);
  const sendBeside = ({ socket }: Connection) => {
    const list = beside?.requests ?? [];
    socket.write(list[nextBeside++ % list.length] ?? '', 'latin1');
  };
  /** Until everything sent is answered, or the time is over. */
  const settle = (limitMs: number) =>
    new Promise<void>((done) => {
      const timer = setTimeout(done, limitMs);
      nothingWaits = () => {
        clearTimeout(timer);
        done();
      };
    });

  // A first answer on each: a connection that is only now accepted is not what is measured.
  for (const connection of all) send(connection);
  await settle(lateMs);
  process.send?.('open');
  await onceEmitted(process, 'message');

  phase = 'measured';
  const startMs = performance.now();
  const cpuBefore = process.cpuUsage();
  const measured = settle(ms);
  const pacing = perSecond === undefined ? undefined : pace(all, perSecond, send);
  const pacingBeside = beside === undefined ? undefined : pace(others, beside.perSecond, sendBeside);
  if (pacing === undefined) for (const connection of all) send(connection);
  await measured;
  const elapsedMs = (waiting === 0 ? lastMs : performance.now()) - startMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  phase = 'over';
  clearInterval(pacing);
  clearInterval(pacingBeside);
  if (waiting > 0) await settle(lateMs);
  for (const { socket } of [...all, ...others]) socket.destroy();
  const answered = took.length;
  took.sort((a, b) => a - b);
  return {
    answered,
    worked,
    answeredBeside,
    perSecond: (answered * 1000) / elapsedMs,
    statuses,
    medianMs: took[answered >> 1] ?? 0,
    p99Ms: took[Math.floor(answered * 0.99)] ?? 0,
    busy: (user + system) / 1000 / elapsedMs,
  };
}

function open(
  ports: number[],
  connections: number,
  receive: (connection: Connection, status: string) => void,
): Promise<Connection[]> {
  return Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      const socket = connect({ port: ports[index % ports.length] ?? 0, host: '127.0.0.1', noDelay: true });
      await onceEmitted(socket, 'connect');
      const connection: Connection = { socket, received: '', sentAt: [] };
      socket.setEncoding('latin1');
      socket.on('data', (piece: string) => {
        connection.received += piece;
        for (let status = takeAnswer(connection); status !== undefined; status = takeAnswer(connection)) {
          receive(connection, status);
        }
      });
      return connection;
    }),
  );
}

function pace(all: Connection[], perSecond: number, send: (connection: Connection) => void): NodeJS.Timeout {
  const startMs = performance.now();
  let sent = 0;
  return setInterval(() => {
    const due = ((performance.now() - startMs) * perSecond) / 1000;
    for (; sent < due; sent++) {
      const connection = all[sent % all.length];
      if (connection !== undefined) send(connection);
    }
  }, 1);
}

/** The status of the first whole answer received, which is taken away. */
function takeAnswer(connection: Connection): string | undefined {
  const { received } = connection;
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? 0);
  if (received.length < end + 4 + length) return undefined;
  connection.received = received.slice(end + 4 + length);
  return received.slice(9, 12);
}

process.on('message', async (job: Job | 'go') => {
  if (job !== 'go') process.send?.(await run(job));
});
process.on('disconnect', () => process.exit(0));
