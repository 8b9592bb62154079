import type { Piece } from '../http/streams/live-feed.ts';
import type { EventFeed, LiveEvent } from './event-feed.ts';
import type { EventFilter } from './event-store.ts';

/** Events for an answer, and how far the feed was read for it. */
export type Found = Pick<Piece<LiveEvent>, 'items' | 'readTo'>;

export interface LongPoll {
  applicationId: string;
  filter: EventFilter;
  /** The reader has read up to here, and found nothing. */
  after: number;
  limit: number;
  waitMs: number;
  /** Reads events that the feed has already passed. */
  readUpTo(position: number): Promise<Found>;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
  /** Calls `act` when the caller's credential ends; the result stops watching. */
  onCredentialEnd: (act: () => void) => () => void;
}

/** Requests that wait for their first event. They hold no database connection and no turn while they wait. */
export interface LongPolls {
  /** Resolves with the first events that match, or with none when the time is over or the poll has to end. */
  wait(poll: LongPoll): Promise<Found>;
}

/** Maximum per application and node. One more is answered at once. */
const mostWaiting = 20;

export function createLongPolls(feed: EventFeed): LongPolls {
  const waiting = new Map<string, number>();

  async function waitInFeed(poll: LongPoll): Promise<Found> {
    const { applicationId, filter, after, limit } = poll;
    const ending = createEnding(poll);
    let found: Found = { items: [], readTo: after };
    const onItems = (items: LiveEvent[], readTo: number) => {
      // The first events are the answer; later ones are for the next request.
      if (found.items.length > 0) return;
      found = firstOf(found.readTo, items, readTo, limit);
      if (found.items.length > 0) ending.end();
    };
    try {
      const { from, leave } = await feed.subscribe({ applicationId, filter, onItems, onEnd: ending.end }, after);
      try {
        if (from > after) {
          const passed = await poll.readUpTo(from);
          if (passed.items.length > 0 || passed.readTo < from) return passed;
        }
        await ending.ended;
        return { ...found, readTo: Math.max(found.readTo, from) };
      } finally {
        leave();
      }
    } finally {
      ending.clear();
    }
  }

  return {
    async wait(poll) {
      const { applicationId } = poll;
      const others = waiting.get(applicationId) ?? 0;
      if (others >= mostWaiting) return { items: [], readTo: poll.after };
      waiting.set(applicationId, others + 1);
      try {
        return await waitInFeed(poll);
      } finally {
        const left = (waiting.get(applicationId) ?? 1) - 1;
        if (left === 0) waiting.delete(applicationId);
        else waiting.set(applicationId, left);
      }
    },
  };
}

/** The feed may repeat events that the reader has read. */
function firstOf(reached: number, items: LiveEvent[], readTo: number, limit: number): Found {
  const fresh = items.filter(({ position }) => position > reached);
  const first = fresh.slice(0, limit);
  return {
    items: first,
    readTo: fresh.length > limit ? (first.at(-1)?.position ?? readTo) : Math.max(reached, readTo),
  };
}

/** Ends the wait when its time is over, its caller has left, or its credential has ended. */
function createEnding({ waitMs, signal, onCredentialEnd }: LongPoll) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const timer = setTimeout(end, waitMs);
  const stopWatching = onCredentialEnd(end);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  return {
    ended,
    end,
    clear() {
      clearTimeout(timer);
      stopWatching();
      signal.removeEventListener('abort', end);
    },
  };
}
