import { performance } from 'node:perf_hooks';

/** Total idle time of the event loop. If it grew, the process had handled every pending event. */
export function waitedMs(): number {
  return performance.nodeTiming.idleTime;
}
