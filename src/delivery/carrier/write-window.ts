// Tests: src/delivery/carrier/rate.test.ts
import type { Clock } from '../../platform/clock.ts';

/** A little more than a second, because parts arrive less evenly than they are sent. */
const windowMs = 1010;
/** A socket usually writes within this time. */
const soonMs = 10;

/** Counts written parts, so that no second has more than the rate allows. */
export function createWriteWindow(clock: Clock) {
  /** The times of the last writes, oldest first from `head`. */
  let times: number[] = [];
  let head = 0;
  let unwritten = 0;
  let closedUntilMs = 0;

  /** Forgets writes that no limit needs. */
  function prune(keptMs: number): void {
    const fromMs = clock.steadyMs() - keptMs;
    while (head < times.length && (times[head] ?? 0) <= fromMs) head++;
    if (head < 1000 && head < times.length) return;
    times = times.slice(head);
    head = 0;
  }

  /** For a rate below one a second the window is longer, and holds one part. */
  const spanOf = (perSecond: number) => (perSecond >= 1 ? windowMs : windowMs / perSecond);
  const mostOf = (perSecond: number) => Math.max(1, Math.floor(perSecond));

  /** When the next part may be written: once enough of the oldest writes have left the window. */
  function roomMs(perSecond: number): number {
    prune(spanOf(perSecond));
    const over = times.length - head + unwritten - mostOf(perSecond);
    if (over < 0) return closedUntilMs;
    const oldest = times[head + over];
    return Math.max(closedUntilMs, (oldest ?? clock.steadyMs() - windowMs + soonMs) + spanOf(perSecond));
  }

  return {
    hasRoom: (perSecond: number): boolean => perSecond > 0 && roomMs(perSecond) <= clock.steadyMs(),
    /** When there may be room (steady time). */
    roomMs,
    /** A part is about to be written. */
    take: (): void => void unwritten++,
    noteWritten(perSecond: number): void {
      unwritten--;
      if (perSecond < Number.POSITIVE_INFINITY) times.push(clock.steadyMs());
    },
    noteUnsent: (): void => void unwritten--,
    /** No room for a second, because the recent writes are unknown. */
    closeForNow(): void {
      closedUntilMs = clock.steadyMs() + windowMs;
    },
  };
}
