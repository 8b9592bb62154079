import type { Clock } from '../../platform/clock.ts';

/** Counts what is written, so that no second has more than is allowed. */
export interface WriteWindow {
  hasRoom(perSecond: number): boolean;
  /** When there may be room (steady time). */
  roomMs(perSecond: number): number;
  /** One is about to be written. */
  take(): void;
  noteWritten(perSecond: number): void;
  noteUnsent(): void;
  /** No room for a second: what was written lately is not known. */
  closeForNow(): void;
}

/** A little more than a second: what leaves evenly arrives less evenly. */
const windowMs = 1010;
/** A socket takes what it is given within this time, as a rule. */
const soonMs = 10;

export function createWriteWindow(clock: Clock): WriteWindow {
  /** When the last ones were written, the oldest first from `head`. */
  let times: number[] = [];
  let head = 0;
  let unwritten = 0;
  let closedUntilMs = 0;

  /** Forgets what no limit asks about any more. */
  function prune(keptMs: number): void {
    const fromMs = clock.steadyMs() - keptMs;
    while (head < times.length && (times[head] ?? 0) <= fromMs) head++;
    if (head < 1000 && head < times.length) return;
    times = times.slice(head);
    head = 0;
  }

  /** Of a rate below one a second the window is longer, and holds one. */
  const spanOf = (perSecond: number) => (perSecond >= 1 ? windowMs : windowMs / perSecond);
  const mostOf = (perSecond: number) => Math.max(1, Math.floor(perSecond));

  /** When the last but so many must have been written for another one to be allowed. */
  function roomMs(perSecond: number): number {
    prune(spanOf(perSecond));
    const over = times.length - head + unwritten - mostOf(perSecond);
    if (over < 0) return closedUntilMs;
    const oldest = times[head + over];
    return Math.max(closedUntilMs, (oldest ?? clock.steadyMs() - windowMs + soonMs) + spanOf(perSecond));
  }

  return {
    hasRoom: (perSecond) => perSecond > 0 && roomMs(perSecond) <= clock.steadyMs(),
    roomMs,
    take: () => void unwritten++,
    noteWritten(perSecond) {
      unwritten--;
      if (perSecond < Number.POSITIVE_INFINITY) times.push(clock.steadyMs());
    },
    noteUnsent: () => void unwritten--,
    closeForNow() {
      closedUntilMs = clock.steadyMs() + windowMs;
    },
  };
}
