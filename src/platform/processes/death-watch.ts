import type { Clock } from '../clock.ts';

const most = 5;
const withinMs = 10_000;

/** Counts processes that ended: a few are replaced, but a start that always fails must not be repeated for ever. */
export function createDeathWatch(clock: Clock): { isOneTooMany(): boolean } {
  let recentMs: number[] = [];
  return {
    /** Notes a death now. True if it is the fifth within ten seconds. */
    isOneTooMany() {
      const nowMs = clock.steadyMs();
      recentMs = [...recentMs.filter((atMs) => nowMs - atMs < withinMs), nowMs];
      return recentMs.length >= most;
    },
  };
}
