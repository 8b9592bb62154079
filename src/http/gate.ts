import type { IncomingHttpHeaders } from 'node:http';
import type { ApiError } from '../platform/errors.ts';
import type { Caller, Route } from './route.ts';

/** What the edge is shown of a request, before its body is read. */
export interface Arrival {
  correlationId: string;
  method: string;
  path: string;
  /** Undefined when no route has this path and method. */
  route: Route | undefined;
  headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent: the only place where a header sent twice can be seen. */
  rawHeaders: string[];
  address: string;
}

/** What the edge decided. There is always one, so every response has its limit headers by construction. */
export interface Admission {
  caller: Caller;
  limitHeaders: Record<string, string>;
  refusal?: ApiError;
}

/** Stands in front of every route. The server asks it and knows nothing of credentials or limits itself. */
export interface Gate {
  admit(arrival: Arrival): Admission | Promise<Admission>;
  /** For what could not be read as a request at all, and so is never counted against anybody. */
  headersForUnreadable(address: string): Record<string, string>;
}
