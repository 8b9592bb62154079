import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LiveListener } from '../http/streams/live-feed.ts';
import type { EventFeed, LiveEvent } from './event-feed.ts';
import type { EventFilter } from './event-store.ts';
import { createLongPolls, type LongPoll } from './long-polls.ts';

const eventAt = (position: number) => ({ position }) as LiveEvent;

/** A feed that starts at `from`, and emits what the test wants. */
function createFeed(from = 0) {
  const listeners = new Set<LiveListener<LiveEvent, EventFilter>>();
  const feed: EventFeed = {
    async subscribe(listener) {
      listeners.add(listener);
      return { from, leave: () => void listeners.delete(listener) };
    },
    stop: () => {
      for (const { onEnd } of listeners) onEnd();
    },
  };
  const emit = (positions: number[], readTo = positions.at(-1) ?? 0) => {
    for (const { onItems } of listeners) onItems(positions.map(eventAt), readTo);
  };
  return { feed, listeners, emit };
}

function pollOf(given: Partial<LongPoll> = {}): LongPoll {
  return {
    applicationId: 'app',
    filter: {},
    after: 0,
    limit: 3,
    waitMs: 60_000,
    readUpTo: async (position) => ({ items: [], readTo: position }),
    signal: new AbortController().signal,
    onCredentialEnd: () => () => {},
    ...given,
  };
}

const joined = () => new Promise((done) => setImmediate(done));
const positionsOf = ({ items }: { items: LiveEvent[] }) => items.map(({ position }) => position);

describe('a long poll', () => {
  test('ends with the first piece that has events; the next one continues after them', async () => {
    const { feed, listeners, emit } = createFeed();
    const polls = createLongPolls(feed);
    const all = polls.wait(pollOf());
    const some = polls.wait(pollOf({ limit: 1 }));
    await joined();
    emit([], 4);
    emit([5, 6], 9);
    emit([10]);
    const [first, second] = await Promise.all([all, some]);
    assert.deepEqual([positionsOf(first), first.readTo], [[5, 6], 9]);
    assert.deepEqual([positionsOf(second), second.readTo], [[5], 5]);
    assert.equal(listeners.size, 0);
  });

  test('skips events that its reader has read, when the feed is behind the reader', async () => {
    const { feed, emit } = createFeed(3);
    const waiting = createLongPolls(feed).wait(pollOf({ after: 7 }));
    await joined();
    emit([5, 7]);
    emit([8]);
    assert.deepEqual(positionsOf(await waiting), [8]);
  });

  test('reads events that the feed passed before it joined', async () => {
    const { feed, listeners, emit } = createFeed(9);
    const polls = createLongPolls(feed);
    const readUpTo = async (position: number) => ({ items: [eventAt(8)], readTo: position });
    const found = await polls.wait(pollOf({ after: 7, readUpTo }));
    assert.deepEqual([positionsOf(found), found.readTo], [[8], 9]);
    const bounded = await polls.wait(pollOf({ after: 7, readUpTo: async () => ({ items: [], readTo: 8 }) }));
    assert.deepEqual([positionsOf(bounded), bounded.readTo], [[], 8], 'it was not read to the end');
    const waiting = polls.wait(pollOf({ after: 7 }));
    await joined();
    emit([10]);
    assert.deepEqual(positionsOf(await waiting), [10]);
    assert.equal(listeners.size, 0);
  });

  test('ends without events when its time, its caller, its credential or the service ends', async () => {
    const { feed, listeners, emit } = createFeed();
    const polls = createLongPolls(feed);
    const gone = new AbortController();
    let endCredential = () => {};
    const waiting = [
      polls.wait(pollOf({ waitMs: 1 })),
      polls.wait(pollOf({ signal: gone.signal })),
      polls.wait(pollOf({ signal: AbortSignal.abort() })),
      polls.wait(
        pollOf({
          onCredentialEnd(act) {
            endCredential = act;
            return () => {};
          },
        }),
      ),
    ];
    await joined();
    emit([], 4);
    gone.abort();
    endCredential();
    for (const found of await Promise.all(waiting)) assert.deepEqual(positionsOf(found), []);
    const last = polls.wait(pollOf());
    await joined();
    emit([], 6);
    feed.stop();
    assert.deepEqual(await last, { items: [], readTo: 6 });
    assert.equal(listeners.size, 0);
  });

  test('of one application 20 can wait; one that ends, also by a failed feed, makes room', async () => {
    const { feed, listeners, emit } = createFeed();
    const polls = createLongPolls(feed);
    const waiting = Array.from({ length: 20 }, () => polls.wait(pollOf()));
    assert.deepEqual(await polls.wait(pollOf({ after: 2 })), { items: [], readTo: 2 });
    const other = polls.wait(pollOf({ applicationId: 'other' }));
    await joined();
    assert.equal(listeners.size, 21);
    emit([1]);
    await Promise.all([...waiting, other]);
    const failing = createLongPolls({ ...feed, subscribe: () => Promise.reject(new Error('away')) });
    for (let i = 0; i < 30; i++) await assert.rejects(failing.wait(pollOf()), /away/);
    const again = polls.wait(pollOf());
    await joined();
    assert.equal(listeners.size, 1);
    emit([2]);
    await again;
  });
});
