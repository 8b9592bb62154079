// Tests: src/quality/counts.test.ts
/** Upper bounds of the times that answers to submits take, in ms. A slower one counts in one more bucket. */
export const answerBounds = [50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

/** The bucket of a time. */
export function bucketOf(tookMs: number): number {
  const index = answerBounds.findIndex((bound) => tookMs <= bound);
  return index < 0 ? answerBounds.length : index;
}

/** The bound below which this fraction of the answers lies; Infinity above the last bound, undefined without answers. */
export function quantileOf(
  counts: readonly number[],
  share: number,
  bounds: readonly number[] = answerBounds,
): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    below += count;
    if (below >= total * share) return bounds[index] ?? Number.POSITIVE_INFINITY;
  }
  return Number.POSITIVE_INFINITY;
}
