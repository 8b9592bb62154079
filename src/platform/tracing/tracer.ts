import type { Clock } from '../clock.ts';
import { randomHex } from '../crypto/random.ts';
import type { Log } from '../log.ts';
import { createExporter, type SpanCount } from './exporter.ts';
import { createSampler, type SamplerSettings } from './sampler.ts';
import type { EndedSpan } from './span.ts';
import { newSpanId, newTraceId, readKept, type SpanIds, type SpanPlace, type TraceParent } from './trace-context.ts';

/** The settings in the `OTEL_…` variables. */
export interface TracingSettings {
  /** The address that takes traces. */
  url: string;
  headers: Record<string, string>;
  /** `service.name` and the operator's other attributes. */
  resource: Record<string, string>;
  sampler: SamplerSettings;
}

/** Makes the spans of one process or thread. Not created without tracing settings. */
export interface Tracer {
  /** The ids of a request's first span in this service; undefined if its trace is not sampled. */
  enter(parent: TraceParent | undefined, caller: string): SpanIds | undefined;
  /** The ids of a new child span. */
  below(place: SpanPlace): SpanIds;
  /** Like `below`, for a parent that a row stores, as `toKept` wrote it. Undefined without a parent. */
  belowKept(kept: string | null | undefined): SpanIds | undefined;
  end(span: EndedSpan): void;
  /** Sets how to read the number of answering processes on all nodes: they share the traces that a caller may ask for. */
  shareAmong(live: () => number): void;
  stop(): Promise<void>;
}

export interface TracerOptions {
  settings: TracingSettings;
  clock: Clock;
  log: Log;
  version: string;
  /** How many processes answer requests on this node. */
  processes: number;
  onCount: (name: SpanCount, by: number) => void;
}

export function createTracer({ settings, clock, processes, ...options }: TracerOptions): Tracer {
  let live = () => 1;
  const sampler = createSampler(settings.sampler, clock, () => Math.max(processes, live()));
  const resource = new Map(Object.entries(settings.resource));
  resource.set('service.version', resource.get('service.version') ?? options.version);
  resource.set('service.instance.id', resource.get('service.instance.id') ?? randomHex(8));
  const exporter = createExporter({ ...options, ...settings, clock, resource });
  const below = ({ traceId, spanId }: SpanPlace): SpanIds => ({ traceId, spanId: newSpanId(), parentId: spanId });

  return {
    enter(parent, caller) {
      if (!sampler.isSampled(parent, caller)) return undefined;
      if (parent !== undefined) return { ...below(parent), isRemote: true };
      return { traceId: newTraceId(), spanId: newSpanId(), parentId: '' };
    },
    below,
    belowKept(kept) {
      const place = kept == null ? undefined : readKept(kept);
      return place && below(place);
    },
    end: exporter.add,
    shareAmong(given) {
      live = given;
    },
    stop: () => exporter.stop(),
  };
}
