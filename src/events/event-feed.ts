import { createLiveFeed, type LiveFeed, type LiveItem } from '../http/streams/live-feed.ts';
import type { Database } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import type { AssembleEvents, EmittedEvent, StoredEvent } from './event.ts';
import { type EventFilter, matchesFilter, readNewEvents } from './event-store.ts';
import type { Horizon } from './horizon.ts';

/** An event, rendered once for all its readers. */
export interface LiveEvent extends LiveItem, Pick<StoredEvent, 'api' | 'type' | 'subject'> {
  emitted: EmittedEvent;
}

export type EventFeed = LiveFeed<LiveEvent, EventFilter>;

export interface EventFeedOptions {
  database: Database;
  horizon: Horizon;
  assembleEvents: AssembleEvents;
  log: Log;
}

const pieceSize = 500;

/** Pushes new events to the readers that wait on this node, with one query for all their applications. */
export function createEventFeed({ database, horizon, assembleEvents, log }: EventFeedOptions): EventFeed {
  return createLiveFeed<LiveEvent, EventFilter>({
    start: async (after) => after ?? horizon.reachNow(),
    async readAfter(position, wanted) {
      const span = { after: position, upTo: await horizon.read() };
      const { events, readTo } = await readNewEvents(database, [...wanted.keys()], span, pieceSize);
      const chosen = events.filter((event) =>
        wanted.get(event.applicationId)?.some((filter) => matchesFilter(filter, event)),
      );
      return { items: await renderEvents(database, assembleEvents, chosen), readTo, more: readTo < span.upTo };
    },
    matches: matchesFilter,
    log,
  });
}

export async function renderEvents(
  database: Database,
  assembleEvents: AssembleEvents,
  events: StoredEvent[],
): Promise<LiveEvent[]> {
  const all = events.length === 0 ? [] : await assembleEvents(database, events);
  return events.flatMap(({ applicationId, position, api, type, subject }, index) => {
    const emitted = all[index];
    if (emitted === undefined) return [];
    return [{ applicationId, position, api, type, subject, emitted, written: writeEvent(emitted) }];
  });
}

function writeEvent(emitted: EmittedEvent): string {
  return `event: ${emitted.type}\nid: ${emitted.id}\ndata: ${JSON.stringify(emitted)}\n\n`;
}
