import { isIPv4 } from 'node:net';
import { randomBytes } from '../platform/crypto/random.ts';
import { sameText } from '../platform/crypto/secrets.ts';
import { ApiError, notFound } from '../platform/errors.ts';

const comparisonKey = randomBytes(32);

export interface MetricsAccess {
  token: string | undefined;
  /**
   * Whether loopback may read metrics while no token is set. Not in production: a proxy may run on the same machine.
   */
  openToLoopback: boolean;
}

/** Returns undefined if the caller may read the metrics. */
export function refuseMetrics(
  { token, openToLoopback }: MetricsAccess,
  authorization: string | undefined,
  address: string,
): ApiError | undefined {
  if (token === undefined) return openToLoopback && isLoopback(address) ? undefined : notFound();
  const sent = readSent(authorization, token.length);
  if (sameText(comparisonKey, sent, token)) return undefined;
  return new ApiError('UNAUTHENTICATED', 'Send HELIOGRAPH_METRICS_TOKEN as a bearer token.', {
    headers: { 'WWW-Authenticate': 'Bearer realm="metrics"' },
  });
}

/** Skips headers much longer than the token: they cannot match. */
function readSent(authorization = '', tokenLength: number): string {
  if (authorization.length > tokenLength + 100) return '';
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
}

function isLoopback(address: string): boolean {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}
