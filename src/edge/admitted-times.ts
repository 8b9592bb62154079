/**
 * A ring of one caller's admitted times that still count: never more than the limit in force when they were admitted.
 * After a downgrade the old times stay until they expire, because the plan may go up again within the minute.
 */
export interface AdmittedTimes {
  /** A plain array of doubles takes a third of a small Float64Array's memory, and needs no buffer per caller. */
  times: number[];
  /** Index of the newest time; meaningless while `count` is 0. */
  newest: number;
  count: number;
}

const smallest = 4;
/** Keep an empty ring up to this size, so that an occasional caller does not allocate one each time. */
const worthKeeping = 64;

/** Returns the nth newest time; 1 is the newest. `n` is at most `count`. */
export function nthNewest(ring: AdmittedTimes, n: number): number {
  const index = ring.newest - n + 1;
  return ring.times[index < 0 ? index + ring.times.length : index] as number;
}

/**
 * Drops times admitted `windowMs` ago or earlier. Each time is dropped once, so a walk from the oldest costs less in
 * total than a search. A caller that returns after a pause takes one step.
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

/** Adds an admission. `most` is the limit in force, so `count` is below it. */
export function addTime(ring: AdmittedTimes, most: number, nowMs: number): void {
  const { length } = ring.times;
  if (ring.count === length || length > most) resize(ring, Math.min(most, Math.max(smallest, ring.count * 2)));
  const next = ring.newest + 1;
  ring.newest = next < ring.times.length ? next : 0;
  ring.times[ring.newest] = nowMs;
  ring.count++;
}

/** Removes one admission at exactly this time; false if there is none. Newer times move up: a give-back is rare. */
export function removeTime(ring: AdmittedTimes, atMs: number): boolean {
  let [low, high] = [1, ring.count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (nthNewest(ring, middle) > atMs) low = middle + 1;
    else high = middle;
  }
  if (ring.count === 0 || nthNewest(ring, low) !== atMs) return false;
  const { length } = ring.times;
  for (let n = low; n > 1; n--) ring.times[(ring.newest - n + 1 + length) % length] = nthNewest(ring, n - 1);
  ring.newest = (ring.newest - 1 + length) % length;
  ring.count--;
  return true;
}

/** Empties the ring for another caller, which reuses a ring of the smallest size. */
export function clearTimes(ring: AdmittedTimes): void {
  ring.count = 0;
  if (ring.times.length > smallest) ring.times = [];
}

export function shiftTimes(ring: AdmittedTimes, stepMs: number): void {
  ring.times = ring.times.map((ms) => ms - stepMs);
}

function resize(ring: AdmittedTimes, capacity: number): void {
  // Fill with a non-integer, so that V8 stores unboxed doubles from the start.
  const times = new Array<number>(capacity).fill(Number.NEGATIVE_INFINITY);
  for (let n = 1; n <= ring.count; n++) times[ring.count - n] = nthNewest(ring, n);
  ring.times = times;
  ring.newest = ring.count - 1;
}
