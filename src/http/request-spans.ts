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
  finish(name: string, { status, refusal, ...about }: AnsweredRequest): void {
    const endMs = this.#clock.steadyMs();
    const failed = status >= 500;
    const startMs = this.#servedFromMs;
    const errorType = { 'error.type': refusal?.code };
    if (startMs !== undefined) {
      const service = { ids: this.#service, name: 'service', kind: 'internal' } as const;
      this.#tracer.end({ ...service, startMs, endMs, attributes: errorType, failed });
    }
    const attributes: SpanAttributes = {
      ...about.attributes,
      ...errorType,
      'heliograph.correlation_id': about.correlationId,
      'heliograph.application_id': about.caller?.applicationId,
      'heliograph.api': about.caller?.api,
    };
    const ids = this.#ids;
    this.#tracer.end({ ids, name, kind: 'server', startMs: this.#startedMs, endMs, attributes, failed });
  }
}

interface AnsweredRequest {
  /** The status of HTTP that says the same. */
  status: number;
  refusal: ApiError | undefined;
  correlationId: string;
  caller: Pick<CallingApplication, 'applicationId' | 'api'> | undefined;
  attributes?: SpanAttributes;
}

class SampledExchange extends SampledRequest implements RequestSpan {
  end({ correlationId, method, route, status, admission, refusal }: Exchange): void {
    const caller = admission?.caller.kind === 'application' ? admission.caller : undefined;
    const verb = route === undefined ? '_OTHER' : method;
    const attributes: SpanAttributes = {
      'http.request.method': verb,
      'http.route': route?.path,
      'http.response.status_code': status,
    };
    const name = route === undefined ? verb : `${verb} ${route.path}`;
    this.finish(name, { status, refusal, correlationId, caller, attributes });
  }
}
