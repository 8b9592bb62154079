import { longestSpan, writeSpan } from './otlp.ts';
import { ProtoWriter } from './proto-writer.ts';
import type { EndedSpan } from './span.ts';

/** The encoded spans of one export request, and their number. */
export interface SpanBatch {
  bytes: Buffer;
  spans: number;
}

export interface SpanQueue {
  /** Returns how many spans it dropped to make room. */
  add(span: EndedSpan, aheadMs: number): number;
  /** Whether a whole batch waits. */
  readonly isFull: boolean;
  readonly hasSpans: boolean;
  /** Removes and returns the oldest batch, full or not. */
  take(): SpanBatch | undefined;
  /** Puts a batch back to the front. Returns how many spans it dropped. */
  putBack(batch: SpanBatch): number;
  drop(): number;
}

const batchBytes = 256 * 1024;
/** Maximum number of full batches, 8 MiB in all: a further one drops the oldest. */
const mostBatches = 32;

/** Ended spans in memory, of bounded size. Without spans it holds no buffer. */
export function createSpanQueue(): SpanQueue {
  let full: SpanBatch[] = [];
  let writer: ProtoWriter | undefined;
  let spans = 0;

  function close(): void {
    if (writer === undefined || spans === 0) return;
    // A copy, so that a small batch does not hold a large buffer.
    full.push({ bytes: Buffer.from(writer.bytes.subarray(0, writer.at)), spans });
    writer.at = 0;
    spans = 0;
  }

  function makeRoom(): number {
    return full.length > mostBatches ? (full.shift()?.spans ?? 0) : 0;
  }

  return {
    add(span, aheadMs) {
      writer ??= new ProtoWriter(batchBytes);
      writeSpan(writer, span, aheadMs);
      spans++;
      if (writer.at < batchBytes - longestSpan) return 0;
      close();
      return makeRoom();
    },
    get isFull() {
      return full.length > 0;
    },
    get hasSpans() {
      return spans > 0 || full.length > 0;
    },
    take() {
      if (full.length === 0) {
        close();
        writer = undefined;
      }
      return full.shift();
    },
    putBack(batch) {
      full.unshift(batch);
      return makeRoom();
    },
    drop() {
      close();
      const dropped = full.reduce((sum, batch) => sum + batch.spans, 0);
      full = [];
      writer = undefined;
      return dropped;
    },
  };
}
