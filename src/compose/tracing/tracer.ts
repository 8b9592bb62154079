import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { SpanCount } from '../../platform/tracing/exporter.ts';
import { createTracer, type Tracer } from '../../platform/tracing/tracer.ts';
import type { Config } from '../../settings/settings.ts';

export interface TracingParts {
  config: Pick<Config, 'tracing' | 'processes'>;
  clock: Clock;
  log: Log;
  version: string;
  onCount: (name: SpanCount, by: number) => void;
}

/** Undefined without a collector: then no part makes a span. */
export function composeTracing({ config, ...parts }: TracingParts): Tracer | undefined {
  const { tracing: settings, processes } = config;
  return settings && createTracer({ ...parts, settings, processes });
}
