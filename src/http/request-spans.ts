import type { Clock } from '../platform/clock.ts';
import type { ApiError } from '../platform/errors.ts';
import type { SpanAttributes } from '../platform/tracing/span.ts';
import { readTraceparent, type SpanIds, toKept } from '../platform/tracing/trace-context.ts';
import type { Tracer } from '../platform/tracing/tracer.ts';
import type { Exchange, RequestSpan } from './exchange.ts';
import type { Caller, CallingApplication, RequestTrace } from './route.ts';

/** Traces requests: one span for each, with the edge and the service below it. */
export interface RequestSpans {
  /** Called when the gateway has decided. Requests of callers that are not identified are not traced. */
  enter(exchange: Exchange): void;
}

export function createRequestSpans(tracer: Tracer, clock: Clock): RequestSpans {
  function decide(exchange: Exchange): void {
    const caller = callerOf(exchange.admission?.caller);
    if (caller === undefined || exchange.span !== undefined) return;
    const ids = tracer.enter(readTraceparent(exchange.headers.traceparent), caller);
    if (ids !== undefined) exchange.span = new SampledExchange(tracer, clock, exchange.startedMs, ids);
  }

  return {
    enter(exchange) {
      const { admission } = exchange;
      if (admission === undefined) return;
      const { charge } = admission;
      // A hook's caller is known only after its proof was checked, when `charge` is called.
      if (charge === undefined || admission.caller.kind !== 'anonymous') decide(exchange);
      else
        admission.charge = async (proved) => {
          const charged = await charge(proved);
          decide(exchange);
          exchange.span?.beginService();
          return charged;
        };
    },
  };
}

/** The id by which a caller's traces are limited; undefined for callers that are not identified. */
function callerOf(caller: Caller | undefined): string | undefined {
  if (caller?.kind === 'application') return caller.applicationId;
  return caller?.kind === 'developer' ? caller.accountId : undefined;
}

const none: SpanAttributes = {};

/** The span of a sampled request, by HTTP or by SMPP, with the edge and the service below it. */
export class SampledRequest implements RequestTrace {
  readonly #tracer: Tracer;
  readonly #clock: Clock;
  readonly #ids: SpanIds;
  readonly #service: SpanIds;
  readonly #startedMs: number;
  #servedFromMs: number | undefined;

  constructor(tracer: Tracer, clock: Clock, startedMs: number, ids: SpanIds) {
    this.#tracer = tracer;
    this.#clock = clock;
    this.#ids = ids;
    this.#service = tracer.below(ids);
    this.#startedMs = startedMs;
    tracer.end({
      ids: tracer.below(ids),
      name: 'edge',
      kind: 'internal',
      startMs: startedMs,
      endMs: clock.steadyMs(),
      attributes: none,
      failed: false,
    });
  }

  get traceId(): string {
    return this.#ids.traceId;
  }

  get kept(): string {
    return toKept(this.#ids);
  }

  note(name: string, startMs: number, attributes: SpanAttributes = none): void {
    const ids = this.#tracer.below(this.#service);
    const endMs = this.#clock.steadyMs();
    this.#tracer.end({ ids, name, kind: 'internal', startMs, endMs, attributes, failed: false });
  }

  beginService(): void {
    this.#servedFromMs = this.#clock.steadyMs();
  }

  /**
   * Ends the spans of the request and its service, when the answer is written. Each is one literal: spreading an object
   * into another costs as much as three spans.
   */
  finish(name: string, { status, refusal, correlationId, caller, method, route }: AnsweredRequest): void {
    const endMs = this.#clock.steadyMs();
    const failed = status >= 500;
    const startMs = this.#servedFromMs;
    const errorType = refusal?.code;
    if (startMs !== undefined) {
      const attributes: SpanAttributes = { 'error.type': errorType };
      this.#tracer.end({ ids: this.#service, name: 'service', kind: 'internal', startMs, endMs, attributes, failed });
    }
    const attributes: SpanAttributes = {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': method === undefined ? undefined : status,
      'error.type': errorType,
      'heliograph.correlation_id': correlationId,
      'heliograph.application_id': caller?.applicationId,
      'heliograph.api': caller?.api,
    };
    const ids = this.#ids;
    this.#tracer.end({ ids, name, kind: 'server', startMs: this.#startedMs, endMs, attributes, failed });
  }
}

interface AnsweredRequest {
  /** The HTTP status; for SMPP, the one with the same meaning. */
  status: number;
  refusal: ApiError | undefined;
  correlationId: string;
  caller: Pick<CallingApplication, 'applicationId' | 'api'> | undefined;
  /** Absent for SMPP. */
  method?: string;
  route?: string | undefined;
}

class SampledExchange extends SampledRequest implements RequestSpan {
  end({ correlationId, method, route, status, admission, refusal }: Exchange): void {
    const caller = admission?.caller.kind === 'application' ? admission.caller : undefined;
    const verb = route === undefined ? '_OTHER' : method;
    const path = route?.path;
    const name = path === undefined ? verb : `${verb} ${path}`;
    this.finish(name, { status, refusal, correlationId, caller, method: verb, route: path });
  }
}
