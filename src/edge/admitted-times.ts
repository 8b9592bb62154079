/**
 * The last admitted times of one caller, as a ring. It keeps every admission that still counts and nothing else: an
 * admission happens only below the limit, so there are never more of them than the limit then in force, and after a
 * downgrade the old ones stay until they have run out, as they must for a plan that goes up again within the minute.
 */
export interface AdmittedTimes {
  /** A plain array of doubles: a third of a small Float64Array's memory, and no buffer of its own for each caller. */
  times: number[];
  /** Where the newest time stands; of no meaning while `count` is 0. */
  newest: number;
  count: number;
}

const smallest = 4;
/** An emptied ring up to this size is kept, so that somebody who calls now and then does not make one each time. */
const worthKeeping = 64;

/** The nth newest time, 1 being the newest. `n` is at most `count`. */
export function nthNewest(ring: AdmittedTimes, n: number): number {
  const index = ring.newest - n + 1;
  return ring.times[index < 0 ? index + ring.times.length : index] as number;
}

/**
 * Forgets what was admitted `windowMs` ago or longer. Each time is forgotten once, so walking up from the oldest costs
 * less over a caller's life than a search would; a caller who comes back after a pause is done in one step.
 */
export function forgetOlder(ring: AdmittedTimes, windowMs: number, nowMs: number): void {
  if (ring.count === 0 || nowMs < nthNewest(ring, ring.count) + windowMs) return;
  if (nowMs >= nthNewest(ring, 1) + windowMs) {
    ring.count = 0;
    if (ring.times.length > worthKeeping) ring.times = [];
    return;
  }
  do ring.count--;
  while (nowMs >= nthNewest(ring, ring.count) + windowMs);
}

/** Adds an admission. `most` is the limit it was admitted under, and so more than `count`. */
export function addTime(ring: AdmittedTimes, most: number, nowMs: number): void {
  const { length } = ring.times;
  if (ring.count === length || length > most) resize(ring, Math.min(most, Math.max(smallest, ring.count * 2)));
  const next = ring.newest + 1;
  ring.newest = next < ring.times.length ? next : 0;
  ring.times[ring.newest] = nowMs;
  ring.count++;
}

/** Empties the ring for another caller. The least ring is handed on with it. */
export function clearTimes(ring: AdmittedTimes): void {
  ring.count = 0;
  if (ring.times.length > smallest) ring.times = [];
}

/** Moves the whole history `stepMs` back. */
export function shiftTimes(ring: AdmittedTimes, stepMs: number): void {
  ring.times = ring.times.map((ms) => ms - stepMs);
}

function resize(ring: AdmittedTimes, capacity: number): void {
  // Filled with a number that is not whole, so that the engine stores doubles in place from the start.
  const times = new Array<number>(capacity).fill(Number.NEGATIVE_INFINITY);
  for (let n = 1; n <= ring.count; n++) times[ring.count - n] = nthNewest(ring, n);
  ring.times = times;
  ring.newest = ring.count - 1;
}
