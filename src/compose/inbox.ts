import type { StreamPlaces } from '../http/streams/stream-places.ts';
import type { Message } from '../messages/message.ts';
import { createVirtualCalls } from '../sandbox/calls.ts';
import { createHandsets } from '../sandbox/handsets.ts';
import { createInboxFeed } from '../sandbox/inbox-feed.ts';
import { createInboxStreams } from '../sandbox/inbox-streams.ts';
import { createArrivalRenderer } from '../sandbox/inbox-text.ts';
import { findPending } from '../verify/pending-store.ts';
import type { Foundation } from './foundation.ts';
import { createTextRenderer, hasSealedCode, languageOfText, renderErased } from './verify/text-renderer.ts';

/** Builds the sandbox's virtual phones and the inbox that developers read. */
export function composeInbox({ config, clock, sideDatabase: database, keys, log }: Foundation, places: StreamPlaces) {
  const handsets = createHandsets(database, clock);
  const renderText = createTextRenderer(keys, config.environment);

  /** Shows dots for a caller's code whose verification has ended. */
  async function renderTexts(messages: readonly Message[]): Promise<string[]> {
    const ids = messages.filter(hasSealedCode).flatMap(({ verificationId }) => verificationId ?? []);
    const codes = ids.length === 0 ? undefined : await findPending(database, ids, clock.nowMs());
    return messages.map((message) => {
      if (!hasSealedCode(message)) return renderText(message);
      const sealed = codes?.get(message.verificationId ?? '');
      return sealed == null ? renderErased(message) : renderText(message, sealed);
    });
  }

  const calls = createVirtualCalls(database, clock);
  const { findRinging } = calls;
  const renderArrivals = createArrivalRenderer({ database, renderTexts, languageOf: languageOfText, findRinging });
  const feed = createInboxFeed({ handsets, renderArrivals, log });
  return { handsets, renderArrivals, calls, streams: createInboxStreams({ feed, handsets, renderArrivals, places }) };
}
