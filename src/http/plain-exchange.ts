import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../platform/clock.ts';
import type { ApiError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { ReadAddress } from './caller-address.ts';
import type { AnswerData, Exchange } from './exchange.ts';
import type { Admission } from './gate.ts';
import type { MountedRoute } from './mount.ts';
import type { PlainRequest } from './plain-request.ts';
import { pathOf } from './route-table.ts';

/** What the exchanges of the plain lane share. */
export interface PlainSurroundings {
  clock: Clock;
  addressOf: ReadAddress;
  /** Whether every answer is the last on its connection. */
  isEnding: () => boolean;
  /** The header lines of an answer that say when it was given and what becomes of the connection. */
  connectionLines: (last: boolean) => string;
}

/** A request of the plain lane: it is here as a whole, and its answer goes out in one piece. */
export class PlainExchange implements Exchange {
  readonly correlationId: string;
  readonly startedMs: number;
  readonly method: string;
  readonly target: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  route: MountedRoute | undefined;
  params: Record<string, string> = {};
  admission: Admission | undefined;
  refusal: ApiError | undefined;
  status = 0;
  readonly #socket: Socket;
  readonly #body: Buffer;
  readonly #around: PlainSurroundings;
  readonly #onAnswered: (last: boolean) => void;
  #whenGone: (() => void) | undefined;

  constructor(
    socket: Socket,
    request: PlainRequest,
    around: PlainSurroundings,
    /** Told when all of the answer is on its way, and whether the connection ends with it. */
    onAnswered: (last: boolean) => void,
  ) {
    this.correlationId = newId('req', around.clock);
    this.startedMs = around.clock.steadyMs();
    this.method = request.method;
    this.target = request.target;
    this.path = pathOf(request.target);
    this.headers = request.headers;
    this.#socket = socket;
    this.#body = request.body;
    this.#around = around;
    this.#onAnswered = onAnswered;
  }

  get address(): string {
    return this.#around.addressOf(this.#socket, this.headers);
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
    const last = this.#around.isEnding();
    const start = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}${this.#around.connectionLines(last)}`;
    if (data instanceof Readable) return this.#sendStream(start, data, last);
    const socket = this.#socket;
    if (this.method === 'HEAD' || data.length === 0) socket.write(`${start}\r\n`, 'latin1');
    else if (typeof data === 'string') socket.write(`${start}\r\n${data}`, 'utf8');
    else socket.write(Buffer.concat([Buffer.from(`${start}\r\n`, 'latin1'), data]));
    this.#end(last);
    return undefined;
  }

  async #sendStream(start: string, data: Readable, last: boolean): Promise<void> {
    this.#socket.write(`${start}Transfer-Encoding: chunked\r\n\r\n`, 'latin1');
    // When either side breaks off, both are destroyed: an answer that is cut short must not look complete.
    await pipeline(data, inChunks, this.#socket, { end: false }).catch(() => {});
    this.#end(last);
  }

  #end(last: boolean): void {
    this.#whenGone = undefined;
    this.#onAnswered(last);
  }

  onGone(act: () => void): void {
    if (this.#socket.destroyed) act();
    else this.#whenGone = act;
  }

  /** The caller has gone. */
  leave(): void {
    this.#whenGone?.();
    this.#whenGone = undefined;
  }
}

const lineEnd = Buffer.from('\r\n');

/** RFC 9112, section 7.1. */
async function* inChunks(data: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of data) {
    const bytes = Buffer.from(piece as string);
    if (bytes.length > 0) yield Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, lineEnd]);
  }
  yield Buffer.from('0\r\n\r\n');
}
