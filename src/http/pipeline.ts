import { Readable } from 'node:stream';
import { minuteMs } from '../platform/clock.ts';
import type { ApiError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { Admission, Gateway, LimitDecision } from './admission.ts';
import { readApiError, refusalParts, safeError } from './error-reply.ts';
import type { AnswerParts, Exchange } from './exchange.ts';
import { createHead } from './head.ts';
import type { HelpLinks } from './help-links.ts';
import { refuseBody } from './request/headers.ts';
import type { RequestSpans } from './request-spans.ts';
import type { RouteTable } from './route-table.ts';

export interface PipelineOptions {
  gateway: Gateway;
  table: RouteTable;
  log: Log;
  help: HelpLinks;
  /** Undefined unless requests are traced. */
  spans?: RequestSpans | undefined;
  /** Called once for every request, after its answer. `location` names the record that it created. */
  onEnd: (exchange: Exchange, location: string | undefined) => void;
}

/**
 * The steps of every request: route, gateway, message faults, body, handler, answer. It awaits only real promises, so a
 * request that never waits is answered in the turn it arrived.
 */
export function createPipeline({ gateway, table, log, help, spans, onEnd }: PipelineOptions) {
  function receive(exchange: Exchange): void {
    try {
      const match = table.find(exchange.method, exchange.path);
      if (match !== undefined) {
        exchange.route = match.route;
        exchange.params = match.params;
      }
      const admission = gateway.admit(exchange);
      if (admission instanceof Promise) goOn(exchange, admission, enter);
      else enter(exchange, admission);
    } catch (error) {
      refuse(exchange, error);
    }
  }

  function enter(exchange: Exchange, admission: Admission): void {
    // The body broke off while the gateway decided, and the request was refused.
    if (exchange.status !== 0 || exchange.refusal !== undefined) return;
    exchange.admission = admission;
    spans?.enter(exchange);
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
    exchange.span?.beginService();
    const parts = exchange.route?.run(exchange, body);
    if (parts === undefined) throw new Error('a request without a route was admitted');
    if (parts instanceof Promise) goOn(exchange, parts, answer);
    else answer(exchange, parts);
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
      const fields = { err: safeError(refusal.cause ?? refusal), correlation_id: exchange.correlationId };
      log.error(fields, 'unexpected error');
    }
    // The first answer counts; this refusal comes too late.
    if (exchange.status !== 0) return;
    exchange.refusal = refusal;
    exchange.isUnserved = refusal.status === 503;
    const { path, route, correlationId } = exchange;
    const errors = route === undefined ? table.errorsAt(path) : route.errors;
    const parts = refusalParts(refusal, { errors, correlationId, help });
    const decision = standingAfter(exchange);
    if (decision instanceof Promise) {
      void decision.then((made) => exchange.status === 0 && send(exchange, parts, afterRefusal(made, refusal)));
    } else {
      send(exchange, parts, afterRefusal(decision, refusal));
    }
  }

  /** An admitted request that is not served gets its slot back. Before the gateway decided, the address's limits apply. */
  function standingAfter({ admission, address, isUnserved }: Exchange): LimitDecision | Promise<LimitDecision> {
    if (admission === undefined) return gateway.peek(address);
    return isUnserved ? gateway.giveBack(admission) : admission.decision;
  }

  function answer(exchange: Exchange, parts: AnswerParts): void {
    const { admission } = exchange;
    if (exchange.status !== 0 || admission === undefined) {
      if (parts.data instanceof Readable) parts.data.destroy();
    } else if (exchange.isUnserved) {
      void Promise.resolve(standingAfter(exchange)).then(
        (decision) => exchange.status === 0 && send(exchange, parts, decision),
      );
    } else send(exchange, parts, admission.decision);
  }

  function send(exchange: Exchange, parts: AnswerParts, decision: LimitDecision): void {
    const { status, headers, type, data } = parts;
    const { correlationId } = exchange;
    const head = createHead({ status, correlationId, decision, own: headers, type });
    exchange.status = status;
    const sending = exchange.send(head, data);
    if (sending === undefined) onEnd(exchange, headers.Location);
    else void sending.then(() => onEnd(exchange, headers.Location));
  }

  return {
    /** Takes a request, once its headers are read, through all steps to its answer. */
    receive /** Answers a request at once; a later answer of its handler is dropped. */,
    refuse,
  };
}

/** A limit behind the edge refused: its wait replaces the edge's. The minute window runs on, so report the later end. */
function afterRefusal(decision: LimitDecision, { status, retryAfterMs }: ApiError): LimitDecision {
  if (status !== 429 || retryAfterMs === undefined) return decision;
  const resetMs = Math.max(minuteMs, retryAfterMs);
  return { ...decision, remaining: 0, resetMs, nextFreeMs: retryAfterMs, retryAfterMs };
}

/** The body of a GET has no meaning (RFC 9110, section 9.3.1). */
function hasBody({ method, headers }: Exchange): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
