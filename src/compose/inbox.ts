import { createHandsets } from '../sandbox/handsets.ts';
import { createInboxFeed } from '../sandbox/inbox-feed.ts';
import { createInboxStreams } from '../sandbox/inbox-streams.ts';
import { createReadTexts } from '../sandbox/inbox-text.ts';
import type { Foundation } from './foundation.ts';
import { createTextOf } from './text-of.ts';

/** Builds the sandbox's virtual phones and the inbox that developers read. */
export function composeInbox({ config, clock, sideDatabase: database, keys, log }: Foundation) {
  const handsets = createHandsets(database, clock);
  const readTexts = createReadTexts({ database, textOf: createTextOf(keys, config.environment) });
  const feed = createInboxFeed({ handsets, readTexts, log });
  return { handsets, readTexts, streams: createInboxStreams({ feed, handsets, readTexts }) };
}
