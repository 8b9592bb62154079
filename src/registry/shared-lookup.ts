import type { Clock } from '../platform/clock.ts';
import type { ChangeFeed } from './change-feed.ts';

/** Less than a change waits for a node that does not follow the feed: what began before it is never joined after it. */
const joinWithinMs = 500;

/**
 * Lets questions about the same credential that arrive together share one read. Without it a busy caller whose plan has
 * just changed asks the database once for each request of its burst, and waits for connections until it is refused.
 * Nobody joins a read that began before a change of which this node knows.
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
