import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { wellFormedCorrelationId } from './headers.ts';

/** One line and one observation a request: the route's pattern and the outcome, nothing the caller wrote. */
export function logRequest(request: FastifyRequest, reply: FastifyReply, log: Log, metrics: Metrics): void {
  const route = request.routeOptions.config?.route;
  const pattern = route?.path ?? 'unknown';
  const ms = Math.round(reply.elapsedTime * 10) / 10;
  metrics.observeRequest(route === undefined ? 'ANY' : request.method, pattern, reply.statusCode, ms / 1000);
  const given = wellFormedCorrelationId(request.headers['x-correlation-id']);
  log[reply.statusCode >= 500 ? 'error' : 'info']({
    method: request.method,
    route: pattern,
    status: reply.statusCode,
    ms,
    correlation_id: request.id,
    ...(request.caller?.kind === 'application' && { application_id: request.caller.applicationId }),
    ...(given !== undefined && { caller_correlation_id: given }),
  });
}

/** An error of the database's own quotes the row it failed on: only its code goes to the log. */
export function safeError(error: unknown): object {
  if (!(error instanceof Error)) return { name: 'Error', message: `something of type ${typeof error} was thrown` };
  const { name, message, stack, code, constraint } = error as Error & { code?: string; constraint?: string };
  const told = /^[0-9A-Z]{5}$/.test(code ?? '') ? `database error ${code} ${constraint ?? ''}`.trimEnd() : message;
  // The stack repeats the message above its frames, and a message may have several lines.
  const frames = stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return { name, message: told, stack: [`${name}: ${told}`, ...frames].join('\n') };
}
