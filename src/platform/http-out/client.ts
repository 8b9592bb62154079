import { isIP } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { type AddressGuard, refusal } from './address-guard.ts';
import { describeCallError } from './call-errors.ts';
import { keptHeaders, longestKept, type ReceivedAnswer } from './received-answer.ts';

export interface OutgoingCall {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Aborts the call and its connection. */
  signal?: AbortSignal;
}

export interface CallAnswer {
  /** Null if no answer came. */
  statusCode: number | null;
  milliseconds: number;
  /** Null for 2xx. */
  error: string | null;
  retryAfter: string | undefined;
  /** The beginning of the answer; undefined if none came. */
  received?: ReceivedAnswer | undefined;
}

export interface GuardedClient {
  /** Loads the library before it is needed: the first call then begins at once. */
  prepare(): Promise<unknown>;
  /** Never rejects. It resolves within the time limit, even if the endpoint stalls. */
  call(call: OutgoingCall): Promise<CallAnswer>;
  close(): Promise<void>;
}

export interface GuardedClientOptions {
  guard: AddressGuard;
  clock: Clock;
  timeoutMs?: number;
  /** Keep this much of an answer's body; 2 kB by default. */
  keptBytes?: number;
  /** A CA for tests; by default those of Node. */
  ca?: string;
}

/** Wait at most this long for an answer. */
export const answerWithinMs = 15_000;
const connectWithinMs = 10_000;
/** Read this much of a body, so that the connection can be kept. */
const longestBody = 64 * 1024;
const bodyWithinMs = 1000;
const longestHead = 16 * 1024;
const shownOfError = 200;
/** Shorter than servers usually keep idle connections: no call should meet a closed one. */
const idleMs = 4000;

/** Posts to webhooks and alert URLs over connections that it keeps. It follows no redirect and uses no proxy. */
export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const { guard, clock, timeoutMs = answerWithinMs, keptBytes = longestKept, ca } = options;
  let agent: Agent | undefined;
  let loading: Promise<Agent> | undefined;

  function prepare(): Promise<Agent> {
    loading ??= createAgent(guard, timeoutMs, ca).then((made) => {
      agent = made;
      return made;
    });
    return loading;
  }

  function send(agent: Agent, { url: given, headers, body, signal }: OutgoingCall): Promise<CallAnswer> {
    const url = new URL(given);
    const beganMs = clock.steadyMs();
    let endedMs: number | undefined;
    return new Promise((resolve) => {
      const onHead = () => {
        endedMs = clock.steadyMs();
      };
      const reading = createReading({ timeoutMs, keptBytes, onHead }, (answer) => {
        signal?.removeEventListener('abort', stop);
        resolve({ ...answer, milliseconds: Math.round((endedMs ?? clock.steadyMs()) - beganMs) });
      });
      const stop = () => reading.stop('The call was aborted: its target was changed, or the service stops.');
      if (signal?.aborted) {
        stop();
        return;
      }
      signal?.addEventListener('abort', stop);
      const path = `${url.pathname}${url.search}`;
      agent.dispatch({ origin: url.origin, path, method: 'POST', headers, body }, reading);
    });
  }

  return {
    prepare,
    async call(call) {
      try {
        return await send(agent ?? (await prepare()), call);
      } catch (error) {
        return { statusCode: null, milliseconds: 0, error: describeCallError(error), retryAfter: undefined };
      }
    },
    close: async () => (await loading)?.destroy(),
  };
}

async function createAgent(guard: AddressGuard, timeoutMs: number, ca: string | undefined): Promise<Agent> {
  const { Agent, buildConnector } = await import('undici');
  const open = buildConnector({
    lookup: guard.lookup,
    timeout: Math.min(connectWithinMs, timeoutMs),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
  });
  return new Agent({
    connect(target, done) {
      const host = target.hostname.replace(/^\[|\]$/g, '');
      // Node does not resolve an IP address, so the guard's lookup never sees it.
      if (isIP(host) !== 0 && !guard.isAllowed(host)) done(refusal(host, host), null);
      else open({ ...target, hostname: host }, done);
    },
    // The webhook worker limits the calls under way, for each endpoint and in total.
    connections: null,
    pipelining: 1,
    maxHeaderSize: longestHead,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
  });
}

type Read = Omit<CallAnswer, 'milliseconds'>;

interface Reading extends Dispatcher.DispatchHandler {
  /** Ends the reading; a failure if no head has come. */
  stop(reason: string): void;
}

interface ReadingLimits {
  timeoutMs: number;
  keptBytes: number;
  onHead: () => void;
}

/** Reads an answer. The head decides; the body is read up to a limit. */
function createReading(limits: ReadingLimits, done: (answer: Read) => void): Reading {
  const { timeoutMs, keptBytes, onHead } = limits;
  let controller: Dispatcher.DispatchController | undefined;
  let isOver = false;
  let head: (Pick<CallAnswer, 'retryAfter'> & { status: number; headers: ReceivedAnswer['headers'] }) | undefined;
  let length = 0;
  const kept: Buffer[] = [];
  let timer = setTimeout(() => stop(`No answer came within ${timeoutMs / 1000} seconds.`), timeoutMs);

  function stop(reason: string): void {
    end(reason);
    controller?.abort(new Error('stopped'));
  }

  /** `reason` is reported if no answer has come. */
  function end(reason: string): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (head === undefined) {
      done({ statusCode: null, error: reason, retryAfter: undefined });
      return;
    }
    const { status, retryAfter, headers } = head;
    const body = Buffer.concat(kept);
    const received = { headers, body, isCut: length > body.length };
    done({ statusCode: status, error: describeAnswer(status, body.toString('utf8')), retryAfter, received });
  }

  return {
    stop,
    onRequestStart(given) {
      controller = given;
      // The time limit passed while it waited for a connection: send nothing.
      if (isOver) given.abort(new Error('stopped'));
    },
    onResponseStart(_, status, headers) {
      // 1xx precede the answer.
      if (isOver || status < 200) return;
      const retryAfter = headers['retry-after'];
      const wait = typeof retryAfter === 'string' ? retryAfter : undefined;
      head = { status, retryAfter: wait, headers: keptHeaders(headers) };
      onHead();
      clearTimeout(timer);
      timer = setTimeout(() => stop(''), Math.min(bodyWithinMs, timeoutMs));
    },
    onResponseData(_, piece) {
      // A copy of the beginning, so that the rest of a large chunk can be freed.
      if (length < keptBytes) kept.push(Buffer.from(piece.subarray(0, keptBytes - length)));
      length += piece.length;
      if (length > longestBody) stop('');
    },
    onResponseEnd: () => end(''),
    onResponseError: (_, error) => end(describeCallError(error)),
  };
}

/** Includes the beginning of the body, for the owner of the endpoint. Null for a success. */
function describeAnswer(status: number, said: string): string | null {
  if (status >= 200 && status < 300) return null;
  const words = [...said.replaceAll(/[\p{C}\s\ufffd]+/gu, ' ').trim()].slice(0, shownOfError).join('');
  const redirect = status >= 300 && status < 400 ? ' Redirects are not followed.' : '';
  return `The endpoint answered ${status}.${redirect}${words === '' ? '' : ` It said: ${words}`}`;
}
