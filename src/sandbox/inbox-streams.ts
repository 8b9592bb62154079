import type { Readable } from 'node:stream';
import type { Piece } from '../http/streams/live-feed.ts';
import { createOpenStreams, type StreamRequest } from '../http/streams/open-streams.ts';
import type { StreamPlaces } from '../http/streams/stream-places.ts';
import type { Handsets } from './handsets.ts';
import { type InboxEvent, type InboxFeed, type InboxFilter, toEvent } from './inbox-feed.ts';
import type { RenderArrivals } from './inbox-text.ts';

/** The open streams of the inbox. */
export interface InboxStreams {
  /** `after` is the id of the last text that a returning reader has. */
  open(request: Omit<StreamRequest<InboxEvent, InboxFilter>, 'returning' | 'readMissed'>): Promise<Readable>;
  recheck(applicationId?: string): void;
  stop(): void;
}

export interface InboxStreamsOptions {
  feed: InboxFeed;
  handsets: Pick<Handsets, 'listMissed' | 'newestId'>;
  renderArrivals: RenderArrivals;
  places: StreamPlaces;
}

/** A returning reader gets at most this many missed texts; the list has the rest. */
const mostMissed = 1000;
const pieceSize = 100;

export function createInboxStreams({ feed, handsets, renderArrivals, places }: InboxStreamsOptions): InboxStreams {
  const streams = createOpenStreams({
    feed,
    places,
    kind: 'inbox',
    heartbeat: () => ': still here\n\n',
    instead: 'GET /sandbox/v1/inbox',
  });

  async function* readMissed(applicationId: string, to: string | undefined, after: number) {
    const arrivals = await handsets.listMissed({ applicationId, to, after, limit: mostMissed });
    for (let start = 0; start < arrivals.length; start += pieceSize) {
      const items = (await renderArrivals(arrivals.slice(start, start + pieceSize))).map(toEvent);
      yield { items, readTo: items.at(-1)?.position ?? after, more: true } satisfies Piece<InboxEvent>;
    }
  }

  return {
    ...streams,
    async open(request) {
      const { applicationId, filter, after: given } = request;
      // An id that no text has yet is from another database; nothing was missed then.
      const after = given === undefined ? undefined : Math.min(given, await handsets.newestId());
      return streams.open({
        ...request,
        after,
        returning: after !== undefined,
        readMissed: (behind) => readMissed(applicationId, filter.to, behind),
      });
    },
  };
}
