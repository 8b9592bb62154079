import { createLiveFeed, type LiveFeed, type LiveItem } from '../http/streams/live-feed.ts';
import type { Database } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import type { StoredEvent, TellEvents, ToldEvent } from './event.ts';
import { type EventFilter, matchesFilter, readNewEvents } from './event-store.ts';
import type { Horizon } from './horizon.ts';

/** An event, rendered once for all its readers. */
export interface LiveEvent extends LiveItem, Pick<StoredEvent, 'api' | 'type' | 'subject'> {
  told: ToldEvent;
}

export type EventFeed = LiveFeed<LiveEvent, EventFilter>;

export interface EventFeedOptions {
  database: Database;
  horizon: Horizon;
  tellEvents: TellEvents;
  log: Log;
}

const pieceSize = 500;

/** Pushes new events to the readers that wait for them on this node: one query for all their applications. */
export function createEventFeed({ database, horizon, tellEvents, log }: EventFeedOptions): EventFeed {
  return createLiveFeed<LiveEvent, EventFilter>({
    start: async (after) => after ?? horizon.reachNow(),
    async readAfter(position, wanted) {
      const span = { after: position, upTo: await horizon.read() };
      const { events, readTo } = await readNewEvents(database, [...wanted.keys()], span, pieceSize);
      const chosen = events.filter((event) =>
        wanted.get(event.applicationId)?.some((filter) => matchesFilter(filter, event)),
      );
      return { items: await renderEvents(database, tellEvents, chosen), readTo, more: readTo < span.upTo };
    },
    matches: matchesFilter,
    log,
  });
}

export async function renderEvents(
  database: Database,
  tellEvents: TellEvents,
  events: StoredEvent[],
): Promise<LiveEvent[]> {
  const all = events.length === 0 ? [] : await tellEvents(database, events);
  return events.flatMap(({ applicationId, position, api, type, subject }, index) => {
    const told = all[index];
    return told === undefined ? [] : [{ applicationId, position, api, type, subject, told, written: writeEvent(told) }];
  });
}

function writeEvent(told: ToldEvent): string {
  return `event: ${told.type}\nid: ${told.id}\ndata: ${JSON.stringify(told)}\n\n`;
}
