import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Clock } from '../platform/clock.ts';
import type { ApiError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { OwnedText } from '../platform/owned-text.ts';
import type { Admission, Arrival } from './admission.ts';
import type { Head } from './head.ts';
import { pathOf } from './request/target.ts';
import type { RequestTrace, Route } from './route.ts';

/** The span of a request, as the pipeline sees it. */
export interface RequestSpan extends RequestTrace {
  beginService(): void;
  end(exchange: Exchange): void;
}

/** The body of an answer. */
export type AnswerData = string | Buffer | Readable;

/** A request as its lane read it, without the body. */
export interface RequestHead {
  method: string;
  /** The request target: the part of the request line between method and version. */
  target: string;
  headers: IncomingHttpHeaders;
}

/**
 * A request and its answer, from the time its headers are read. Each lane moves the bytes itself: `plain/exchange.ts`
 * for plainly written requests, `node/exchange.ts` for all others.
 */
export abstract class Exchange implements Arrival {
  readonly correlationId: string;
  readonly startedMs: number;
  readonly method: string;
  readonly target: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly informedAtMs: number;
  /** Undefined until looked up, and when no route matches. */
  route: MountedRoute | undefined;
  params: Record<string, string> = {};
  /** Undefined until the gateway decides. */
  admission: Admission | undefined;
  refusal: ApiError | undefined;
  /** Undefined unless the request is sampled. */
  span: RequestSpan | undefined;
  /** The outcome that the handler reported. */
  outcome: string | undefined;
  /** Whether the caller gets its slot back: a 503, in whatever form. */
  isUnserved: boolean = false;
  /** 0 until the request is answered. */
  status = 0;

  constructor(clock: Clock, { method, target, headers }: RequestHead, informedAtMs: number) {
    this.correlationId = newId('req', clock);
    this.startedMs = clock.steadyMs();
    this.method = method;
    this.target = target;
    this.path = pathOf(target);
    this.headers = headers;
    this.informedAtMs = informedAtMs;
  }

  abstract get address(): OwnedText;

  abstract repeats(name: string): boolean;

  /** The HTTP message's own fault, independent of the route. */
  abstract fault(): ApiError | undefined;

  /** Reads the whole body. Throws when it is too long or incomplete. */
  abstract readBody(): Buffer | Promise<Buffer>;

  /** Sends the answer. For a stream it returns a promise that resolves when the stream ends, however it ends. */
  abstract send(head: Head, data: AnswerData): Promise<void> | undefined;

  /** Calls back if the caller disconnects before its answer is complete. */
  abstract onGone(act: () => void): void;
}

/** An answer without the headers that every answer gets. */
export interface AnswerParts {
  status: number;
  headers: Record<string, string>;
  /** The media type; undefined without a body. */
  type: string | undefined;
  data: AnswerData;
}

/** A route with compiled schemas. */
export interface MountedRoute extends Route {
  /** Validates the request and runs the handler. Throws or rejects with any error. */
  run(exchange: Exchange, body: Buffer | undefined): AnswerParts | Promise<AnswerParts>;
}
