import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../platform/clock.ts';
import { ApiError } from '../../platform/errors.ts';
import type { OwnedText } from '../../platform/owned-text.ts';
import type { ReadAddress } from '../caller-address.ts';
import { closeGentlyAfterAnswer } from '../close-gently.ts';
import type { HeldAnswer } from '../end-of-turn.ts';
import { payloadTooLarge } from '../error-reply.ts';
import { type AnswerData, Exchange } from '../exchange.ts';
import type { Head, HeadWriter } from '../head.ts';
import { bodyLimit } from '../request/body.ts';
import { refuseRepeated } from '../request/headers.ts';
import type { Connections } from './connections.ts';

export interface NodeExchangeOptions {
  clock: Clock;
  heads: HeadWriter;
  addressOf: ReadAddress;
  connections: Connections;
  /** Writes an answer at the end of the turn. */
  atEndOfTurn: (answer: HeldAnswer) => void;
}

/** A request that Node parsed. */
export class NodeExchange extends Exchange implements HeldAnswer {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #options: NodeExchangeOptions;
  #held: { head: Head; data: string | Buffer } | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, informedAtMs: number, options: NodeExchangeOptions) {
    const { method = '', url: target = '', headers } = request;
    super(options.clock, { method, target, headers }, informedAtMs);
    this.request = request;
    this.response = response;
    this.#options = options;
  }

  get address(): OwnedText {
    return this.#options.addressOf(this.request.socket, this.headers);
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
    this.#options.connections.askForBody(this.response);
    return readBody(this.request, this.route?.longestBody ?? bodyLimit);
  }

  send(head: Head, data: AnswerData): Promise<void> | undefined {
    if (data instanceof Readable) return this.#sendStream(head, data);
    this.#held = { head, data };
    this.#options.atEndOfTurn(this);
    return undefined;
  }

  /** Writes the answer that was held back until the end of the turn. */
  flush(): void {
    if (this.#held === undefined) return;
    const { head, data } = this.#held;
    this.#held = undefined;
    this.#start(head, Buffer.byteLength(data));
    this.response.end(data);
    this.#end();
  }

  async #sendStream(head: Head, data: Readable): Promise<void> {
    const { socket } = this.request;
    this.#start(head, undefined);
    this.response.flushHeaders();
    // A caller that ended its side gets a whole answer, but no endless one.
    const stop = () => socket.destroy();
    if (socket.readableEnded) stop();
    else socket.once('end', stop);
    await pipeline(data, this.response).catch(() => {});
    // Node 24 refuses a caller that is gone already, and leaves the data as it is.
    data.destroy();
    socket.off('end', stop);
    this.#end();
  }

  #start(head: Head, length: number | undefined): void {
    const { request, response } = this;
    // Let a caller that is still sending its body read the answer.
    if (!request.complete) closeGentlyAfterAnswer(request.socket);
    const last = this.#options.connections.endsWith(this);
    response.writeHead(head.status, this.#options.heads.forNode(head, { length, last }));
  }

  #end(): void {
    const { request, response } = this;
    const { connections } = this.#options;
    if (request.complete && response.writableFinished) connections.end(this);
    else response.once('close', () => connections.end(this));
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

function readBody(request: IncomingMessage, mostBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const fail = (error: ApiError) => {
      request.off('data', take);
      reject(error);
    };
    const take = (piece: Buffer) => {
      length += piece.length;
      if (length > mostBytes) fail(payloadTooLarge(mostBytes));
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
