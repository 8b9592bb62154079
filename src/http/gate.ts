import type { IncomingHttpHeaders } from 'node:http';
import type { ApiError } from '../platform/errors.ts';
import type { Caller, Route } from './route.ts';

/** What the edge is shown of a request, before its body is read. */
export interface Arrival {
  readonly correlationId: string;
  readonly method: string;
  readonly path: string;
  /** Undefined when no route has this path and method. */
  readonly route: Route | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** When its connection was opened or last finished an answer, as of this request's first byte, by the steady clock. */
  readonly informedAtMs: number;
  /** Whether a header was sent more than once: of two, `headers` has the first, and another reader might take the second. */
  repeats(name: string): boolean;
}

/** What the edge decided. There is always one, so every response has its limit headers by construction. */
export interface Admission {
  caller: Caller;
  /** Its limit headers, each with its line end. */
  limitLines: string;
  refusal?: ApiError | undefined;
  /** Only for streams: calls back once when the credential that let the caller in ends. The result stops watching. */
  onCredentialEnd?: (act: () => void) => () => void;
  /** Only where the caller's own quota was asked. */
  decision?: LimitDecision | undefined;
  /** And where that was counted. */
  meter?: Meter | undefined;
}

/** What the limits of a registration said to a request. */
export interface LimitDecision {
  readonly admitted: boolean;
  readonly limits: { readonly perMinute: number };
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly refusedBy: string | undefined;
}

/** Told what becomes of an application's requests. */
export interface Meter {
  count(admitted: boolean): void;
  note(answered: Answered): void;
}

/** A request of an application, answered. */
export interface Answered {
  correlationId: string;
  decision: LimitDecision;
  method: string;
  /** The route's own, as `/sms/v1/messages/{id}`: what a caller wrote in its place may be anything. Undefined for none. */
  path: string | undefined;
  status: number;
  refusal: ApiError | undefined;
  durationMs: number;
  /** What the path was about, as it was written there. */
  id: string | undefined;
  /** Where the record is that it made. */
  location: string | undefined;
}

/** Stands in front of every route. The server asks it and knows nothing of credentials or limits itself. */
export interface Gate {
  admit(arrival: Arrival): Admission | Promise<Admission>;
  /** For what could not be read as a request at all, and so is never counted against anybody. */
  linesForUnreadable(address: string): string;
}
