import { createEventCursors } from '../events/event-cursor.ts';
import { createEventFeed } from '../events/event-feed.ts';
import { createEventIds } from '../events/event-id.ts';
import { createEventReads } from '../events/event-reads.ts';
import { createEventStreams } from '../events/event-streams.ts';
import { createHorizon } from '../events/horizon.ts';
import { createListeners } from '../events/listeners.ts';
import { createLongPolls } from '../events/long-polls.ts';
import type { Bulkheads } from '../http/mount.ts';
import type { StreamPlaces } from '../http/streams/stream-places.ts';
import { createAssembleEvents } from './event-records.ts';
import type { Foundation } from './foundation.ts';

export interface EventParts {
  bulkheads: Bulkheads;
  places: StreamPlaces;
  heartbeatMs?: number;
}

export type Events = ReturnType<typeof composeEvents>;

/** Builds the event feed of a web node: lists, long polls and streams. */
export function composeEvents(foundation: Foundation, { bulkheads, places, heartbeatMs }: EventParts) {
  const { config, clock, sideDatabase: database, keys, log } = foundation;
  const { eventDays } = config;
  const ids = createEventIds(keys);
  const cursors = createEventCursors(keys);
  const assembleEvents = createAssembleEvents(ids);
  const horizon = createHorizon(database);
  const listeners = createListeners({ database, clock });
  const feed = createEventFeed({ database, horizon, assembleEvents, log });
  const reads = createEventReads({ database, clock, horizon, ids, cursors, assembleEvents, eventDays });
  const turns = bulkheads.side;
  const streams = createEventStreams({
    feed,
    reads,
    listeners,
    turns,
    places,
    ...(heartbeatMs !== undefined && { heartbeatMs }),
  });
  return {
    streams,
    feedRoutes: { listeners, reads, polls: createLongPolls(feed), streams, turns },
    portal: { database, listeners, reads, streams, listensByReading: config.environment === 'sandbox' },
  };
}
