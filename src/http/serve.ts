import type { ApiError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { readApiError } from './error-reply.ts';
import type { AnswerParts, Exchange } from './exchange.ts';
import type { Admission, Gate } from './gate.ts';
import { refuseBody } from './headers.ts';
import { safeError } from './request-log.ts';
import type { RouteTable } from './route-table.ts';
import type { AnswerWriter } from './write-answer.ts';

export interface ServeOptions {
  gate: Gate;
  table: RouteTable;
  writer: AnswerWriter;
  log: Log;
}

export interface Serve {
  /** Takes a request, once its headers are read, through all steps to its answer. */
  receive(exchange: Exchange): void;
  /** Answers a request at once; a later answer of its handler is dropped. */
  refuse(exchange: Exchange, error: unknown): void;
}

/**
 * The steps of every request: route, gate, message faults, body, handler, answer. It awaits only real promises, so a
 * request that never waits is answered in the turn it arrived.
 */
export function createServe({ gate, table, writer, log }: ServeOptions): Serve {
  function receive(exchange: Exchange): void {
    try {
      const match = table.find(exchange.method, exchange.path);
      if (match !== undefined) {
        exchange.route = match.route;
        exchange.params = match.params;
      }
      const admission = gate.admit(exchange);
      if (admission instanceof Promise) goOn(exchange, admission, enter);
      else enter(exchange, admission);
    } catch (error) {
      refuse(exchange, error);
    }
  }

  function enter(exchange: Exchange, admission: Admission): void {
    // The body broke off while the gate decided, and the request was answered.
    if (exchange.status !== 0) return;
    exchange.admission = admission;
    const refusal = admission.refusal ?? exchange.fault() ?? refuseRequest(exchange);
    if (refusal !== undefined) {
      refuse(exchange, refusal);
      return;
    }
    const body = hasBody(exchange) ? exchange.readBody() : undefined;
    if (body instanceof Promise) goOn(exchange, body, run);
    else run(exchange, body);
  }

  function refuseRequest(exchange: Exchange): ApiError | undefined {
    const { route, path } = exchange;
    return route === undefined ? table.refuse(path) : refuseBody(exchange, route);
  }

  function run(exchange: Exchange, body: Buffer | undefined): void {
    const parts = exchange.route?.run(exchange, body);
    if (parts === undefined) throw new Error('a request without a route was let in');
    if (parts instanceof Promise) goOn(exchange, parts, answer);
    else answer(exchange, parts);
  }

  function answer(exchange: Exchange, parts: AnswerParts): void {
    writer.answer(exchange, parts);
  }

  function goOn<Value>(
    exchange: Exchange,
    promise: Promise<Value>,
    next: (exchange: Exchange, value: Value) => void,
  ): void {
    promise
      .then((value) => next(exchange, value))
      .catch((error: unknown) => {
        refuse(exchange, error);
      });
  }

  function refuse(exchange: Exchange, error: unknown): void {
    const refusal = readApiError(error);
    if (refusal.status === 500) {
      const told = { err: safeError(refusal.cause ?? refusal), correlation_id: exchange.correlationId };
      log.error(told, 'unexpected error');
    }
    writer.refuse(exchange, refusal);
  }

  return { receive, refuse };
}

/** The body of a GET has no meaning (RFC 9110, section 9.3.1). */
function hasBody({ method, headers }: Exchange): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
