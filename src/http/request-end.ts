import type { Clock } from '../platform/clock.ts';
import { type Log, writeLine } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import { ownedText } from '../platform/owned-text.ts';
import type { CountedRequest } from './admission.ts';
import type { Exchange } from './exchange.ts';
import { wellFormedCorrelationId } from './request/headers.ts';

export interface RequestEndOptions {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Called once for each request that a registration's limits decided. */
  onCounted: (request: CountedRequest) => void;
}

/** Runs once after every answer: a metric, a log line, and metering for counted requests. */
export function createRequestEnd({ clock, log, metrics, onCounted }: RequestEndOptions) {
  return (exchange: Exchange, location: string | undefined): void => {
    const { correlationId, method, status, isUnserved, route, admission, refusal, outcome, params, span } = exchange;
    span?.end(exchange);
    const durationMs = clock.steadyMs() - exchange.startedMs;
    metrics.observeRequest(route === undefined ? 'ANY' : method, route?.path ?? 'unknown', status, durationMs / 1000);
    writeLine(log, status >= 500 ? 'error' : log.routine, logFields(exchange, durationMs));
    if (admission === undefined || !admission.counted || admission.caller.kind !== 'application') return;
    const { caller, decision } = admission;
    const id = params.id ? ownedText(params.id) : undefined;
    const path = route?.path;
    const traceId = span?.traceId;
    // One literal for all requests: spreading it into another for sampled ones costs more than a span.
    onCounted({
      caller,
      correlationId,
      decision,
      method,
      path,
      status,
      isUnserved,
      refusal,
      outcome,
      durationMs,
      id,
      location,
      traceId,
    });
  };
}

/**
 * The fields of a log line, as JSON: route pattern and outcome. They need no escaping: HTTP limits a method to token
 * characters, and we check those of the caller's correlation id.
 */
function logFields(exchange: Exchange, durationMs: number): string {
  const { correlationId, method, headers, status, route, admission, span } = exchange;
  const ms = Math.round(durationMs * 10) / 10;
  let fields = `"method":"${method}","route":"${route?.path ?? 'unknown'}","status":${status},"ms":${ms},"correlation_id":"${correlationId}"`;
  if (admission?.caller.kind === 'application') fields += `,"application_id":"${admission.caller.applicationId}"`;
  const given = wellFormedCorrelationId(headers['x-correlation-id']);
  if (given !== undefined) fields += `,"caller_correlation_id":"${given}"`;
  if (span !== undefined) fields += `,"trace_id":"${span.traceId}"`;
  return fields;
}
