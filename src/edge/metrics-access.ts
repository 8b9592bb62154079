import { isIPv4 } from 'node:net';
import { ApiError, notFound } from '../platform/errors.ts';
import { randomBytes } from '../platform/random.ts';
import { sameText } from '../platform/secrets.ts';

const comparisonKey = randomBytes(32);

/** Whether a caller may read the metrics: by token where one is set, otherwise from this machine only. */
export function refuseMetrics(
  token: string | undefined,
  authorization: string | undefined,
  address: string,
): ApiError | undefined {
  if (token === undefined) return isLoopback(address) ? undefined : notFound();
  const sent = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  if (sameText(comparisonKey, sent, token)) return undefined;
  return new ApiError('UNAUTHENTICATED', 'Send HELIOGRAPH_METRICS_TOKEN as a bearer token.', {
    headers: { 'WWW-Authenticate': 'Bearer realm="metrics"' },
  });
}

function isLoopback(address: string): boolean {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}
