import { ConnectionError, HeliographError } from './errors.ts';

/** What is known of a call that failed. */
export interface Failure {
  error: unknown;
  /** How often it was sent again already. */
  retries: number;
  /** Whether it may be sent again although the service may have done the work: a read, or a call with an idempotency key. */
  repeatable: boolean;
}

export const mostRetries = 3;
/** A longer `Retry-After` is for the caller to decide on. */
export const longestWaitSeconds = 60;

const busy = [502, 503, 504];
/** The first retry comes soon, for a connection that had gone stale; all of them together outlast a restart. */
const pausesMs = [300, 1200, 4800];

/** How long to wait before the call is sent again; undefined if it must not be. `random` is between 0 and 1. */
export function retryAfterMs({ error, retries, repeatable }: Failure, random: number): number | undefined {
  const longestPauseMs = pausesMs[retries];
  if (longestPauseMs === undefined) return undefined;
  const pauseMs = longestPauseMs * (0.5 + random / 2);
  if (error instanceof ConnectionError) return repeatable ? pauseMs : undefined;
  if (!(error instanceof HeliographError)) return undefined;
  const { status, code, retryAfterSeconds } = error;
  if ((retryAfterSeconds ?? 0) > longestWaitSeconds) return undefined;
  const toldMs = (retryAfterSeconds ?? 0) * 1000;
  // Limits are checked before the work, so a refused call had no effect.
  if (status === 429) return closedForMs(error, random);
  if (status === 409 && code === 'IDEMPOTENCY_IN_PROGRESS') return pauseMs;
  if (busy.includes(status) && repeatable) return Math.max(toldMs, pauseMs);
  return undefined;
}

/** How long no call of the API is sent after a 429. Several programs may be told the same second, hence the jitter. */
export function closedForMs({ retryAfterSeconds }: HeliographError, random: number): number {
  return Math.min((retryAfterSeconds ?? 1) + random / 4, longestWaitSeconds) * 1000;
}
