import type { Clock } from '../../src/platform/clock.ts';

export interface TestClock extends Clock {
  advance(ms: number): void;
  set(ms: number): void;
}

/** A clock that stands still until it is turned. It starts at the real time, so that the database's clock agrees. */
export function createTestClock(startMs = Date.now()): TestClock {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
    set: (ms) => {
      nowMs = ms;
    },
  };
}
