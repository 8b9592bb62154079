import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../platform/clock.ts';
import type { ReadAddress } from './caller-address.ts';
import { type AnswerData, Exchange } from './exchange.ts';
import type { PlainRequest } from './plain-request.ts';

/** What an exchange needs from its connection. */
export interface PlainCarrier {
  readonly socket: Socket;
  readonly clock: Clock;
  readonly addressOf: ReadAddress;
  /** Whether every answer closes its connection. */
  isEnding(): boolean;
  /** The Date, Connection and Keep-Alive lines. */
  connectionLines(last: boolean): string;
  /** Queues a part of an answer after all earlier output. */
  write(data: string | Buffer, encoding: 'latin1' | 'utf8'): void;
  /** Writes all queued output to the socket. */
  flush(): void;
  /** Ends the answer; `last` closes the connection. */
  end(last: boolean): void;
}

/** A request of the plain lane. It has arrived whole; its answer goes out in one piece, unless it is a stream. */
export class PlainExchange extends Exchange {
  readonly #carrier: PlainCarrier;
  readonly #body: Buffer;
  #whenGone: (() => void) | undefined;
  /** The answer is a stream, which may have no end. */
  isStream = false;

  constructor(carrier: PlainCarrier, request: PlainRequest, informedAtMs: number) {
    super(carrier.clock, request, informedAtMs);
    this.#carrier = carrier;
    this.#body = request.body;
  }

  get address(): string {
    return this.#carrier.addressOf(this.#carrier.socket, this.headers);
  }

  repeats(): boolean {
    return false;
  }

  fault(): undefined {
    return undefined;
  }

  readBody(): Buffer {
    return this.#body;
  }

  send(status: number, head: string, data: AnswerData): Promise<void> | undefined {
    const carrier = this.#carrier;
    const last = carrier.isEnding();
    const start = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}${carrier.connectionLines(last)}`;
    if (data instanceof Readable) return this.#sendStream(start, data, last);
    const length = Buffer.byteLength(data);
    const whole = status === 204 ? `${start}\r\n` : `${start}Content-Length: ${length}\r\n\r\n`;
    if (this.method === 'HEAD' || length === 0) carrier.write(whole, 'latin1');
    // Pure ASCII is copied as latin1, which is faster than UTF-8 encoding.
    else if (typeof data === 'string') carrier.write(whole + data, length === data.length ? 'latin1' : 'utf8');
    else {
      carrier.write(whole, 'latin1');
      carrier.write(data, 'latin1');
    }
    this.#end(last);
    return undefined;
  }

  async #sendStream(start: string, data: Readable, last: boolean): Promise<void> {
    const carrier = this.#carrier;
    this.isStream = true;
    carrier.write(`${start}Transfer-Encoding: chunked\r\n\r\n`, 'latin1');
    carrier.flush();
    // If either side fails, `pipeline` destroys both: a cut answer must not look complete.
    await pipeline(data, inChunks, carrier.socket, { end: false }).catch(() => {});
    this.#end(last || carrier.isEnding());
  }

  #end(last: boolean): void {
    this.#whenGone = undefined;
    this.#carrier.end(last);
  }

  onGone(act: () => void): void {
    if (this.#carrier.socket.destroyed) act();
    else this.#whenGone = act;
  }

  /** Called when the caller disconnects. */
  leave(): void {
    this.#whenGone?.();
    this.#whenGone = undefined;
  }
}

const lineEnd = Buffer.from('\r\n');

/** Chunked transfer coding (RFC 9112, section 7.1). */
async function* inChunks(data: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of data) {
    const bytes = Buffer.from(piece as string);
    if (bytes.length > 0) yield Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, lineEnd]);
  }
  yield Buffer.from('0\r\n\r\n');
}
