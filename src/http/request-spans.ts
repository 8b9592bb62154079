import type { Clock } from '../platform/clock.ts';
import type { SpanAttributes } from '../platform/tracing/span.ts';
import { readTraceparent, type SpanIds, toKept } from '../platform/tracing/trace-context.ts';
import type { Tracer } from '../platform/tracing/tracer.ts';
import type { Exchange, RequestSpan } from './exchange.ts';
import type { Caller } from './route.ts';

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
    if (ids !== undefined) exchange.span = new SampledRequest(tracer, clock, exchange, ids);
  }

  return {
    enter(exchange) {
      const { admission } = exchange;
      if (admission === undefined) return;
      const { charge } = admission;
      // A hook is identified when its proof is right, and that charges its registration.
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

/** Who may ask for traces; undefined for those who are not identified. */
function callerOf(caller: Caller | undefined): string | undefined {
  if (caller?.kind === 'application') return caller.applicationId;
  return caller?.kind === 'developer' ? caller.accountId : undefined;
}

/** The span of a sampled request. */
class SampledRequest implements RequestSpan {
  readonly #tracer: Tracer;
  readonly #clock: Clock;
  readonly #ids: SpanIds;
  readonly #service: SpanIds;
  readonly #startedMs: number;
  #servedFromMs: number | undefined;

  constructor(tracer: Tracer, clock: Clock, { startedMs }: Exchange, ids: SpanIds) {
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
      attributes: {},
    });
  }

  get traceId(): string {
    return this.#ids.traceId;
  }

  get kept(): string {
    return toKept(this.#ids);
  }

  note(name: string, startMs: number, attributes: SpanAttributes = {}): void {
    const ids = this.#tracer.below(this.#service);
    this.#tracer.end({ ids, name, kind: 'internal', startMs, endMs: this.#clock.steadyMs(), attributes });
  }

  beginService(): void {
    this.#servedFromMs = this.#clock.steadyMs();
  }

  /** Ends the spans of the request and its service, when the answer is written. */
  end({ correlationId, method, route, status, admission, refusal }: Exchange): void {
    const endMs = this.#clock.steadyMs();
    const failed = status >= 500;
    const startMs = this.#servedFromMs;
    if (startMs !== undefined) {
      const attributes = { 'error.type': refusal?.code };
      this.#tracer.end({ ids: this.#service, name: 'service', kind: 'internal', startMs, endMs, attributes, failed });
    }
    const caller = admission?.caller;
    const verb = route === undefined ? '_OTHER' : method;
    const attributes: SpanAttributes = {
      'http.request.method': verb,
      'http.route': route?.path,
      'http.response.status_code': status,
      'error.type': refusal?.code,
      'heliograph.correlation_id': correlationId,
      'heliograph.application_id': caller?.kind === 'application' ? caller.applicationId : undefined,
      'heliograph.api': caller?.kind === 'application' ? caller.api : undefined,
    };
    const name = route === undefined ? verb : `${verb} ${route.path}`;
    const ids = this.#ids;
    this.#tracer.end({ ids, name, kind: 'server', startMs: this.#startedMs, endMs, attributes, failed });
  }
}
