// Tests: test/parts/event-streams.test.ts, test/contract/event-stream.test.ts
import type { PassThrough, Readable } from 'node:stream';
import { createOpenStreams, type StreamRequest } from '../http/streams/open-streams.ts';
import type { StreamPlaces } from '../http/streams/stream-places.ts';
import { hourMs } from '../platform/clock.ts';
import type { FairShare } from '../platform/work/fair-share.ts';
import { createPoller } from '../platform/work/poller.ts';
import type { EventFeed, LiveEvent } from './event-feed.ts';
import type { EventReads } from './event-reads.ts';
import type { EventFilter } from './event-store.ts';
import type { Listeners } from './listeners.ts';

/** The open streams of events. */
export interface EventStreams {
  open(request: EventStreamRequest): Promise<Readable>;
  recheck(applicationId?: string): void;
  stop(): void;
}

export interface EventStreamRequest extends Omit<StreamRequest<LiveEvent, EventFilter>, 'readMissed' | 'after'> {
  after: number;
  /** True if the open stream counts as a read of the feed, so that the application keeps listening. */
  listens: boolean;
}

export interface EventStreamsOptions {
  feed: EventFeed;
  reads: EventReads;
  listeners: Listeners;
  /** Limits the reads of missed events: readers that resume take turns. */
  turns: FairShare;
  places: StreamPlaces;
  heartbeatMs?: number;
}

export function createEventStreams({
  feed,
  reads,
  listeners,
  turns,
  places,
  heartbeatMs,
}: EventStreamsOptions): EventStreams {
  const streams = createOpenStreams<LiveEvent, EventFilter>({
    feed,
    places,
    kind: 'events',
    // An id without data moves Last-Event-ID, so that the cursor of a quiet reader does not expire.
    heartbeat: (reached, applicationId) => `id: ${reads.cursorAt(applicationId, reached)}\n\n`,
    instead: 'GET /events/v1/events',
    ...(heartbeatMs !== undefined && { heartbeatMs }),
  });

  async function* readMissed(applicationId: string, after: number, filter: EventFilter) {
    const pieces = reads.readMissed(applicationId, after, filter)[Symbol.asyncIterator]();
    for (;;) {
      const piece = await turns.run(applicationId, () => pieces.next());
      if (piece.done === true) return;
      yield piece.value;
    }
  }

  /** A gap in listening ends the stream: the reader reconnects and gets a 410. */
  function keepListening(stream: PassThrough, applicationId: string, after: number): void {
    const poll = async () => {
      const { since } = await listeners.readFeed(applicationId);
      if (since > after) stream.end();
    };
    const poller = createPoller({ run: poll, pauseMs: hourMs });
    poller.start();
    stream.once('close', () => void poller.stop());
  }

  return {
    ...streams,
    async open({ listens, ...request }) {
      const { applicationId, filter, after } = request;
      const stream = await streams.open({
        ...request,
        readMissed: (behind) => readMissed(applicationId, behind, filter),
      });
      if (listens && !stream.destroyed) keepListening(stream, applicationId, after);
      return stream;
    },
  };
}
