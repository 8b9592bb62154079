import { ApiError } from '../../platform/errors.ts';

/** A 429 of the portal's own limits, not the edge's. Its wait replaces the edge's in the limit headers. */
export function throttled(reason: string, retryAfterMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return new ApiError('RATE_LIMITED', `${reason}. Try again in ${seconds} s.`, { retryAfterMs: seconds * 1000 });
}
