import { hourMs, minuteMs } from '../platform/clock.ts';

/** The wait before each attempt, counted from the end of the one before. */
export const attemptWaitsMs = [
  0,
  5000,
  30_000,
  2 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  6 * hourMs,
  12 * hourMs,
  24 * hourMs,
] as const;

/** Endpoints that failed together are not called together again. */
const jitter = 0.1;

export interface WaitOptions {
  /** Random, from 0 up to 1. */
  fraction: number;
  /** The wait that a 429 or 503 asked for. */
  retryAfterMs?: number | undefined;
}

/**
 * The wait after this number of failed attempts; undefined after the last. An endpoint may ask for a longer one, up to
 * the wait after the next attempt.
 */
export function waitAfterMs(attempts: number, { fraction, retryAfterMs = 0 }: WaitOptions): number | undefined {
  const waitMs = attemptWaitsMs[attempts];
  if (waitMs === undefined) return undefined;
  const longestMs = attemptWaitsMs[attempts + 1] ?? waitMs;
  return Math.round(Math.max(waitMs * (1 - jitter + 2 * jitter * fraction), Math.min(retryAfterMs, longestMs)));
}

/** Reads the header: seconds or a date. Undefined if it is neither. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.length > 40) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
