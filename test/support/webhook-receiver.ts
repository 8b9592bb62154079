import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { EmittedEvent } from '../../src/events/event.ts';

export interface ReceivedCall {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  event: EmittedEvent;
  /** By the receiver's own clock. */
  atMs: number;
}

export type Respond = (call: ReceivedCall, response: ServerResponse, request: IncomingMessage) => void;

/** An endpoint of a developer on loopback. It keeps every call, and answers as the test wants. */
export interface WebhookReceiver {
  url: string;
  port: number;
  calls: ReceivedCall[];
  respond: Respond;
  /** Calls whose answer is still to come. */
  readonly open: number;
  readonly mostOpen: number;
  /** Ends every connection, without an answer. */
  breakOff(): void;
  close(): Promise<void>;
}

export const ok: Respond = (_, response) => void response.writeHead(200).end('{}');
export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Respond =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);

export const lateAnswer: Respond = (_, response) => {
  setTimeout(() => response.writeHead(200).end(), 50);
};

/**
 * Takes most events at once, and some badly when they come first: with an error, without an answer, late, or twice. At
 * most this many stall until the caller gives up.
 */
export function createHostileAnswers(stalls: number): Respond {
  const seen = new Set<string>();
  let stalled = 0;
  return (call, response, request) => {
    const isFirst = !seen.has(call.event.id);
    seen.add(call.event.id);
    const turn = seen.size % 40;
    if (isFirst && stalled < stalls && turn === 1) {
      stalled++;
    } else if (isFirst && turn === 2) response.writeHead(500).end('not now');
    else if (isFirst && turn === 3) request.socket.destroy();
    else if (turn === 4) lateAnswer(call, response, request);
    else if (turn === 5) request.socket.write(twice);
    else response.writeHead(204).end();
  };
}

const twice = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'.repeat(2);

export async function createWebhookReceiver(respond: Respond = ok): Promise<WebhookReceiver> {
  let open = 0;
  let mostOpen = 0;
  const server = createServer((request, response) => {
    open++;
    mostOpen = Math.max(mostOpen, open);
    response.on('close', () => {
      open--;
    });
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString('utf8');
      const event = JSON.parse(body) as EmittedEvent;
      const call = { path: request.url ?? '', headers: request.headers, body, event, atMs: performance.now() };
      receiver.calls.push(call);
      receiver.respond(call, response, request);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    calls: [],
    respond,
    get open() {
      return open;
    },
    get mostOpen() {
      return mostOpen;
    },
    breakOff: () => server.closeAllConnections(),
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
  return receiver;
}

/** As a receiver would verify a call, by an implementation that is not ours. */
export function verifies(secret: string, { body, headers }: ReceivedCall): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
