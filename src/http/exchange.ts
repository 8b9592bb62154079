import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { ApiError } from '../platform/errors.ts';
import type { Admission, Arrival } from './gate.ts';
import type { MountedRoute } from './mount.ts';

/** What an answer consists of, behind its status and headers. */
export type AnswerData = string | Buffer | Readable;

/**
 * A request and its answer, from the moment its headers have been read. How the bytes come and go is the lane's matter:
 * `plain-lane.ts` for requests that are written plainly, `node-lane.ts` for all others.
 */
export interface Exchange extends Arrival {
  readonly correlationId: string;
  readonly startedMs: number;
  readonly method: string;
  /** What stands in the request line between the method and the version. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** Undefined when no route has its path and method, or until that is known. */
  route: MountedRoute | undefined;
  params: Record<string, string>;
  /** Undefined until the gate has decided. */
  admission: Admission | undefined;
  refusal: ApiError | undefined;
  /** 0 until it is answered. */
  status: number;
  /** What is wrong with the message itself, whatever it asks for. */
  fault(): ApiError | undefined;
  /** All of the body. Fails when it is too long or breaks off. */
  readBody(): Buffer | Promise<Buffer>;
  /**
   * Answers it. `head` is header lines, each with its line end; how long the data is and what becomes of the connection is
   * added by the lane. The promise is there for what is sent bit by bit, and resolves when that is over, however it ended.
   */
  send(status: number, head: string, data: AnswerData): Promise<void> | undefined;
  /** Calls back when the caller goes before it has its answer. */
  onGone(act: () => void): void;
}
