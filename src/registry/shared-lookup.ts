import type { Clock } from '../platform/clock.ts';
import type { ChangeFeed } from './change-feed.ts';

/**
 * Shorter than a change waits for a node that lost the feed, so no request joins a read that began before the change.
 */
const joinWithinMs = 500;

/**
 * Lookups of the same credential that arrive together share one read. Otherwise, after a plan change, a busy caller
 * would query once per request and be refused for lack of connections. No lookup joins a read that began before a known
 * change.
 */
export function createSharedLookup<Value>(
  feed: Pick<ChangeFeed, 'generation'>,
  clock: Clock,
  read: (text: string) => Promise<Value>,
): (text: string) => Promise<Value> {
  const underWay = new Map<string, { generation: number; beganMs: number; found: Promise<Value> }>();

  return (text) => {
    const { generation } = feed;
    const beganMs = clock.steadyMs();
    const other = underWay.get(text);
    if (other?.generation === generation && beganMs - other.beganMs < joinWithinMs) return other.found;
    const found = read(text).finally(() => {
      if (underWay.get(text)?.found === found) underWay.delete(text);
    });
    underWay.set(text, { generation, beganMs, found });
    return found;
  };
}
