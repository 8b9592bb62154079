import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { ApiError } from '../platform/errors.ts';
import type { About } from './answered.ts';
import type { Connections } from './connections.ts';
import { refusalBody } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import type { Gate } from './gate.ts';
import { closeGentlyAfterAnswer } from './raw-socket.ts';
import { pathOf, type RouteTable } from './route-table.ts';

export interface AnswerParts {
  status: number;
  headers: Record<string, string>;
  /** The media type; undefined for an answer without a body. */
  type: string | undefined;
  data: string | Buffer | Readable;
}

export interface WriteAnswerOptions {
  gate: Gate;
  connections: Connections;
  securityHeaders: Record<string, string>;
  addressOf: (request: IncomingMessage) => string;
  errorsAt: RouteTable['errorsAt'];
  onAnswered: (exchange: Exchange, about: About) => void;
}

export interface AnswerWriter {
  answer(exchange: Exchange, parts: AnswerParts, about?: About): void;
  refuse(exchange: Exchange, refusal: ApiError): void;
}

/**
 * The one place that answers, whoever decided what: so every answer has its correlation id, its limit headers and its
 * line in the log. The headers go to Node as the flat list it likes best.
 */
export function createAnswerWriter(options: WriteAnswerOptions): AnswerWriter {
  const { gate, connections, addressOf, onAnswered } = options;
  const fixedHeaders = Object.entries(options.securityHeaders);

  function headersFor(exchange: Exchange, { status, headers, type, data }: AnswerParts): string[] {
    const { correlationId, request, admission } = exchange;
    const list: string[] = [];
    // An answer has the last word: a page on what it may do and how long it is kept, a throttled sign-in on what remains.
    for (const [name, value] of fixedHeaders) if (headers[name] === undefined) list.push(name, value);
    list.push('X-Correlation-ID', correlationId);
    const limitHeaders = admission?.limitHeaders ?? gate.headersForUnreadable(addressOf(request));
    for (const name in limitHeaders) if (headers[name] === undefined) list.push(name, limitHeaders[name] ?? '');
    for (const name in headers) list.push(name, headers[name] ?? '');
    if (type !== undefined) list.push('Content-Type', type);
    if (!(data instanceof Readable) && status !== 204) list.push('Content-Length', String(Buffer.byteLength(data)));
    if (connections.endsWith(request)) list.push('Connection', 'close');
    return list;
  }

  function answer(exchange: Exchange, parts: AnswerParts, about: About = {}): void {
    const { request, response } = exchange;
    // Somebody was faster: its body broke off, or its caller has gone.
    if (response.headersSent) {
      if (parts.data instanceof Readable) parts.data.destroy();
      return;
    }
    // Whoever still sends its body comes to read its answer.
    if (!request.complete) closeGentlyAfterAnswer(request.socket);
    response.writeHead(parts.status, headersFor(exchange, parts));
    if (parts.data instanceof Readable) {
      response.flushHeaders();
      pipeline(parts.data, response, () => finish(exchange, about));
      return;
    }
    response.end(parts.data);
    finish(exchange, about);
  }

  function finish(exchange: Exchange, about: About): void {
    const { request, response } = exchange;
    if (request.complete && response.writableFinished) connections.end(exchange);
    else response.once('close', () => connections.end(exchange));
    onAnswered(exchange, about);
  }

  return {
    answer,
    refuse(exchange, refusal) {
      exchange.refusal = refusal;
      const { request, route, correlationId } = exchange;
      const errors = route === undefined ? options.errorsAt(pathOf(request.url ?? '')) : route.errors;
      const { status, body } = refusalBody(refusal, errors, correlationId);
      const type = 'application/json; charset=utf-8';
      answer(exchange, { status, headers: refusal.headers, type, data: JSON.stringify(body) });
    },
  };
}
