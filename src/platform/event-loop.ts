import { performance } from 'node:perf_hooks';

/** How long this process has waited, in all, for something to happen. While it grows, nothing lies about unread. */
export function waitedMs(): number {
  return performance.nodeTiming.idleTime;
}
