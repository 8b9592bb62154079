import type { Bulkheads } from '../http/mount.ts';
import { leastRoom } from '../http/queue-place.ts';
import { webPools } from '../platform/database/pool-sizes.ts';
import { createFairShare, type FairShareOptions } from '../platform/work/fair-share.ts';
import type { Foundation } from './foundation.ts';

/** Limits how many requests of one caller run at once, where work is not batched (decision 0008). */
export function composeBulkheads({ config, metrics }: Foundation): Bulkheads {
  const pools = webPools(config.processes);
  // Two connections stay free for sessions and metering.
  const side = createFairShare({
    ...halfForOne(pools.side - 2),
    waitingPerCaller: leastRoom,
    waitingInAll: 20_000,
    waitMs: 4000,
  });
  // These wait for other machines, so 100 may run at once. A caller with dead machines delays only its own requests.
  const outside = createFairShare({ concurrent: 100, perCaller: 3, waitingPerCaller: 20, waitMs: 5000 });
  metrics.gauge('heliograph_side_requests', 'Portal, list and report requests in progress', () => side.running);
  metrics.gauge('heliograph_side_requests_waiting', 'Portal, list and report requests queued', () => side.waiting);
  return { side, outside };
}

/** One caller gets half of the turns, or all but one while it is alone: another always finds one. */
function halfForOne(concurrent: number): Pick<FairShareOptions, 'concurrent' | 'perCaller' | 'aloneCaller'> {
  const perCaller = Math.ceil(concurrent / 2);
  return { concurrent, perCaller, aloneCaller: Math.max(perCaller, concurrent - 1) };
}
