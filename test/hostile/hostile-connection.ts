import { Agent, request } from 'node:http';
import type { HostileRequest } from './world.ts';

export interface ConnectionAnswer {
  status: number;
  bytes: number;
  ms: number;
}

export interface HostileConnection {
  send(hostile: HostileRequest): Promise<ConnectionAnswer>;
  close(): void;
}

/** One connection that is kept, so that what is timed is the answer. A stream is left as soon as it has begun. */
export function openHostileConnection(port: number): HostileConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const startedMs = performance.now();
        const about = body === '' ? {} : { 'Content-Length': Buffer.byteLength(body) };
        const options = { agent, port, host: '127.0.0.1', method, path, headers: { ...about, ...headers } };
        const sent = request(options, (answer) => {
          let bytes = 0;
          const done = () => resolve({ status: answer.statusCode ?? 0, bytes, ms: performance.now() - startedMs });
          if (answer.headers['content-type'] === 'text/event-stream') {
            done();
            sent.destroy();
            return;
          }
          answer.on('data', (piece: Buffer) => {
            bytes += piece.length;
          });
          answer.on('end', done);
          answer.on('error', reject);
        });
        sent.on('error', reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}
