/** Reads lines and tables from blocks of bytes. It holds a block and the line that it reads, never a table. */
export interface ByteReader {
  /** Undefined if the bytes end before the line does, or it is longer. */
  readLine(longest: number): Promise<Buffer | undefined>;
  /** The rows up to the end of the table. Throws `CutOff` if the bytes end before it. */
  readTable(): AsyncGenerator<Buffer>;
  isAtEnd(): Promise<boolean>;
}

export class CutOff extends Error {}

const newLine = 0x0a;
const mark = Buffer.from('\\.\n');
const markAfterRow = Buffer.from('\n\\.\n');

export function createByteReader(blocks: AsyncIterable<Buffer>): ByteReader {
  const source = blocks[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  /** False at the end of the bytes. */
  async function more(): Promise<boolean> {
    const { done, value } = await source.next();
    if (done) return false;
    held = held.length === 0 ? value : Buffer.concat([held, value]);
    return true;
  }

  function take(bytes: number): Buffer {
    const taken = held.subarray(0, bytes);
    held = held.subarray(bytes);
    return taken;
  }

  /** Index of the end mark, which has a line of its own; -1 if it is not in the held bytes. */
  function findMark(atLineStart: boolean): number {
    if (atLineStart && held.subarray(0, mark.length).equals(mark)) return 0;
    const at = held.indexOf(markAfterRow);
    return at < 0 ? -1 : at + 1;
  }

  return {
    async readLine(longest) {
      for (;;) {
        const end = held.indexOf(newLine);
        if (end >= 0) return end < longest ? take(end + 1) : undefined;
        if (held.length > longest || !(await more())) return undefined;
      }
    },

    async *readTable() {
      for (let atLineStart = true; ; ) {
        const end = findMark(atLineStart);
        if (end >= 0) {
          if (end > 0) yield take(end);
          take(mark.length);
          return;
        }
        // The last bytes may be the beginning of the mark.
        const sure = held.length - markAfterRow.length + 1;
        if (sure > 0) {
          const rows = take(sure);
          atLineStart = rows.at(-1) === newLine;
          yield rows;
        }
        if (!(await more())) throw new CutOff();
      }
    },

    isAtEnd: async () => held.length === 0 && !(await more()),
  };
}
