// The load of bench/edge.ts, in a process of its own so that it does not take the server's time. Plain sockets that stay
// open, one request at a time on each, written in advance: what is measured is the server.
import { connect, type Socket } from 'node:net';

export interface Job {
  port: number;
  /** Whole requests, sent in turn. */
  requests: string[];
  connections: number;
  ms: number;
  /** Sends this many a second whatever the answers do, instead of the next behind each answer. */
  perSecond?: number;
}

export interface Outcome {
  answered: number;
  perSecond: number;
  statuses: Record<string, number>;
  medianMs: number;
}

interface Connection {
  socket: Socket;
  received: string;
  sentAt: number[];
}

async function run({ port, requests, connections, ms, perSecond }: Job): Promise<Outcome> {
  const statuses: Record<string, number> = {};
  const took: number[] = [];
  let next = 0;
  let over = false;
  const send = (connection: Connection) => {
    connection.sentAt.push(performance.now());
    connection.socket.write(requests[next++ % requests.length] ?? '');
  };
  const all = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await new Promise((open, fail) => socket.once('connect', open).once('error', fail));
      const connection: Connection = { socket, received: '', sentAt: [] };
      socket.setEncoding('latin1');
      socket.on('data', (piece: string) => {
        connection.received += piece;
        for (let status = takeAnswer(connection); status !== undefined; status = takeAnswer(connection)) {
          statuses[status] = (statuses[status] ?? 0) + 1;
          took.push(performance.now() - (connection.sentAt.shift() ?? 0));
          if (perSecond === undefined && !over) send(connection);
        }
      });
      return connection;
    }),
  );
  const startMs = performance.now();
  const pacing = perSecond === undefined ? undefined : pace(all, perSecond, send);
  if (pacing === undefined) for (const connection of all) send(connection);
  await new Promise((done) => setTimeout(done, ms));
  over = true;
  clearInterval(pacing);
  const answered = took.length;
  const elapsedMs = performance.now() - startMs;
  for (const { socket } of all) socket.destroy();
  took.sort((a, b) => a - b);
  return {
    answered,
    perSecond: (answered * 1000) / elapsedMs,
    statuses,
    medianMs: took[answered >> 1] ?? 0,
  };
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
  }, 5);
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

process.on('message', async (job: Job) => process.send?.(await run(job)));
process.on('disconnect', () => process.exit(0));
