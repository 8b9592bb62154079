import { performance } from 'node:perf_hooks';

/** The one source of time. Everything that decides by time takes a clock, so a test can turn it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds since some moment; never jumps when the machine's clock is set. For durations within one process. */
  steadyMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now(), steadyMs: () => performance.now() };

/** RFC 3339 in UTC with milliseconds, as every time in the contract is written. */
export function toTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}
