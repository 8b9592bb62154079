import { type Log, writeLine } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Exchange } from './exchange.ts';
import { wellFormedCorrelationId } from './headers.ts';

/**
 * Writes one log line and one metric per request: route pattern and outcome. It needs no escaping: HTTP limits a method
 * to token characters, and we check those of the caller's correlation id.
 */
export function logRequest(exchange: Exchange, ms: number, log: Log, metrics: Metrics): void {
  const { correlationId, method, headers, status, route, admission } = exchange;
  const pattern = route?.path ?? 'unknown';
  metrics.observeRequest(route === undefined ? 'ANY' : method, pattern, status, ms / 1000);
  let fields = `"method":"${method}","route":"${pattern}","status":${status},"ms":${ms},"correlation_id":"${correlationId}"`;
  if (admission?.caller.kind === 'application') fields += `,"application_id":"${admission.caller.applicationId}"`;
  const given = wellFormedCorrelationId(headers['x-correlation-id']);
  if (given !== undefined) fields += `,"caller_correlation_id":"${given}"`;
  writeLine(log, status >= 500 ? 'error' : 'info', fields);
}

/** Postgres errors quote the failed row, so log only their code. */
export function safeError(error: unknown): object {
  if (!(error instanceof Error)) return { name: 'Error', message: `something of type ${typeof error} was thrown` };
  const { name, message, stack, code, constraint } = error as Error & { code?: string; constraint?: string };
  const told = /^[0-9A-Z]{5}$/.test(code ?? '') ? `database error ${code} ${constraint ?? ''}`.trimEnd() : message;
  // The stack repeats the message, possibly over several lines; keep only the frames.
  const frames = stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return { name, message: told, stack: [`${name}: ${told}`, ...frames].join('\n') };
}
