import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { ownCopy } from '../platform/own-copy.ts';
import type { Exchange } from './exchange.ts';
import { logRequest } from './request-log.ts';

export interface AnsweredOptions {
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** The record that a request's path or answer names. */
export interface About {
  id: string | undefined;
  location: string | undefined;
}

/** Runs after every answer: writes the log line and the metric, and the trace if a registration's limits decided. */
export function createAnswered({ clock, log, metrics }: AnsweredOptions) {
  return (exchange: Exchange, { id, location }: About): void => {
    const { correlationId, method, status, route, admission, refusal } = exchange;
    const durationMs = clock.steadyMs() - exchange.startedMs;
    logRequest(exchange, Math.round(durationMs * 10) / 10, log, metrics);
    if (admission?.decision === undefined) return;
    const { decision, meter } = admission;
    meter?.note({
      correlationId,
      decision,
      method,
      path: route?.path,
      status,
      refusal,
      durationMs,
      id: id && ownCopy(id),
      location,
    });
  };
}
