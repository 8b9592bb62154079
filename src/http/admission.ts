import type { IncomingHttpHeaders } from 'node:http';
import type { ApiError } from '../platform/errors.ts';
import type { OwnedText } from '../platform/owned-text.ts';
import type { Api, Caller, CallingApplication, Charge, Route } from './route.ts';

/** What the edge sees of a request, before the body is read. */
export interface Arrival {
  readonly correlationId: string;
  readonly method: string;
  readonly path: string;
  /** Undefined when no route matches. */
  readonly route: Route | undefined;
  /** The values of the route's path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly address: OwnedText;
  /** When its connection opened or last finished an answer, as of the request's first byte. Steady clock. */
  readonly informedAtMs: number;
  /** Whether a header was sent more than once. `headers` keeps the first, but a proxy may have read the second. */
  repeats(name: string): boolean;
}

/** Both are integers of at least 1. */
export interface Limits {
  readonly perMinute: number;
  readonly burst: number;
}

/** The windows of an application at an API. */
export const windowKeyOf = (applicationId: string, api: Api) => `${applicationId}:${api}`;

/** The specification's two controls: the per-minute quota and the burst protection. */
export type Control = 'minute' | 'burst';

/** The window of the burst protection; that of the quota is a minute. */
export const burstMs = 1_000;

/**
 * The limits' decision on one request. All limit headers and the text of a 429 come from it. Times are whole
 * milliseconds, rounded up, so waiting that long is always enough.
 */
export interface LimitDecision {
  readonly admitted: boolean;
  readonly limits: Limits;
  /** Left in the minute window after this request; 0 on a refusal by either control. */
  readonly remaining: number;
  /** Time until the minute quota is full again, if the caller sends nothing more. */
  readonly resetMs: number;
  /** Time until the next request would be admitted by both windows and the lockout. */
  readonly nextFreeMs: number;
  /** Time until the lockout ends, equal to `nextFreeMs`; 0 unless the request was refused. */
  readonly retryAfterMs: number;
  readonly refusedBy: Control | undefined;
  /** When the windows charged it, by their own clock: `giveBack` finds the charge by it. Undefined without a charge. */
  readonly chargedAtMs: number | undefined;
}

/** The owner of a credential: who calls, within which limits and scopes. */
export interface KnownCaller {
  caller: CallingApplication;
  limits: Limits;
  /** The scopes of a token; undefined for an API key. */
  scopes: string[] | undefined;
}

/** The edge's decision on a request: who calls, and whether the limits admit it. Every answer gets its headers from it. */
export interface Admission {
  caller: Caller;
  decision: LimitDecision;
  /** Whether a registration's limits decided. Metering counts these requests. */
  counted: boolean;
  refusal: ApiError | undefined;
  /** For streams and waiting requests: calls back once when the caller's credential ends. The returned function stops watching. */
  onCredentialEnd?: (act: () => void) => () => void;
  /** Set where the handler charges the request: for hooks, and for routes of developers. */
  charge?: Charge;
}

/** Guards every route. The server calls it and knows nothing about credentials or limits. */
export interface Gateway {
  admit(arrival: Arrival): Admission | Promise<Admission>;
  /**
   * Gives a slot back to the registration, after an admitted request was answered by a 503. Returns the limits after that.
   * Never fails.
   */
  giveBack(admission: Admission): LimitDecision | Promise<LimitDecision>;
  /** The limits of an address, for bytes that are not a readable request. Charges nothing. */
  peek(address: OwnedText): LimitDecision | Promise<LimitDecision>;
}

/** An answered request that a registration's limits decided. */
export interface CountedRequest {
  caller: CallingApplication;
  correlationId: string;
  decision: LimitDecision;
  method: string;
  /**
   * The route's pattern, such as `/sms/v1/messages/{id}`, because a caller's own path may hold anything. Undefined
   * without a route.
   */
  path: string | undefined;
  status: number;
  /** It has given its slot back, so it does not count as usage. */
  isUnserved: boolean;
  refusal: ApiError | undefined;
  /** Its outcome, if its handler reports one. */
  outcome: string | undefined;
  durationMs: number;
  /** The path's `id` parameter, as the caller wrote it. */
  id: OwnedText | undefined;
  /** The Location of the record it created. */
  location: string | undefined;
  /** Of a sampled request. */
  traceId?: string | undefined;
}
