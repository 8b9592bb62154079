/** A reading of something that is watched. */
export interface Point {
  atMs: number;
  value: number;
}

export interface Trend {
  /** The middle of all slices. */
  level: number;
  /** By the slope, over the whole span. */
  grown: number;
  perHour: number;
  /** How far slices lie from the line, in the middle: what the slope is compared with. */
  noise: number;
  /** Whether chance alone would hardly rise like this (one in a hundred). */
  isRising: boolean;
}

/** `low`: garbage comes and goes on top of what is held, so only the lowest reading of a slice says what is held. */
export type Reading = 'low' | 'middle';

const mostSlices = 24;
const leastPerSlice = 3;
const hourMs = 3_600_000;
/** One-sided, one in a hundred. */
const sureAt = 2.33;

/**
 * The readings are cut into slices of equal length, and each slice gives one value. The slope is the median of the slopes
 * of all pairs (Theil and Sen), which a few wild readings do not bend. Mann and Kendall's test says whether it rises.
 */
export function trendOf(points: Point[], reading: Reading): Trend {
  const slices = sliceValues(points, reading);
  const slope = medianOf(pairsOf(slices).map(([one, other]) => (other.value - one.value) / (other.atMs - one.atMs)));
  const level = medianOf(slices.map(({ value }) => value));
  const middleMs = medianOf(slices.map(({ atMs }) => atMs));
  const offset = medianOf(slices.map(({ atMs, value }) => value - slope * (atMs - middleMs)));
  const noise = medianOf(slices.map(({ atMs, value }) => Math.abs(value - offset - slope * (atMs - middleMs))));
  const spanMs = (points.at(-1)?.atMs ?? 0) - (points[0]?.atMs ?? 0);
  return { level, grown: slope * spanMs, perHour: slope * hourMs, noise, isRising: risesSurely(slices) };
}

function sliceValues(points: Point[], reading: Reading): Point[] {
  const count = Math.max(1, Math.min(mostSlices, Math.floor(points.length / leastPerSlice)));
  const size = points.length / count;
  return Array.from({ length: count }, (_, index) => {
    const own = points.slice(Math.round(index * size), Math.round((index + 1) * size));
    const values = own.map(({ value }) => value);
    return {
      atMs: medianOf(own.map(({ atMs }) => atMs)),
      value: reading === 'low' ? Math.min(...values) : medianOf(values),
    };
  }).filter(({ value }) => Number.isFinite(value));
}

/** Counts pairs that rise against pairs that fall. Equal pairs count for nothing, and make the test more careful. */
function risesSurely(slices: Point[]): boolean {
  const count = slices.length;
  const score = pairsOf(slices).reduce((sum, [one, other]) => sum + Math.sign(other.value - one.value), 0);
  const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  return deviation > 0 && (score - 1) / deviation > sureAt;
}

function pairsOf(points: Point[]): [Point, Point][] {
  return points.flatMap((one, index) => points.slice(index + 1).map((other): [Point, Point] => [one, other]));
}

export function medianOf(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const [low = 0, high = low] =
    sorted.length % 2 === 0 ? sorted.slice(half - 1, half + 1) : sorted.slice(half, half + 1);
  return (low + high) / 2;
}
