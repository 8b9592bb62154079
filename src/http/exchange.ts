import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiError } from '../platform/errors.ts';
import type { Admission } from './gate.ts';
import type { Route } from './route.ts';

/** A request and its answer, from the moment its headers have been read. */
export interface Exchange {
  readonly correlationId: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startedMs: number;
  /** Undefined when no route has its path and method, or until that is known. */
  route: Route | undefined;
  /** Undefined until the gate has decided. */
  admission: Admission | undefined;
  refusal: ApiError | undefined;
  /** Answers it at once, in place of whoever was about to: its own body turned out to be unreadable. */
  answer(error: ApiError): void;
}

declare module 'node:http' {
  interface IncomingMessage {
    exchange?: Exchange;
  }
}
