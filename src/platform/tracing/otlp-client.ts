import { Agent, type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';

/**
 * `retry`: the collector is away or asks to wait. `refused`: it will not take these spans. `reason` holds nothing that the
 * collector wrote.
 */
export type SendOutcome =
  | { outcome: 'taken' }
  | { outcome: 'retry'; reason: string; afterMs: number | undefined }
  | { outcome: 'refused'; reason: string };

export interface OtlpClient {
  /** Never rejects. */
  send(head: Buffer, spans: Buffer): Promise<SendOutcome>;
  close(): void;
}

export interface OtlpClientOptions {
  url: string;
  headers: Record<string, string>;
  nowMs: () => number;
  timeoutMs?: number;
}

const answerWithinMs = 10_000;
/** A collector's answer has a few bytes. A longer or slower one closes the connection. */
const body = { bytes: 16 * 1024, withinMs: 1000 };
const longestWaitMs = 300_000;
/** The statuses after which OTLP asks for a retry. */
const retried = new Set([429, 502, 503, 504]);

/** Posts batches to the collector, one at a time. It follows no redirect and uses no proxy. */
export function createOtlpClient({ url, headers, nowMs, timeoutMs = answerWithinMs }: OtlpClientOptions): OtlpClient {
  const target = new URL(url);
  const isTls = target.protocol === 'https:';
  const shared = { keepAlive: true, maxSockets: 1 };
  const tls = isTls ? new TlsAgent(shared) : undefined;
  const plain = isTls ? undefined : new Agent(shared);

  function begin(length: number): ClientRequest {
    const all = { ...headers, 'content-type': 'application/x-protobuf', 'content-length': length };
    const options = { method: 'POST', headers: all };
    return tls === undefined
      ? requestPlain(target, { ...options, ...(plain && { agent: plain }) })
      : requestTls(target, { ...options, agent: tls });
  }

  return {
    send: (head, spans) =>
      new Promise((done) => {
        const request = begin(head.length + spans.length);
        const away = (reason: string) => {
          clearTimeout(timer);
          request.destroy();
          done({ outcome: 'retry', reason, afterMs: undefined });
        };
        const timer = setTimeout(() => away(`no answer within ${timeoutMs / 1000} s`), timeoutMs);
        request.on('error', (error: NodeJS.ErrnoException) => away(error.code ?? 'the connection failed'));
        request.on('response', (response) => {
          clearTimeout(timer);
          // Answer only now: the next request uses the same connection.
          readToEnd(response, () => done(outcomeOf(response, nowMs())));
        });
        request.write(head);
        request.end(spans);
      }),
    close() {
      plain?.destroy();
      tls?.destroy();
    },
  };
}

/** The status decides. The body is only read so that the connection can be kept. */
function readToEnd(response: IncomingMessage, done: () => void): void {
  let length = 0;
  const timer = setTimeout(() => response.destroy(), body.withinMs);
  response.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length > body.bytes) response.destroy();
  });
  response.on('error', () => {});
  response.on('close', () => {
    clearTimeout(timer);
    done();
  });
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage, nowMs: number): SendOutcome {
  if (statusCode >= 200 && statusCode < 300) return { outcome: 'taken' };
  const reason = `HTTP ${statusCode}`;
  if (!retried.has(statusCode)) return { outcome: 'refused', reason };
  return { outcome: 'retry', reason, afterMs: readRetryAfter(headers['retry-after'], nowMs) };
}

/** Seconds or a date (RFC 9110, section 10.2.3), and not longer than five minutes. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.length > 40) return undefined;
  const isSeconds = /^\d{1,9}$/.test(header);
  // JavaScript reads many other texts as dates.
  if (!isSeconds && !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} /.test(header)) return undefined;
  const ms = isSeconds ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(longestWaitMs, Math.max(0, ms));
}
