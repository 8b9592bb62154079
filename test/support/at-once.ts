import { connect, type Socket } from 'node:net';

export interface AskedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Sent as JSON, or as a form. */
  body?: unknown;
}

/** Sends all requests at the same moment, each on a connection of its own. A request that gets no answer in time is a 0. */
export async function sendAtOnce(url: string, requests: AskedRequest[], withinMs: number): Promise<number[]> {
  const { port } = new URL(url);
  const sockets = await openAll(Number(port), requests.length);
  try {
    return await Promise.all(
      sockets.map((socket, index) => exchange(socket, requests[index] as AskedRequest, withinMs)),
    );
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** At most this many at a time: a listener's backlog is shorter than a burst. */
const openedTogether = 200;

async function openAll(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = Math.min(openedTogether, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: some }, () => open(port)))));
  }
  return sockets;
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Resolves with the status once the head is there: a stream's answer has no end. */
function exchange(socket: Socket, { method, path, headers, body }: AskedRequest, withinMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => resolve(0), withinMs);
    let received = '';
    socket.setEncoding('latin1');
    socket.on('error', reject);
    socket.on('data', (piece: string) => {
      received += piece;
      if (!received.includes('\r\n\r\n')) return;
      clearTimeout(late);
      resolve(Number(received.slice(9, 12)));
    });
    const isForm = body instanceof URLSearchParams;
    const text = body === undefined ? '' : isForm ? body.toString() : JSON.stringify(body);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    if (body !== undefined) lines.push(`Content-Type: application/${isForm ? 'x-www-form-urlencoded' : 'json'}\r\n`);
    if (method !== 'GET') lines.push(`Content-Length: ${Buffer.byteLength(text)}\r\n`);
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: test\r\n${lines.join('')}\r\n${text}`);
  });
}
