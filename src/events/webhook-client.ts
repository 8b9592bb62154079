import { isIP } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { type AddressGuard, refusal } from '../platform/address-guard.ts';
import type { Clock } from '../platform/clock.ts';
import { describeCallError } from './webhook-errors.ts';

export interface WebhookCall {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Ends the call and its connection. */
  signal?: AbortSignal;
}

export interface CallAnswer {
  /** Null if no answer came. */
  statusCode: number | null;
  milliseconds: number;
  /** Null for 2xx. */
  error: string | null;
  retryAfter: string | undefined;
}

export interface WebhookClient {
  /** Never rejects. Whatever the endpoint does, it resolves within the time limit. */
  call(call: WebhookCall): Promise<CallAnswer>;
  close(): Promise<void>;
}

export interface WebhookClientOptions {
  guard: AddressGuard;
  clock: Clock;
  timeoutMs?: number;
  /** A CA for tests; else those that Node knows. */
  ca?: string;
}

/** Any 2xx within this time is a success. */
export const answerWithinMs = 15_000;
const connectWithinMs = 10_000;
/** The body is of no interest; it is read so that the connection can be used again. */
const longestBody = 64 * 1024;
const bodyWithinMs = 1000;
const longestHead = 16 * 1024;
const shownOfError = 200;
/** Shorter than usual servers keep an idle connection: a call must not meet the end of one. */
const idleMs = 4000;

/** Calls endpoints of developers over connections that are used again. It follows no redirect and knows no proxy. */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  const { guard, clock, timeoutMs = answerWithinMs, ca } = options;
  const open = buildConnector({
    lookup: guard.lookup,
    timeout: Math.min(connectWithinMs, timeoutMs),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
  });
  const agent = new Agent({
    connect(target, done) {
      const host = target.hostname.replace(/^\[|\]$/g, '');
      // Node resolves no address, so the guard's look-up would not see it.
      if (isIP(host) !== 0 && !guard.isAllowed(host)) done(refusal(host, host), null);
      else open({ ...target, hostname: host }, done);
    },
    // The worker bounds what is under way, for each endpoint and in all.
    connections: null,
    pipelining: 1,
    maxHeaderSize: longestHead,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
  });

  return {
    call({ url: given, headers, body, signal }) {
      const url = new URL(given);
      const beganMs = clock.steadyMs();
      let endedMs: number | undefined;
      return new Promise((resolve) => {
        const onHead = () => {
          endedMs = clock.steadyMs();
        };
        const reading = createReading(timeoutMs, onHead, (answer) => {
          signal?.removeEventListener('abort', stop);
          resolve({ ...answer, milliseconds: Math.round((endedMs ?? clock.steadyMs()) - beganMs) });
        });
        const stop = () => reading.stop('The call was broken off: the webhook was changed, or the service stops.');
        signal?.addEventListener('abort', stop);
        const path = `${url.pathname}${url.search}`;
        agent.dispatch({ origin: url.origin, path, method: 'POST', headers, body }, reading);
      });
    },
    close: () => agent.destroy(),
  };
}

type Read = Omit<CallAnswer, 'milliseconds'>;

interface Reading extends Dispatcher.DispatchHandler {
  /** Ends it. Without the head of an answer so far it is a failure. */
  stop(reason: string): void;
}

/** Reads an answer: its head decides; of the body it takes no more than is harmless. */
function createReading(timeoutMs: number, onHead: () => void, done: (answer: Read) => void): Reading {
  let controller: Dispatcher.DispatchController | undefined;
  let isOver = false;
  let head: (Pick<CallAnswer, 'retryAfter'> & { status: number }) | undefined;
  let length = 0;
  let said = '';
  let timer = setTimeout(() => stop(`No answer came within ${timeoutMs / 1000} seconds.`), timeoutMs);

  function stop(reason: string): void {
    end(reason);
    controller?.abort(new Error('stopped'));
  }

  /** `reason` counts if no answer has come. */
  function end(reason: string): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (head === undefined) done({ statusCode: null, error: reason, retryAfter: undefined });
    else done({ statusCode: head.status, error: describeAnswer(head.status, said), retryAfter: head.retryAfter });
  }

  return {
    stop,
    onRequestStart(given) {
      controller = given;
      // It waited for a connection too long: nothing of it has left.
      if (isOver) given.abort(new Error('stopped'));
    },
    onResponseStart(_, status, headers) {
      // 1xx comes before the answer.
      if (isOver || status < 200) return;
      const retryAfter = headers['retry-after'];
      head = { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined };
      onHead();
      clearTimeout(timer);
      timer = setTimeout(() => stop(''), Math.min(bodyWithinMs, timeoutMs));
    },
    onResponseData(_, piece) {
      if (said.length < shownOfError) said += piece.subarray(0, 4 * shownOfError).toString('utf8');
      length += piece.length;
      if (length > longestBody) stop('');
    },
    onResponseEnd: () => end(''),
    onResponseError: (_, error) => end(describeCallError(error)),
  };
}

/** With the beginning of what it said, for the owner of the endpoint. Null for a success. */
function describeAnswer(status: number, said: string): string | null {
  if (status >= 200 && status < 300) return null;
  const words = [...said.replaceAll(/[\p{C}\s\ufffd]+/gu, ' ').trim()].slice(0, shownOfError).join('');
  const redirect = status >= 300 && status < 400 ? ' Redirects are not followed.' : '';
  return `The endpoint answered ${status}.${redirect}${words === '' ? '' : ` It said: ${words}`}`;
}
