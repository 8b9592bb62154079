import type { Readable } from 'node:stream';
import { ApiError } from '../platform/errors.ts';
import type { Handsets } from './handsets.ts';
import { type InboxEvent, type InboxFeed, toEvent } from './inbox-feed.ts';
import { type InboxStreamOptions, openInboxStream } from './inbox-stream.ts';
import type { RenderArrivals } from './inbox-text.ts';

export interface StreamRequest extends Pick<InboxStreamOptions, 'applicationId' | 'to' | 'signal' | 'onCredentialEnd'> {
  /** The id of the last text a returning reader has. */
  after: number | undefined;
  /** Checked again whenever the application changes; the stream ends when it is false. */
  mayRead: () => Promise<boolean>;
}

/** A node's open streams: a few per application, so that one application cannot use up shared resources. */
export interface OpenStreams {
  open(request: StreamRequest): Promise<Readable>;
  /** Rechecks the application's streams, or all streams without an id. */
  recheck(applicationId?: string): void;
  /** Ends all streams, when the service stops. */
  stop(): void;
}

export interface OpenStreamsOptions {
  feed: InboxFeed;
  handsets: Pick<Handsets, 'listMissed' | 'newestId'>;
  renderArrivals: RenderArrivals;
}

/** Per application and node. */
const mostStreams = 5;
/** A returning reader gets at most this many missed texts; the list has the rest. */
const mostMissed = 1000;
const pieceSize = 100;

interface Place {
  mayRead: () => Promise<boolean>;
  end(): void;
}

export function createOpenStreams({ feed, handsets, renderArrivals }: OpenStreamsOptions): OpenStreams {
  const places = new Map<string, Set<Place>>();

  /** Runs before any await, so that simultaneous requests cannot exceed the limit. */
  function takePlace(applicationId: string, mayRead: () => Promise<boolean>): { place: Place; leave: () => void } {
    const taken = places.get(applicationId) ?? new Set();
    if (taken.size >= mostStreams) throw tooManyStreams();
    const place: Place = { mayRead, end: () => {} };
    places.set(applicationId, taken.add(place));
    const leave = () => {
      taken.delete(place);
      if (taken.size === 0 && places.get(applicationId) === taken) places.delete(applicationId);
    };
    return { place, leave };
  }

  async function* readMissed(applicationId: string, to: string | undefined, after: number) {
    const arrivals = await handsets.listMissed({ applicationId, to, after, limit: mostMissed });
    for (let start = 0; start < arrivals.length; start += pieceSize) {
      const texts = await renderArrivals(arrivals.slice(start, start + pieceSize));
      yield texts.map(toEvent) satisfies InboxEvent[];
    }
  }

  async function recheckPlace({ mayRead, end }: Place): Promise<void> {
    if (!(await mayRead().catch(() => false))) end();
  }

  return {
    async open({ after: given, mayRead, ...request }) {
      const { applicationId, to } = request;
      const { place, leave } = takePlace(applicationId, mayRead);
      try {
        // An id that no text has yet is from another database; nothing was missed then.
        const after = given === undefined ? undefined : Math.min(given, await handsets.newestId());
        const missed = after === undefined ? undefined : () => readMissed(applicationId, to, after);
        const stream = await openInboxStream({ ...request, feed, after, missed });
        place.end = () => stream.end();
        stream.once('close', leave);
        if (stream.destroyed) leave();
        return stream;
      } catch (error) {
        leave();
        throw error;
      }
    },
    recheck(applicationId) {
      const sets = applicationId === undefined ? [...places.values()] : [places.get(applicationId) ?? []];
      for (const place of sets.flatMap((set) => [...set])) void recheckPlace(place);
    },
    stop: () => feed.stop(),
  };
}

function tooManyStreams(): ApiError {
  return new ApiError(
    'TOO_MANY_STREAMS',
    `This application has ${mostStreams} open streams, the maximum. Close one, or read GET /sandbox/v1/inbox instead.`,
  );
}
