import { Readable } from 'node:stream';
import type { ApiError } from '../platform/errors.ts';
import type { About } from './answered.ts';
import { refusalBody } from './error-reply.ts';
import type { AnswerParts, Exchange } from './exchange.ts';
import type { Gate } from './gate.ts';
import { linesOf, withHeaders } from './header-lines.ts';
import type { RouteTable } from './route-table.ts';

export interface WriteAnswerOptions {
  gate: Gate;
  securityHeaders: Record<string, string>;
  errorsAt: RouteTable['errorsAt'];
  onAnswered: (exchange: Exchange, about: About) => void;
}

export interface AnswerWriter {
  answer(exchange: Exchange, parts: AnswerParts): void;
  refuse(exchange: Exchange, refusal: ApiError): void;
}

/** The only place that answers requests. So every answer has a correlation id, limit headers and a log line. */
export function createAnswerWriter({ gate, securityHeaders, errorsAt, onAnswered }: WriteAnswerOptions): AnswerWriter {
  const securityLines = linesOf(securityHeaders);

  function headFor(exchange: Exchange, { headers, type }: AnswerParts): string {
    const { correlationId, admission } = exchange;
    const limitLines = admission?.limitLines ?? gate.linesForUnreadable(exchange.address);
    // An answer's own headers win: a page sets its CSP and caching, a throttled sign-in its own RateLimit values.
    let head = withHeaders(securityLines + limitLines, headers);
    head += `X-Correlation-ID: ${correlationId}\r\n`;
    if (type !== undefined) head += `Content-Type: ${type}\r\n`;
    return head;
  }

  function answer(exchange: Exchange, parts: AnswerParts): void {
    // Already answered: the body broke off, or the caller disconnected.
    if (exchange.status !== 0) {
      if (parts.data instanceof Readable) parts.data.destroy();
      return;
    }
    const head = headFor(exchange, parts);
    exchange.status = parts.status;
    const about = { id: exchange.params.id, location: parts.headers.Location };
    const sending = exchange.send(parts.status, head, parts.data);
    if (sending === undefined) onAnswered(exchange, about);
    else void sending.then(() => onAnswered(exchange, about));
  }

  return {
    answer,
    refuse(exchange, refusal) {
      exchange.refusal = refusal;
      const { path, route, correlationId } = exchange;
      const errors = route === undefined ? errorsAt(path) : route.errors;
      const { status, body } = refusalBody(refusal, errors, correlationId);
      const type = 'application/json; charset=utf-8';
      answer(exchange, { status, headers: refusal.headers, type, data: JSON.stringify(body) });
    },
  };
}
