import { createLiveFeed, type LiveFeed, type LiveItem } from '../http/streams/live-feed.ts';
import type { Log } from '../platform/log.ts';
import type { Handsets } from './handsets.ts';
import type { InboxText, RenderArrivals } from './inbox-text.ts';

/** A text that arrived on a virtual phone. Positions are the ids of arrivals. */
export interface InboxEvent extends LiveItem {
  to: string;
}

/** Only texts to this number. */
export interface InboxFilter {
  to: string | undefined;
}

export type InboxFeed = LiveFeed<InboxEvent, InboxFilter>;

export interface InboxFeedOptions {
  handsets: Pick<Handsets, 'listAfter' | 'newestId'>;
  renderArrivals: RenderArrivals;
  log: Log;
}

/** Pushes arriving texts to the readers of streams. */
export function createInboxFeed({ handsets, renderArrivals, log }: InboxFeedOptions): InboxFeed {
  return createLiveFeed({
    start: () => handsets.newestId(),
    async readAfter(position, wanted) {
      const fresh = await handsets.listAfter(position);
      const texts = await renderArrivals(fresh.filter(({ applicationId }) => wanted.has(applicationId)));
      return { items: texts.map(toEvent), readTo: fresh.at(-1)?.id ?? position, more: fresh.length > 0 };
    },
    matches: ({ to }, item) => to === undefined || to === item.to,
    log,
  });
}

export function toEvent({ arrival, item }: InboxText): InboxEvent {
  const { id: position, applicationId, to } = arrival;
  return { position, applicationId, to, written: `event: text\nid: ${position}\ndata: ${JSON.stringify(item)}\n\n` };
}
