import type { PassThrough, Readable } from 'node:stream';
import { ApiError } from '../../platform/errors.ts';
import type { Reply } from '../route.ts';
import { type EventStreamOptions, openEventStream } from './event-stream.ts';
import type { LiveFeed, LiveItem } from './live-feed.ts';
import { mostStreams, type StreamKind, type StreamPlaces } from './stream-places.ts';

export interface StreamRequest<Item, Filter>
  extends Omit<EventStreamOptions<Item, Filter>, 'feed' | 'heartbeat' | 'heartbeatMs'> {
  /** Checked again whenever the application changes; the stream ends when it is false. */
  mayRead: () => Promise<boolean>;
}

export interface OpenStreamsOptions<Item, Filter>
  extends Pick<EventStreamOptions<Item, Filter>, 'feed' | 'heartbeat' | 'heartbeatMs'> {
  feed: LiveFeed<Item, Filter>;
  /** The node's count of open streams, and the kind that these count as. */
  places: StreamPlaces;
  kind: StreamKind;
  /** The request that replaces a stream, for a caller that has too many: `GET /events/v1/events`. */
  instead: string;
}

interface Place {
  mayRead: () => Promise<boolean>;
  end(): void;
}

/** A node's open streams: a few per application, so that one application cannot use up shared resources. */
export function createOpenStreams<Item extends LiveItem, Filter>(options: OpenStreamsOptions<Item, Filter>) {
  const { instead, places, kind, ...shared } = options;
  /** The streams of this process, by application. */
  const open = new Map<string, Set<Place>>();
  const allPlaces = () => [...open.values()].flatMap((set) => [...set]);

  async function takePlace(
    applicationId: string,
    mayRead: () => Promise<boolean>,
  ): Promise<{ place: Place; leave: () => void }> {
    const giveBack = await places.take(kind, applicationId);
    if (giveBack === undefined) throw tooManyStreams(instead);
    const own = open.get(applicationId) ?? new Set();
    const place: Place = { mayRead, end: () => {} };
    open.set(applicationId, own.add(place));
    const leave = () => {
      giveBack();
      own.delete(place);
      if (own.size === 0 && open.get(applicationId) === own) open.delete(applicationId);
    };
    return { place, leave };
  }

  async function recheckPlace({ mayRead, end }: Place): Promise<void> {
    if (!(await mayRead().catch(() => false))) end();
  }

  return {
    async open({ mayRead, ...request }: StreamRequest<Item, Filter>): Promise<PassThrough> {
      const { place, leave } = await takePlace(request.applicationId, mayRead);
      try {
        const stream = await openEventStream({ ...shared, ...request });
        place.end = () => stream.end();
        stream.once('close', leave);
        if (stream.destroyed) leave();
        return stream;
      } catch (error) {
        leave();
        throw error;
      }
    },
    /** Rechecks the application's streams, or all streams without an id. */
    recheck(applicationId?: string): void {
      const chosen = applicationId === undefined ? allPlaces() : [...(open.get(applicationId) ?? [])];
      for (const place of chosen) void recheckPlace(place);
    },
    /** Ends all streams, when the service stops. */
    stop(): void {
      options.feed.stop();
      // Streams that still send missed items do not listen yet.
      for (const { end } of allPlaces()) end();
    },
  };
}

function tooManyStreams(instead: string): ApiError {
  return new ApiError(
    'TOO_MANY_STREAMS',
    `This application has ${mostStreams} open streams, the maximum. Close one, or read ${instead} instead.`,
  );
}

/** Without the header, nginx holds events back until its buffer is full. */
export function streamReply(data: Readable | ''): Reply {
  return { status: 200, content: { type: 'text/event-stream', data, headers: { 'X-Accel-Buffering': 'no' } } };
}
