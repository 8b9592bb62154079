import type { Readable } from 'node:stream';
import { ApiError } from '../platform/errors.ts';
import type { Handsets } from './handsets.ts';
import { type InboxEvent, type InboxFeed, toEvent } from './inbox-feed.ts';
import { type InboxStreamOptions, openInboxStream } from './inbox-stream.ts';
import type { ReadTexts } from './inbox-text.ts';

export interface StreamRequest extends Pick<InboxStreamOptions, 'applicationId' | 'to' | 'signal' | 'onCredentialEnd'> {
  /** The id of the last text that the reader has, if it comes back. */
  after: number | undefined;
  /** Asked again whenever the application has changed; a stream whose reader may no longer read it ends. */
  mayRead: () => Promise<boolean>;
}

/** The open streams of a node: a few for each application, so that none can use up what all share. */
export interface InboxStreams {
  open(request: StreamRequest): Promise<Readable>;
  /** An application has changed; without one, any may have. */
  recheck(applicationId?: string): void;
  /** Ends all of them: the service is stopping. */
  stop(): void;
}

export interface InboxStreamsOptions {
  feed: InboxFeed;
  handsets: Pick<Handsets, 'listMissed'>;
  readTexts: ReadTexts;
}

/** Of one application, on each node. */
const mostStreams = 5;
/** What a reader that comes back is told at most; the list has the rest. */
const mostMissed = 1000;
const pieceSize = 100;

interface Place {
  mayRead: () => Promise<boolean>;
  end(): void;
}

export function createInboxStreams({ feed, handsets, readTexts }: InboxStreamsOptions): InboxStreams {
  const places = new Map<string, Set<Place>>();

  /** Taken before anything is waited for, so that however many ask at once, no more get one. */
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
      const texts = await readTexts(arrivals.slice(start, start + pieceSize));
      yield texts.map(toEvent) satisfies InboxEvent[];
    }
  }

  async function recheckPlace({ mayRead, end }: Place): Promise<void> {
    if (!(await mayRead().catch(() => false))) end();
  }

  return {
    async open({ after, mayRead, ...request }) {
      const { applicationId, to } = request;
      const { place, leave } = takePlace(applicationId, mayRead);
      const missed = after === undefined ? undefined : () => readMissed(applicationId, to, after);
      try {
        const stream = await openInboxStream({ ...request, feed, missed });
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
    `This application has ${mostStreams} streams open already. Close one, or read GET /sandbox/v1/inbox instead.`,
  );
}
