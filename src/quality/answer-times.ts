/** Upper bounds of the times that answers to submits take, in ms. A slower one counts in one more bucket. */
export const answerBounds = [50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

/** The bucket of a time. */
export function bucketOf(tookMs: number): number {
  const place = answerBounds.findIndex((bound) => tookMs <= bound);
  return place < 0 ? answerBounds.length : place;
}

/** The bound below which this share of the answers lies; Infinity if it lies above the last one, undefined if there are none. */
export function quantileOf(counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let below = 0;
  for (const [place, count] of counts.entries()) {
    below += count;
    if (below >= total * share) return answerBounds[place] ?? Number.POSITIVE_INFINITY;
  }
  return Number.POSITIVE_INFINITY;
}
