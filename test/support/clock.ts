import type { Clock } from '../../src/platform/clock.ts';

export interface TestClock extends Clock {
  /** Lets time pass. */
  advance(ms: number): void;
  /** Sets the wall clock, as an administrator or NTP would; no time passes. */
  set(nowMs: number): void;
}

/** A clock that stands still until it is turned. It starts at the real time, so that the database's clock agrees. */
export function createTestClock(startMs = Date.now()): TestClock {
  let nowMs = startMs;
  let steadyMs = 1_000_000;
  return {
    nowMs: () => nowMs,
    steadyMs: () => steadyMs,
    advance: (ms) => {
      nowMs += ms;
      steadyMs += ms;
    },
    set: (ms) => {
      nowMs = ms;
    },
  };
}
