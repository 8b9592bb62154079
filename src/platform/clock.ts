/** The one source of time. Everything that decides by time takes a clock, so a test can turn it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** RFC 3339 in UTC with milliseconds, as every time in the contract is written. */
export function toTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}
