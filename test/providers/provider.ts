import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request as a double got it. */
export interface GotRequest {
  method: string;
  /** With its query. */
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface DoubleAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** What a double does instead of answering: `silent` never does, `broken` ends the connection in the middle. */
export type Fault = 'silent' | 'broken' | 'reset' | DoubleAnswer;

export interface Double {
  url: string;
  requests: GotRequest[];
  /** Connections that were opened. */
  readonly connections: number;
  /** The next requests get these instead of the provider's answer, one each. */
  faults: Fault[];
  /** Every request gets this until it is undefined. */
  always: Fault | undefined;
  close(): Promise<void>;
}

/** A server on loopback that answers as a provider would. */
export async function startDouble(answer: (request: GotRequest) => Fault, port = 0): Promise<Double> {
  const requests: GotRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const double: Double = {
    url: '',
    requests,
    faults: [],
    always: undefined,
    get connections() {
      return connections;
    },
    close: () =>
      new Promise((done) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => done());
      }),
  };

  const server = createServer(async (incoming, response) => {
    const request = await read(incoming);
    requests.push(request);
    reply(response, double.faults.shift() ?? double.always ?? answer(request));
  });
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const address = server.address();
  const used = typeof address === 'object' && address !== null ? address.port : 0;
  double.url = `http://127.0.0.1:${used}`;
  return double;
}

async function read(incoming: IncomingMessage): Promise<GotRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const { method = '', url: path = '', headers } = incoming;
  return { method, path, headers, body: Buffer.concat(pieces).toString('utf8') };
}

function reply(response: ServerResponse, fault: Fault): void {
  if (fault === 'silent') return;
  if (fault === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (fault === 'broken') {
    response.writeHead(200, { 'Content-Length': '1000' });
    response.write('{"half');
    setTimeout(() => response.socket?.destroy(), 5);
    return;
  }
  const { status, headers = {}, body } = fault;
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(text);
}
