import { type Duplex, Readable, Writable } from 'node:stream';

/** The part of pg's connection that we use. pg calls the `handle…` methods of the statement that runs. */
interface Connection {
  stream: Duplex;
  query(text: string): void;
}

/** Adds the methods for sending rows to Postgres, which pg's types leave out. */
interface CopyConnection extends Connection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Rows arrive one by one. They leave in blocks of this size. */
const blockBytes = 65_536;

/** The rows of a `copy … to stdout`. It reads no faster from Postgres than its reader takes them. */
export class CopyOut extends Readable {
  /** How many rows Postgres has written; known at the end. */
  rows = 0;
  readonly #text: string;
  #connection: Connection | undefined;
  #block = Buffer.allocUnsafe(blockBytes);
  #filled = 0;

  constructor(text: string) {
    super({ highWaterMark: 4 * blockBytes });
    this.#text = text;
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.query(this.#text);
  }

  override _read(): void {
    this.#connection?.stream.resume();
  }

  /** The bytes are copied: pg reads the next ones into the same memory. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (this.#filled + chunk.length > blockBytes) this.#flush();
    if (chunk.length > blockBytes) this.#give(Buffer.from(chunk));
    else this.#filled += chunk.copy(this.#block, this.#filled);
  }

  #flush(): void {
    if (this.#filled === 0) return;
    this.#give(this.#block.subarray(0, this.#filled));
    this.#block = Buffer.allocUnsafe(blockBytes);
    this.#filled = 0;
  }

  #give(bytes: Buffer): void {
    if (!this.push(bytes)) this.#connection?.stream.pause();
  }

  handleCommandComplete({ text }: { text: string }): void {
    // Such as `COPY 12`.
    this.rows = Number(text.slice(text.lastIndexOf(' ') + 1)) || 0;
  }

  handleReadyForQuery(): void {
    this.#flush();
    this.push(null);
  }

  handleError(error: Error): void {
    this.destroy(error);
  }
}

/** The rows of a `copy … from stdin`. It finishes when Postgres has taken all of them. */
export class CopyIn extends Writable {
  readonly #text: string;
  /** Known as soon as Postgres is ready for rows. */
  #connection: CopyConnection | undefined;
  /** Starts to send the rows that wait. */
  #begin: ((connection: CopyConnection) => void) | undefined;
  #finished: (() => void) | undefined;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  submit(connection: Connection): void {
    connection.query(this.#text);
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#whenReady((connection) => {
      connection.sendCopyFromChunk(chunk);
      if (connection.stream.writableNeedDrain) connection.stream.once('drain', done);
      else done();
    });
  }

  override _final(done: () => void): void {
    this.#finished = done;
    this.#whenReady((connection) => connection.endCopyFrom());
  }

  #whenReady(act: (connection: CopyConnection) => void): void {
    if (this.#connection === undefined) this.#begin = act;
    else act(this.#connection);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#connection = connection;
    this.#begin?.(connection);
    this.#begin = undefined;
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#finished?.();
  }

  handleError(error: Error): void {
    this.destroy(error);
  }
}
