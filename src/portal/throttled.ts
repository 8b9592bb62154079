import { ApiError } from '../platform/errors.ts';

/** A 429 of the portal's own limits (not the edge's), with the headers of every 429. */
export function throttled(reason: string, retryAfterMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return new ApiError('RATE_LIMITED', `${reason}. Try again in ${seconds} s.`, {
    headers: {
      'Retry-After': String(seconds),
      'RateLimit-Remaining': '0',
      // The edge's per-minute window for the address also runs, so report the later end.
      'RateLimit-Reset': String(Math.max(60, seconds)),
      RateLimit: `"minute";r=0;t=${seconds}`,
    },
  });
}
