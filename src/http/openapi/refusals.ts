import { type ErrorCode, type FieldProblem, statusOf } from '../../platform/errors.ts';
import type { Auth, Route } from '../route.ts';

/** A refusal that a route can give: its code, and when it occurs. */
export interface Refusal {
  code: ErrorCode;
  when: string;
  /** Whether the route lists it in `refuses`; otherwise its definition implies it. */
  declared: boolean;
}

/** When each code occurs, and an example of its message. A route may declare its own sentence. */
const known: Record<ErrorCode, { when: string; message: string; details?: FieldProblem[] }> = {
  INVALID_ARGUMENT: {
    when: 'A value is missing or wrong; details names each field and what would be right',
    message: 'limit must be a whole number from 1 to 100',
    details: [{ field: 'limit', message: 'must be a whole number from 1 to 100' }],
  },
  UNSUPPORTED_CHANNEL: {
    when: 'The channel is not supported',
    message: 'This channel is not supported. Use sms.',
    details: [{ field: 'channel', message: 'must be sms' }],
  },
  UNROUTABLE_DESTINATION: {
    when: 'No route leads to the number',
    message: 'No route leads to this number. An operator adds routes.',
    details: [{ field: 'to', message: 'must be a number that a route leads to' }],
  },
  MALFORMED_JSON: { when: 'The body is not JSON in UTF-8', message: 'The body is not valid JSON in UTF-8.' },
  UNAUTHENTICATED: {
    when: 'The credential is missing, malformed, unknown, expired or revoked',
    message: 'The credential is missing or not valid.',
  },
  SPEND_LIMIT: {
    when: "The application's segments of the day are used up",
    message: 'The application has used up its 1000 segments of the day.',
  },
  PERMISSION_DENIED: { when: 'The caller may not do this', message: 'This API needs a token with another scope.' },
  NOT_FOUND: {
    when: 'The record does not exist, or belongs to another caller',
    message: 'Not found. Check the path and the id.',
  },
  METHOD_NOT_ALLOWED: { when: 'The path has no such method', message: 'This path supports only GET, HEAD.' },
  REQUEST_TIMEOUT: { when: 'The request came too slowly', message: 'The request did not arrive in time.' },
  VERIFICATION_ALREADY_APPROVED: {
    when: 'The verification is approved already',
    message: 'This verification is already approved. A code works once.',
  },
  INCOMPATIBLE_STATE: {
    when: 'The state of the record does not allow it',
    message: 'The message is delivered and can no longer be canceled.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    when: 'A request with the same Idempotency-Key is in progress',
    message: 'A request with this Idempotency-Key is in progress. Try again shortly.',
  },
  ALREADY_EXISTS: { when: 'There is one already', message: 'This email already has an account. Sign in instead.' },
  TOO_MANY_STREAMS: {
    when: 'The application has the maximum number of open streams',
    message: 'The application has 5 open streams, the maximum. Close one first.',
  },
  CURSOR_EXPIRED: {
    when: 'Events after the cursor may be missing',
    message: 'The cursor is too old. Events after it may be missing. Start again without a cursor.',
  },
  PAYLOAD_TOO_LARGE: { when: 'The body is larger than 64 KiB', message: 'The body is larger than 64 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: {
    when: 'The body has another media type',
    message: 'Content-Type must be application/json.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    when: 'The Idempotency-Key came with another payload before',
    message: 'This Idempotency-Key was used with another payload.',
  },
  RATE_LIMITED: {
    when: 'A limit is used up: wait Retry-After seconds',
    message: 'The limit of 60 requests a minute is used up. Try again in 12 s.',
  },
  HEADERS_TOO_LARGE: { when: 'The headers are larger than 16 KiB', message: 'The headers are larger than 16 KiB.' },
  INTERNAL: {
    when: 'The service failed',
    message: 'The service failed on this request. Quote the correlation id when you report it.',
  },
  UNAVAILABLE: {
    when: 'The service is overloaded or lacks a part that it needs: try again after Retry-After seconds',
    message: 'The service is overloaded. Try again shortly.',
  },
};

/** All refusals of a route by status: those that its definition implies, and those that its handler declares. */
export function refusalsOf(route: Route): Map<number, Refusal[]> {
  const byStatus = new Map<number, Refusal[]>();
  const add = (code: ErrorCode, when: string, declared: boolean) => {
    const status = statusIn(route, code);
    const others = byStatus.get(status) ?? [];
    byStatus.set(status, [...others.filter((each) => each.code !== code), { code, when, declared }]);
  };
  for (const code of impliedBy(route)) add(code, whenIn(route, code), false);
  for (const [code, when] of Object.entries(route.refuses ?? {})) add(code as ErrorCode, when, true);
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

/** Whether the document describes a status; others are the same for every request to any path. */
export function promises(route: Route, status: number): boolean {
  return status in route.answers || refusalsOf(route).has(status);
}

export function exampleOfRefusal(code: ErrorCode): { message: string; details: FieldProblem[] } {
  const { message, details = [] } = known[code];
  return { message, details };
}

function impliedBy(route: Route): ErrorCode[] {
  const codes: ErrorCode[] = [];
  const kinds = kindsOf(route);
  const hasBody = route.body !== undefined || (route.consumes === 'raw' && route.method !== 'GET');
  if (route.query !== undefined || route.body !== undefined || route.idempotent) codes.push('INVALID_ARGUMENT');
  if (route.body !== undefined && route.consumes === undefined) codes.push('MALFORMED_JSON');
  if (
    kinds.some((kind) => ['apikey', 'bearer', 'sid', 'person', 'developer', 'try', 'client', 'metrics'].includes(kind))
  )
    codes.push('UNAUTHENTICATED');
  if (isScoped(route) || kinds.includes('operator') || (isOfPortal(kinds) && route.method !== 'GET'))
    codes.push('PERMISSION_DENIED');
  if (route.params !== undefined || kinds.includes('operator')) codes.push('NOT_FOUND');
  if (route.idempotent) codes.push('IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED');
  if (hasBody) codes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  if (!kinds.every((kind) => kind === 'none' || kind === 'metrics')) codes.push('RATE_LIMITED', 'UNAVAILABLE');
  return codes;
}

/** When this route gives the code: in some cases a better sentence than the general one. */
function whenIn(route: Route, code: ErrorCode): string {
  const kinds = kindsOf(route);
  if (code === 'PERMISSION_DENIED') return whyDenied(route, kinds);
  if (code === 'NOT_FOUND' && kinds.includes('operator'))
    return route.params === undefined
      ? 'The caller is no operator'
      : 'There is no such record, or the caller is no operator';
  if (code === 'UNAUTHENTICATED' && kinds.every((kind) => ['person', 'developer', 'try'].includes(kind)))
    return 'No one is signed in';
  return known[code].when;
}

function whyDenied(route: Route, kinds: Auth['kind'][]): string {
  if (isScoped(route)) return `The token lacks the scope ${scopeOf(route)}`;
  const reasons = [
    ...(kinds.includes('developer') || kinds.includes('try')
      ? ["the person's role in the account does not allow it"]
      : []),
    ...(kinds.includes('operator') ? ['the operator has no second factor where one is required'] : []),
    ...(route.method === 'GET' ? [] : ['the request comes from another site']),
  ];
  const text = reasons.join(', or ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** The identity endpoints answer as RFC 6749 says: a body that is no form is a malformed request. */
function statusIn(route: Route, code: ErrorCode): number {
  return route.errors === 'oauth' && code === 'UNSUPPORTED_MEDIA_TYPE' ? 400 : statusOf[code];
}

function isOfPortal(kinds: Auth['kind'][]): boolean {
  return kinds.some((kind) => ['visitor', 'person', 'developer', 'try', 'operator'].includes(kind));
}

function isScoped(route: Route): boolean {
  return scopeOf(route) !== undefined;
}

function scopeOf(route: Route): string | undefined {
  return [route.auth]
    .flat()
    .flatMap((auth) => (auth.kind === 'bearer' && auth.scope !== undefined ? auth.scope : []))[0];
}

function kindsOf(route: Route): Auth['kind'][] {
  return [route.auth].flat().map(({ kind }) => kind);
}
