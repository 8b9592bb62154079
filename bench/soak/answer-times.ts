/** Counts of times by size, an eighth of a power of two wide: a reading is right to 9 %, and the counts never grow. */
export interface AnswerTimes {
  add(ms: number): void;
  addAll(other: AnswerTimes): void;
  readonly count: number;
  readonly slowestMs: number;
  /** So large were this part of all times at most: 0.5 is the median. */
  at(part: number): number;
  counts: readonly number[];
}

const perDoubling = 8;
/** The first bucket ends here; the last one holds all beyond four minutes. */
const leastMs = 0.25;
const buckets = 20 * perDoubling;

export function createAnswerTimes(): AnswerTimes {
  const counts = new Array<number>(buckets).fill(0);
  let count = 0;
  let slowestMs = 0;
  return {
    counts,
    get count() {
      return count;
    },
    get slowestMs() {
      return slowestMs;
    },
    add(ms) {
      const index = Math.ceil(Math.log2(Math.max(ms, leastMs) / leastMs) * perDoubling);
      const bucket = Math.min(buckets - 1, index);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      count++;
      slowestMs = Math.max(slowestMs, ms);
    },
    addAll(other) {
      for (const [bucket, more] of other.counts.entries()) counts[bucket] = (counts[bucket] ?? 0) + more;
      count += other.count;
      slowestMs = Math.max(slowestMs, other.slowestMs);
    },
    at(part) {
      let left = Math.ceil(count * part);
      for (const [bucket, own] of counts.entries()) {
        left -= own;
        if (left <= 0 && own > 0) return Math.min(slowestMs, leastMs * 2 ** (bucket / perDoubling));
      }
      return 0;
    },
  };
}
