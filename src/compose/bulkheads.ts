import type { Bulkheads } from '../http/mount.ts';
import { createFairShare } from '../platform/fair-share.ts';
import type { Foundation } from './foundation.ts';

/** Limits how many requests of one caller run at once, where work is not batched (decision 0008). */
export function composeBulkheads({ metrics }: Foundation): Bulkheads {
  const side = createFairShare({ concurrent: 4, perCaller: 2, waitingPerCaller: 100, waitMs: 2000 });
  const single = createFairShare({ concurrent: 5, perCaller: 3, waitingPerCaller: 1000, waitMs: 2000 });
  // They wait for other machines, so many may run at once; a caller whose machines are dead holds up its own requests.
  const outside = createFairShare({ concurrent: 100, perCaller: 3, waitingPerCaller: 20, waitMs: 5000 });
  metrics.gauge('heliograph_side_requests', 'Portal, list and report requests in progress', () => side.running);
  metrics.gauge('heliograph_side_requests_waiting', 'Portal, list and report requests queued', () => side.waiting);
  return { side, single, outside };
}
