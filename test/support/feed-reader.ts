import type { EmittedEvent } from '../../src/events/event.ts';
import { beginFeed, readFeed } from './event-feed.ts';

/** A reader of the feed who goes on from its cursor, whatever breaks. */
export interface FeedReader {
  /** Everything it received, in order. */
  events: EmittedEvent[];
  /** How many reads had no answer, or a 503. */
  lost(): number;
  stop(): Promise<void>;
}

/** Resolves when its application listens. */
export async function startFeedReader(
  nodes: { readonly url: string }[],
  headers: Record<string, string>,
): Promise<FeedReader> {
  const [first = { url: '' }] = nodes;
  let cursor = await beginFeed(first, headers);
  const events: EmittedEvent[] = [];
  let [lost, turns, stopped] = [0, 0, false];
  async function follow(): Promise<void> {
    while (!stopped) {
      const node = nodes[turns++ % nodes.length] ?? first;
      const page = await readFeed(node, headers, { cursor, limit: 100, wait_seconds: 1 }).catch(() => undefined);
      if (page?.status === 200) {
        events.push(...page.body.data);
        cursor = page.body.next_cursor;
        continue;
      }
      if (page !== undefined && page.status !== 503)
        throw new Error(`the feed answered ${page.status}: ${JSON.stringify(page.body)}`);
      lost++;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  const following = follow();
  following.catch(() => {});
  return {
    events,
    lost: () => lost,
    async stop() {
      stopped = true;
      await following;
    },
  };
}
