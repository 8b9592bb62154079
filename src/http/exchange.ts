import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Clock } from '../platform/clock.ts';
import type { ApiError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Admission, Arrival } from './gate.ts';
import { pathOf } from './request-target.ts';
import type { Route } from './route.ts';

/** What an answer consists of, behind its status and headers. */
export type AnswerData = string | Buffer | Readable;

/** A request as its lane has read it, but for its body. */
export interface Message {
  method: string;
  /** What stands in the request line between the method and the version. */
  target: string;
  headers: IncomingHttpHeaders;
}

/**
 * A request and its answer, from the moment its headers have been read. How the bytes come and go is the lane's matter:
 * `plain-exchange.ts` for requests that are written plainly, `node-lane.ts` for all others.
 */
export abstract class Exchange implements Arrival {
  readonly correlationId: string;
  readonly startedMs: number;
  readonly method: string;
  readonly target: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly informedAtMs: number;
  /** Undefined when no route has its path and method, or until that is known. */
  route: MountedRoute | undefined;
  params: Record<string, string> = {};
  /** Undefined until the gate has decided. */
  admission: Admission | undefined;
  refusal: ApiError | undefined;
  /** 0 until it is answered. */
  status = 0;

  constructor(clock: Clock, { method, target, headers }: Message, informedAtMs: number) {
    this.correlationId = newId('req', clock);
    this.startedMs = clock.steadyMs();
    this.method = method;
    this.target = target;
    this.path = pathOf(target);
    this.headers = headers;
    this.informedAtMs = informedAtMs;
  }

  abstract get address(): string;

  abstract repeats(name: string): boolean;

  /** What is wrong with the message itself, whatever it asks for. */
  abstract fault(): ApiError | undefined;

  /** All of the body. Fails when it is too long or breaks off. */
  abstract readBody(): Buffer | Promise<Buffer>;

  /**
   * Answers it. `head` is header lines, each with its line end; how long the data is and what becomes of the connection is
   * added by the lane. The promise is there for what is sent bit by bit, and resolves when that is over, however it ended.
   */
  abstract send(status: number, head: string, data: AnswerData): Promise<void> | undefined;

  /** Calls back when the caller goes before it has its answer. */
  abstract onGone(act: () => void): void;
}

/** An answer as it goes out, but for what every answer has. */
export interface AnswerParts {
  status: number;
  headers: Record<string, string>;
  /** The media type; undefined for an answer without a body. */
  type: string | undefined;
  data: AnswerData;
}

/** A route made ready: its schemas are compiled. */
export interface MountedRoute extends Route {
  /** Reads what was asked for, and has it done. Throws, or rejects with, whatever is wrong with it. */
  run(exchange: Exchange, body: Buffer | undefined): AnswerParts | Promise<AnswerParts>;
}
