import { ConnectionError, HeliographError } from './errors.ts';

/** A failed call. */
export interface Failure {
  error: unknown;
  /** The number of retries so far. */
  retries: number;
  /** Whether a retry is safe even if the service has executed the call: a read, or a call with an idempotency key. */
  repeatable: boolean;
}

export const mostRetries = 3;
/** A longer `Retry-After` is left to the caller. */
export const longestWaitSeconds = 60;

const busy = [502, 503, 504];
/** The first retry comes soon, for a stale connection. All retries together outlast a restart. */
const pausesMs = [300, 1200, 4800];

/** The wait before a retry; undefined for no retry. `random` is between 0 and 1. */
export function retryAfterMs({ error, retries, repeatable }: Failure, random: number): number | undefined {
  const longestPauseMs = pausesMs[retries];
  if (longestPauseMs === undefined) return undefined;
  const pauseMs = longestPauseMs * (0.5 + random / 2);
  if (error instanceof ConnectionError) return repeatable ? pauseMs : undefined;
  if (!(error instanceof HeliographError)) return undefined;
  const { status, code, retryAfterSeconds } = error;
  if ((retryAfterSeconds ?? 0) > longestWaitSeconds) return undefined;
  const toldMs = (retryAfterSeconds ?? 0) * 1000;
  // The service checks limits first, so a refused call had no effect.
  if (status === 429) return closedForMs(error, random);
  if (status === 409 && code === 'IDEMPOTENCY_IN_PROGRESS') return pauseMs;
  if (busy.includes(status) && repeatable) return Math.max(toldMs, pauseMs);
  return undefined;
}

/** How long the API's calls pause after a 429. Several programs may get the same second, so add jitter. */
export function closedForMs({ retryAfterSeconds }: HeliographError, random: number): number {
  return Math.min((retryAfterSeconds ?? 1) + random / 4, longestWaitSeconds) * 1000;
}
