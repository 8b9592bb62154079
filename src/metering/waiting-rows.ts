import { marks } from '../platform/text-rows.ts';

const rowMark = marks.row.charCodeAt(0);
const none = Buffer.alloc(0);
const smallest = 512;

/**
 * Text rows that wait to be written, stored one after another in a buffer. Thousands wait for seconds; as strings, the
 * garbage collector would copy each of them between generations.
 */
export class WaitingRows {
  count = 0;
  #buffer = none;
  #length = 0;

  /** Bytes allocated, used or not. */
  get room(): number {
    return this.#buffer.length;
  }

  /** The rows in the format of the statement, separated by row marks. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  add(row: string): void {
    // UTF-8 takes at most three bytes per UTF-16 unit.
    this.#makeRoom(1 + row.length * 3);
    this.#mark();
    this.#length += this.#buffer.write(row, this.#length);
    this.count++;
  }

  addAll(others: WaitingRows): void {
    if (others.count === 0) return;
    this.#makeRoom(1 + others.#length);
    this.#mark();
    this.#length += others.#buffer.copy(this.#buffer, this.#length, 0, others.#length);
    this.count += others.count;
  }

  /** Empties the buffer and keeps its memory. */
  clear(): void {
    this.count = 0;
    this.#length = 0;
  }

  keepNewest(most: number): void {
    if (this.count <= most) return;
    let start = this.#length;
    for (let row = 0; row < most; row++) start = this.#buffer.lastIndexOf(rowMark, start - 1);
    this.#buffer.copyWithin(0, start + 1, this.#length);
    this.#length -= start + 1;
    this.count = most;
  }

  #mark(): void {
    if (this.count > 0) this.#buffer[this.#length++] = rowMark;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    // Most applications send little: Node allocates small buffers from a shared pool.
    const larger = Buffer.allocUnsafe(Math.max(needed, smallest, this.#buffer.length * 4));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
