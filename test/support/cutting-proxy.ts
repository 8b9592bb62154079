// A proxy on loopback that loses a connection at a byte which the request itself names: `cut-answer-120` anywhere in its
// body ends the connection after 120 bytes of the answer, `cut-request-120` after 120 bytes of the request. Each once.
import { connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  url: string;
  /** How many connections it has cut. */
  cuts(): number;
  close(): Promise<void>;
}

export async function createCuttingProxy(target: { port: number }): Promise<CuttingProxy> {
  const done = new Set<string>();
  const sockets = new Set<Socket>();

  function cutNamed(kind: 'request' | 'answer', message: string): number | undefined {
    const [name, bytes] = new RegExp(`cut-${kind}-(\\d+)`).exec(message) ?? [];
    if (name === undefined || done.has(name)) return undefined;
    done.add(name);
    return Number(bytes);
  }

  const listener = createServer((client) => {
    const server = connect(target.port, '127.0.0.1');
    sockets.add(client).add(server);
    const end = () => {
      client.resetAndDestroy();
      server.end();
    };
    let request = Buffer.alloc(0);
    let answerLeft = Number.POSITIVE_INFINITY;
    client.on('data', (bytes) => {
      request = Buffer.concat([request, bytes]);
      if (!isWhole(request)) return;
      const message = request.toString('latin1');
      const cut = cutNamed('request', message);
      if (cut !== undefined) {
        server.write(request.subarray(0, cut));
        end();
        return;
      }
      answerLeft = cutNamed('answer', message) ?? answerLeft;
      server.write(request);
      request = Buffer.alloc(0);
      if (answerLeft === 0) end();
    });
    server.on('data', (bytes) => {
      if (bytes.length < answerLeft) {
        answerLeft -= bytes.length;
        client.write(bytes);
        return;
      }
      // Everything before the cut arrives.
      client.end(bytes.subarray(0, answerLeft));
      server.end();
    });
    for (const socket of [client, server]) socket.on('error', () => {});
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    cuts: () => done.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    },
  };
}

function isWhole(request: Buffer): boolean {
  const head = request.indexOf('\r\n\r\n');
  if (head === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(request.subarray(0, head).toString('latin1'))?.[1] ?? '0';
  return request.length >= head + 4 + Number(length);
}
