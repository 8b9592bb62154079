import { ConnectionError, HeliographError } from '../../../sdk/src/index.ts';

const longestPauseMs = 30_000;

/** Whether to retry: the service is unreachable, busy, or limits us. */
export function passes(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof HeliographError && (error.status === 429 || error.status >= 500);
}

/** The wait before the next attempt: longer each time, at least what the service asks for, with jitter. */
export function pauseMs(tries: number, error?: unknown): number {
  const told = error instanceof HeliographError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  const own = Math.min(longestPauseMs, 500 * 2 ** Math.min(tries - 1, 10));
  return Math.max(told, own * (0.75 + Math.random() / 4));
}
