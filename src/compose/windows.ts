import { createRedisWindows } from '../edge/redis-windows.ts';
import { createShareWindows } from '../edge/share-windows.ts';
import { createWindowBreaker } from '../edge/window-breaker.ts';
import type { Check } from '../http/operations-api.ts';
import type { ChangeFeed } from '../registry/change-feed.ts';
import type { Foundation } from './foundation.ts';

/**
 * Builds the rate windows of registrations. A lone node keeps them in its memory. Nodes that share Redis each grant a
 * share of the limits while Redis is away.
 */
export function composeWindows({ config, clock, log, metrics, windows }: Foundation, feed: ChangeFeed) {
  const checks: Check[] = [];
  metrics.gauge('heliograph_live_nodes', 'Nodes that answer requests, as last seen by this node', () => feed.liveCount);
  if (config.redisUrl === undefined) {
    const registrations = windows.registrations;
    return { registrations, checks, hasRedis: () => undefined, start: async () => {}, stop: () => {} };
  }
  const share = createShareWindows({ clock, liveNodes: () => feed.liveCount });
  metrics.gauge(
    'heliograph_share_windows',
    'Registrations counted against this node’s share in the last minute',
    () => share.size,
  );
  const breaker = createWindowBreaker({ url: config.redisUrl, log });
  // Optional: a node without Redis still grants its share, like all others, so it stays in rotation.
  checks.push({ name: 'window_store', optional: true, passes: async () => breaker.redis !== undefined });
  metrics.gauge(
    'heliograph_window_store_in_use',
    '1 while the shared windows decide, 0 while this node enforces its share',
    () => (breaker.redis === undefined ? 0 : 1),
  );
  metrics.counter(
    'heliograph_window_share_decisions_total',
    'Requests decided by this node’s share, because the window store was unavailable',
    () => share.decisions,
  );
  return {
    registrations: createRedisWindows({ breaker, share, clock }),
    checks,
    hasRedis: () => breaker.redis !== undefined,
    start: breaker.start,
    stop: breaker.stop,
  };
}
