import { STATUS_CODES, validateHeaderValue } from 'node:http';
import type { Clock } from '../platform/clock.ts';
import { minuteMs } from '../platform/clock.ts';
import type { LimitDecision, Limits } from './admission.ts';

/** The headers of an answer, as data. `createHead` makes it; only this file turns it into text. */
export interface Head {
  readonly status: number;
  readonly correlationId: string;
  readonly decision: LimitDecision;
  /** The answer's own headers. They replace general ones of the same name: a page sets its own caching. */
  readonly own: Record<string, string>;
  /** The media type; undefined without a body. */
  readonly type: string | undefined;
}

/** How an answer ends on its connection. */
export interface Framing {
  /** Bytes of the body; undefined for a stream. */
  length: number | undefined;
  /** The connection closes after this answer. */
  last: boolean;
}

/** Writes every header of every answer. */
export interface HeadWriter {
  /** Status line, headers and blank line, for an answer that we write to the socket ourselves. */
  forSocket(head: Head, framing: Framing): string;
  /** Names and values in turn, for Node's `writeHead`. Node adds Date, Keep-Alive and Transfer-Encoding. */
  forNode(head: Head, framing: Framing): string[];
}

/** Throws if a value cannot be sent, before anything is sent: the 500 that follows must not carry these headers. */
export function createHead(head: Head): Head {
  for (const name in head.own) validateHeaderValue(name, head.own[name] ?? '');
  return head;
}

export interface HeadWriterOptions {
  clock: Clock;
  /** Adds HSTS. */
  https: boolean;
  keepAliveMs: number;
}

export function createHeadWriter({ clock, https, keepAliveMs }: HeadWriterOptions): HeadWriter {
  const security = securityHeaders(https);
  const securityLines = linesOf(security);
  const general = new Set([...Object.keys(security), ...limitNames]);
  const connectionLines = createConnectionLines(clock, keepAliveMs);

  function all({ correlationId, decision, own, type }: Head): Record<string, string> {
    const headers = { ...security, ...limitHeaders(decision), ...own, 'X-Correlation-ID': correlationId };
    return type === undefined ? headers : { ...headers, 'Content-Type': type };
  }

  /** Few answers replace a general header. For all others the general lines are ready. */
  function lines(head: Head): string {
    const { correlationId, decision, own, type } = head;
    let ownLines = '';
    for (const name in own) {
      if (general.has(name)) return linesOf(all(head));
      ownLines += `${name}: ${own[name]}\r\n`;
    }
    const start = `${securityLines}${limitLines(decision)}${ownLines}X-Correlation-ID: ${correlationId}\r\n`;
    return type === undefined ? start : `${start}Content-Type: ${type}\r\n`;
  }

  return {
    forSocket(head, { length, last }) {
      const { status } = head;
      const start = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines(head)}${connectionLines(last)}`;
      if (length === undefined) return `${start}Transfer-Encoding: chunked\r\n\r\n`;
      // A 204 has no Content-Length (RFC 9110, section 8.6).
      return status === 204 ? `${start}\r\n` : `${start}Content-Length: ${length}\r\n\r\n`;
    },
    forNode(head, { length, last }) {
      const pairs = Object.entries(all(head)).flat();
      if (length !== undefined && head.status !== 204) pairs.push('Content-Length', String(length));
      if (last) pairs.push('Connection', 'close');
      return pairs;
    },
  };
}

/** Browsers must show, run and store nothing. A page allows what it needs. */
function securityHeaders(https: boolean): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    ...(https && { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' }),
  };
}

const limitNames = ['RateLimit-Limit', 'RateLimit-Policy', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After'];

/** The limit headers of a decision, and Retry-After on a refusal. */
export function limitHeaders(decision: LimitDecision): Record<string, string> {
  const { limits, remaining } = decision;
  const headers: Record<string, string> = {
    'RateLimit-Limit': String(limits.perMinute),
    'RateLimit-Policy': `"minute";q=${limits.perMinute};w=60, "burst";q=${limits.burst};w=1`,
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(wholeSeconds(decision.resetMs)),
  };
  // A refused request's next free slot is the end of its lockout. A peek refuses nothing, so a 401 has no Retry-After.
  if (decision.retryAfterMs > 0) headers['Retry-After'] = String(wholeSeconds(decision.nextFreeMs));
  return headers;
}

/** Rounds up, so that a caller who waits this long is admitted. */
export function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

const mostCached = 10_000;
/** All callers of a plan share one limits object. Of an admitted request's lines only `remaining` varies. */
const usualLines = new WeakMap<Limits, string[]>();

function limitLines(decision: LimitDecision): string {
  const { limits, remaining } = decision;
  const usual = decision.admitted && decision.nextFreeMs === 0 && decision.resetMs === minuteMs;
  if (!usual || remaining >= mostCached) return linesOf(limitHeaders(decision));
  let cached = usualLines.get(limits);
  if (cached === undefined) {
    cached = [];
    usualLines.set(limits, cached);
  }
  let lines = cached[remaining];
  if (lines === undefined) {
    lines = linesOf(limitHeaders(decision));
    cached[remaining] = lines;
  }
  return lines;
}

/** Builds the Date line once a second; the other lines never change. */
function createConnectionLines(clock: Clock, keepAliveMs: number): (last: boolean) => string {
  const alive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`;
  let second = Number.NaN;
  let date = '';
  let usual = '';
  return (last) => {
    const now = Math.floor(clock.nowMs() / 1000);
    if (now !== second) {
      second = now;
      date = `Date: ${new Date(now * 1000).toUTCString()}\r\n`;
      usual = `${date}${alive}`;
    }
    return last ? `${date}Connection: close\r\n` : usual;
  };
}

function linesOf(headers: Record<string, string>): string {
  let lines = '';
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`;
  return lines;
}
