import type { TableSize } from './tables.ts';

/** Everything that was watched at one moment. A value that this machine does not report is undefined. */
export interface Sample {
  atMs: number;
  /** The fault that was injected at that moment. */
  fault: string | undefined;
  /** Of the service, with the processes it has started. */
  residentBytes: number | undefined;
  /** Of its main thread: objects, and what they hold outside of the heap. */
  heapBytes: number;
  descriptors: number | undefined;
  /** The 99th percentile since the sample before. */
  lagMs: number;
  postgresBytes: number | undefined;
  postgresProcesses: number | undefined;
  /** Requests a second since the sample before. */
  perSecond: number;
  /** By operation, since the sample before. */
  times: Partial<Record<string, { count: number; p50: number; p99: number }>>;
  cpu: { service: number; postgres: number; load: number };
}

export interface SizeSample {
  atMs: number;
  tables: TableSize[];
}

/** What a run has found; the verdict is made of nothing else. */
export interface Watched {
  samples: Sample[];
  sizes: SizeSample[];
}

/** The value of a metric without labels, of the Prometheus text format. */
export function readMetric(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}
