import { ApiError } from '../platform/errors.ts';

/** A 429 that is not one of the edge's own limits, with the headers that every 429 has. */
export function throttled(reason: string, retryAfterMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return new ApiError('RATE_LIMITED', `${reason}. Try again in ${seconds} s.`, {
    headers: {
      'Retry-After': String(seconds),
      'RateLimit-Remaining': '0',
      // The address's minute goes on beside it: the later of the two ends.
      'RateLimit-Reset': String(Math.max(60, seconds)),
      RateLimit: `"minute";r=0;t=${seconds}`,
    },
  });
}
