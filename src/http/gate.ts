import type { IncomingHttpHeaders } from 'node:http';
import type { ApiError } from '../platform/errors.ts';
import type { Caller, Route } from './route.ts';

/** What the edge sees of a request, before the body is read. */
export interface Arrival {
  readonly correlationId: string;
  readonly method: string;
  readonly path: string;
  /** Undefined when no route matches. */
  readonly route: Route | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** When its connection opened or last finished an answer, as of the request's first byte. Steady clock. */
  readonly informedAtMs: number;
  /** Whether a header was sent more than once. `headers` keeps the first, but a proxy may have read the second. */
  repeats(name: string): boolean;
}

/** The edge's decision. Every request gets one, so every response has its limit headers. */
export interface Admission {
  caller: Caller;
  /** The limit headers as lines with line ends. */
  limitLines: string;
  refusal?: ApiError | undefined;
  /** For streams: calls back once when the caller's credential ends. The returned function stops watching. */
  onCredentialEnd?: (act: () => void) => () => void;
  /** Set when a registration's limits decided. */
  decision?: LimitDecision | undefined;
  /** The meter that counted this decision. */
  meter?: Meter | undefined;
}

/** The decision of a registration's limits on a request. */
export interface LimitDecision {
  readonly admitted: boolean;
  readonly limits: { readonly perMinute: number };
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly refusedBy: string | undefined;
}

/** Counts and traces an application's requests. */
export interface Meter {
  count(admitted: boolean): void;
  note(answered: Answered): void;
}

/** An application's answered request. */
export interface Answered {
  correlationId: string;
  decision: LimitDecision;
  method: string;
  /**
   * The route's pattern, such as `/sms/v1/messages/{id}`, because a caller's own path may hold anything. Undefined
   * without a route.
   */
  path: string | undefined;
  status: number;
  refusal: ApiError | undefined;
  durationMs: number;
  /** The path's `id` parameter, as the caller wrote it. */
  id: string | undefined;
  /** The Location of the record it created. */
  location: string | undefined;
}

/** Guards every route. The server calls it and knows nothing about credentials or limits. */
export interface Gate {
  admit(arrival: Arrival): Admission | Promise<Admission>;
  /** Limit headers for bytes that are not a readable request. They count against no caller. */
  linesForUnreadable(address: string): string;
}
