import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../platform/clock.ts';
import type { OwnedText } from '../../platform/owned-text.ts';
import type { ReadAddress } from '../caller-address.ts';
import { type AnswerData, Exchange } from '../exchange.ts';
import type { Head, HeadWriter } from '../head.ts';
import type { PlainRequest } from './request.ts';

/** What an exchange needs from its connection. */
export interface PlainCarrier {
  readonly socket: Socket;
  readonly clock: Clock;
  readonly addressOf: ReadAddress;
  readonly heads: HeadWriter;
  /** Whether every answer closes its connection. */
  isEnding(): boolean;
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

  get address(): OwnedText {
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

  send(head: Head, data: AnswerData): Promise<void> | undefined {
    const carrier = this.#carrier;
    const last = carrier.isEnding();
    if (data instanceof Readable) return this.#sendStream(head, data, last);
    const length = Buffer.byteLength(data);
    const text = carrier.heads.forSocket(head, { length, last });
    if (this.method === 'HEAD' || length === 0) carrier.write(text, 'latin1');
    // Pure ASCII is copied as latin1, which is faster than UTF-8 encoding.
    else if (typeof data === 'string') carrier.write(text + data, length === data.length ? 'latin1' : 'utf8');
    else {
      carrier.write(text, 'latin1');
      carrier.write(data, 'latin1');
    }
    this.#end(last);
    return undefined;
  }

  async #sendStream(head: Head, data: Readable, last: boolean): Promise<void> {
    const carrier = this.#carrier;
    this.isStream = true;
    carrier.write(carrier.heads.forSocket(head, { length: undefined, last }), 'latin1');
    carrier.flush();
    // If either side fails, `pipeline` destroys both: a cut answer must not look complete.
    await pipeline(data, inChunks, carrier.socket, { end: false }).catch(() => {});
    // Node 24 refuses a caller that is gone already, and leaves the data as it is.
    data.destroy();
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
