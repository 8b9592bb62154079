import { ConnectionError, HeliographError } from '../../../sdk/src/index.ts';

const longestPauseMs = 30_000;

/** Whether a program that follows something should try again: the service is away, busy, or limits us. */
export function passes(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof HeliographError && (error.status === 429 || error.status >= 500);
}

/** How long to wait before the next try: longer each time, as long as the service wants, and never all at once. */
export function pauseMs(tries: number, error?: unknown): number {
  const told = error instanceof HeliographError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  const own = Math.min(longestPauseMs, 500 * 2 ** Math.min(tries - 1, 10));
  return Math.max(told, own * (0.75 + Math.random() / 4));
}
