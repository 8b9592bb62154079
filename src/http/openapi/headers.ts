import type { Answer, Route } from '../route.ts';
import type { HeaderName } from './header-table.ts';

/** Headers of every answer. */
const always: HeaderName[] = [
  'X-Correlation-ID',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
];

export function headersOfAnswer(route: Route, answer: Answer): object {
  return refer([...always, ...(answer.headers ?? []), ...(route.idempotent ? replayed : [])]);
}

const replayed: HeaderName[] = ['Idempotency-Replayed'];

/** The headers of a route's refusals with this status. */
export function headersOfRefusal(route: Route, status: number): object {
  const kinds = [route.auth].flat().map(({ kind }) => kind);
  const own: HeaderName[] = ['Link'];
  if (status === 429 || status === 503) own.push('Retry-After');
  if (status === 401 || (status === 403 && kinds.includes('bearer'))) own.push('WWW-Authenticate');
  return refer([...always, ...own]);
}

function refer(names: HeaderName[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
