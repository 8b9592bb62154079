import type { StreamPlaces } from '../http/streams/stream-places.ts';
import { createHandsets } from '../sandbox/handsets.ts';
import { createInboxFeed } from '../sandbox/inbox-feed.ts';
import { createInboxStreams } from '../sandbox/inbox-streams.ts';
import { createArrivalRenderer } from '../sandbox/inbox-text.ts';
import type { Foundation } from './foundation.ts';
import { createTextRenderer } from './text-renderer.ts';

/** Builds the sandbox's virtual phones and the inbox that developers read. */
export function composeInbox({ config, clock, sideDatabase: database, keys, log }: Foundation, places: StreamPlaces) {
  const handsets = createHandsets(database, clock);
  const renderArrivals = createArrivalRenderer({ database, renderText: createTextRenderer(keys, config.environment) });
  const feed = createInboxFeed({ handsets, renderArrivals, log });
  return { handsets, renderArrivals, streams: createInboxStreams({ feed, handsets, renderArrivals, places }) };
}
