import type { Clock } from '../../src/platform/clock.ts';

export interface TestClock extends Clock {
  /** Lets time pass. */
  advance(ms: number): void;
  /** Sets the wall clock, as an administrator or NTP would; no time passes. */
  set(nowMs: number): void;
}

/** A clock that stands still until it is turned. It starts now, or where CLOCK_START says: just before midnight, for example. */
export function createTestClock(
  startMs = process.env.CLOCK_START ? Date.parse(process.env.CLOCK_START) : Date.now(),
): TestClock {
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

/** The system's clock, which can be turned forward. For tests with peers that have a clock of their own. */
export function createRunningClock(): TestClock {
  let aheadMs = 0;
  return {
    nowMs: () => Date.now() + aheadMs,
    steadyMs: () => performance.now() + aheadMs,
    advance: (ms) => {
      aheadMs += ms;
    },
    set: (ms) => {
      aheadMs = ms - Date.now();
    },
  };
}
