// Tests: src/quality/counts.test.ts
import { quantileOf } from './answer-times.ts';

/** Upper bounds of the time from acceptance to the report of the delivery, in ms. A slower one counts in one more bucket. */
export const arrivalBounds = [
  ...[1000, 2000, 3000, 5000, 8000, 13_000, 20_000, 30_000],
  ...[60_000, 120_000, 300_000, 1_800_000],
] as const;
export const arrivalColumns = arrivalBounds.length + 1;

/** The bucket of a time. */
export function arrivalBucketOf(tookMs: number): number {
  const index = arrivalBounds.findIndex((bound) => tookMs <= bound);
  return index < 0 ? arrivalBounds.length : index;
}

/** The bound below which this fraction of the texts arrived; Infinity above the last bound, undefined without texts. */
export function arrivalQuantileOf(counts: readonly number[], share: number): number | undefined {
  return quantileOf(counts, share, arrivalBounds);
}

/** Counts by bucket as Postgres reads an array; null if nothing was counted. */
export function toArrivalArray(counts: Float64Array): string | null {
  return counts.some((count) => count !== 0) ? `{${counts.join()}}` : null;
}

/** SQL: the sums of an array column by bucket. */
export function sumOfArrivals(column: string): string {
  return `array[${each((bucket) => `coalesce(sum(${column}[${bucket}]), 0)`)}]::integer[]`;
}

/** SQL: the sum of two arrays by bucket. Either may be null; the sum is null if both are. */
export function addedArrivals(a: string, b: string): string {
  const added = each((bucket) => `coalesce(${a}[${bucket}], 0) + coalesce(${b}[${bucket}], 0)`);
  return `case when ${a} is null then ${b} when ${b} is null then ${a} else array[${added}] end`;
}

function each(of: (bucket: number) => string): string {
  return Array.from({ length: arrivalColumns }, (_, index) => of(index + 1)).join(', ');
}
