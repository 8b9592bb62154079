import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import { bodyLimit } from './body.ts';
import type { ReadAddress } from './caller-address.ts';
import type { Connections } from './connections.ts';
import { payloadTooLarge } from './error-reply.ts';
import { type AnswerData, Exchange } from './exchange.ts';
import { refuseRepeated } from './headers.ts';
import type { Openings } from './openings.ts';
import { closeGentlyAfterAnswer } from './raw-socket.ts';

export interface NodeLaneOptions {
  server: Server;
  clock: Clock;
  connections: Connections;
  addressOf: ReadAddress;
  receive: (exchange: Exchange) => void;
  openings: Openings;
  /** When each connection opened or last finished an answer. */
  informedAtMs: WeakMap<Socket, number>;
}

/** The lane for every request that the plain lane does not take: Node parses it and writes its answer. */
export function createNodeLane(options: NodeLaneOptions): void {
  const { clock, openings, informedAtMs } = options;
  // With the plain lane in front, connections come through `giveToNode` instead, which sets the time itself.
  options.server.on('connection', (socket) => informedAtMs.set(socket, openings.openedAtMs()));
  options.server.on('request', (request, response) => {
    const { socket } = request;
    response.once('finish', () => {
      informedAtMs.set(socket, clock.steadyMs());
      openings.noteAnswers();
    });
    const exchange = new NodeExchange(request, response, options);
    if (options.connections.begin(exchange)) options.receive(exchange);
  });
}

export class NodeExchange extends Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #connections: Connections;
  readonly #addressOf: ReadAddress;

  constructor(request: IncomingMessage, response: ServerResponse, options: NodeLaneOptions) {
    const { clock, connections, addressOf, informedAtMs } = options;
    const message = { method: request.method ?? '', target: request.url ?? '', headers: request.headers };
    super(clock, message, informedAtMs.get(request.socket) ?? Number.NEGATIVE_INFINITY);
    this.request = request;
    this.response = response;
    this.#connections = connections;
    this.#addressOf = addressOf;
  }

  get address(): string {
    return this.#addressOf(this.request.socket, this.headers);
  }

  repeats(name: string): boolean {
    const { rawHeaders } = this.request;
    let count = 0;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const sent = rawHeaders[i];
      if (sent?.length === name.length && sent.toLowerCase() === name) count++;
    }
    return count > 1;
  }

  fault(): ApiError | undefined {
    const { httpVersionMajor, httpVersionMinor, rawHeaders } = this.request;
    // Node parses a request line without a version as HTTP/0.9, whose clients cannot read our answers.
    if (httpVersionMajor !== 1) return new ApiError('INVALID_ARGUMENT', 'This is not a valid HTTP/1.1 request.');
    // Node silently drops headers beyond 1,000.
    if (rawHeaders.length > 2000) return new ApiError('HEADERS_TOO_LARGE', 'The request has more than 1000 headers.');
    if (this.headers.host === undefined && httpVersionMinor === 1) {
      return new ApiError('INVALID_ARGUMENT', 'The header host is missing.', {
        details: [{ field: 'host', message: 'is required' }],
      });
    }
    return refuseRepeated(this, 'host');
  }

  readBody(): Promise<Buffer> {
    this.#connections.askForBody(this.response);
    return readBody(this.request);
  }

  send(status: number, head: string, data: AnswerData): Promise<void> | undefined {
    const { request, response } = this;
    // Let a caller that is still sending its body read the answer.
    if (!request.complete) closeGentlyAfterAnswer(request.socket);
    const headers = pairsOf(head);
    if (!(data instanceof Readable) && status !== 204) headers.push('Content-Length', String(Buffer.byteLength(data)));
    if (this.#connections.endsWith(this)) headers.push('Connection', 'close');
    response.writeHead(status, headers);
    if (data instanceof Readable) {
      response.flushHeaders();
      return new Promise((over) => {
        pipeline(data, response, () => {
          this.#end();
          over();
        });
      });
    }
    response.end(data);
    this.#end();
    return undefined;
  }

  #end(): void {
    const { request, response } = this;
    if (request.complete && response.writableFinished) this.#connections.end(this);
    else response.once('close', () => this.#connections.end(this));
  }

  /** Uses the response's `close`: Node emits the request's as soon as the body is read. */
  onGone(act: () => void): void {
    const { response } = this;
    response.once('close', () => {
      if (!response.writableFinished) act();
    });
    if (response.destroyed) act();
  }
}

/** Names and values alternate: the form that Node writes fastest. */
function pairsOf(head: string): string[] {
  const pairs: string[] = [];
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(': ');
    if (colon !== -1) pairs.push(line.slice(0, colon), line.slice(colon + 2));
  }
  return pairs;
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const fail = (error: ApiError) => {
      request.off('data', take);
      reject(error);
    };
    const take = (piece: Buffer) => {
      length += piece.length;
      if (length > bodyLimit) fail(payloadTooLarge());
      else pieces.push(piece);
    };
    request.on('data', take);
    request.once('end', () => resolve(Buffer.concat(pieces, length)));
    // The caller hung up during the body, or Node could not parse the rest.
    const brokenOff = () => fail(new ApiError('INVALID_ARGUMENT', 'The body ended before it was complete.'));
    request.once('error', brokenOff);
    request.once('close', brokenOff);
  });
}
