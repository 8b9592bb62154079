import { createNodeWindows } from '../edge/node-windows.ts';
import { createMetrics } from '../platform/metrics/metrics.ts';
import type { AppOptions } from './app-interface.ts';
import type { Foundation } from './foundation.ts';
import { composeTracing } from './tracing.ts';

/** Adds what the app makes itself, unless it was given. */
export function openFoundation(options: AppOptions): Foundation {
  const { config, clock, log, version, metrics = createMetrics() } = options;
  const windows = options.windows ?? createNodeWindows(clock, metrics);
  const tracer = composeTracing({ config, clock, log, version, onCount: metrics.countSpans });
  return { ...options, metrics, windows, tracer };
}
