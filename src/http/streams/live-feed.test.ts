import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { createTestLog } from '../../../test/support/log.ts';
import { createLiveFeed, type LiveItem, type LiveListener, type Wanted } from './live-feed.ts';

interface Filter {
  odd?: true;
}
type Listener = LiveListener<LiveItem, Filter>;

/** A store whose items appear when the test says so, and whose answers may be held back. */
function createStore() {
  const items: LiveItem[] = [];
  let hold: Promise<void> = Promise.resolve();
  let failures = 0;
  let polls = 0;
  const newest = () => Math.max(0, ...items.map(({ position }) => position));
  return {
    async start(after: number | undefined) {
      await hold;
      if (failures-- > 0) throw new Error('the database is away');
      return after ?? newest();
    },
    async readAfter(position: number, wanted: Wanted<Filter>) {
      polls++;
      // Like a query: it returns items that exist now, for the applications that listen now.
      const fresh = items.filter((item) => item.position > position).slice(0, 1000);
      const readTo = fresh.at(-1)?.position ?? position;
      const found = fresh.filter(({ applicationId }) => wanted.has(applicationId));
      await hold;
      if (failures-- > 0) throw new Error('the database is away');
      return { items: found, readTo, more: fresh.length > 0 };
    },
    arrive(...positions: number[]) {
      for (const position of positions) items.push({ position, applicationId: 'app', written: '' });
    },
    holdAnswers() {
      let release = () => {};
      hold = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    fail: (times: number) => {
      failures = times;
    },
    polls: () => polls,
  };
}

function createListener(filter: Filter = {}) {
  const received: number[] = [];
  let reached = 0;
  let ends = 0;
  const listener: Listener = {
    applicationId: 'app',
    filter,
    onItems(items, readTo) {
      received.push(...items.map(({ position }) => position));
      reached = readTo;
    },
    onEnd: () => void ends++,
  };
  return { listener, received, ends: () => ends, reached: () => reached };
}

const { log } = createTestLog();

function createFeed({ start, readAfter }: ReturnType<typeof createStore>) {
  return createLiveFeed<LiveItem, Filter>({
    start,
    readAfter,
    matches: ({ odd }, { position }) => odd === undefined || position % 2 === 1,
    log,
  });
}

const hears = (received: number[], position: number) =>
  eventually(`item ${position}`, () => received.includes(position));
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

describe('a live feed', { concurrency: true }, () => {
  test('sends a listener all that happens once the promise resolves, and nothing before', async () => {
    const store = createStore();
    store.arrive(1, 2);
    const release = store.holdAnswers();
    const feed = createFeed(store);
    const { listener, received } = createListener();
    let ready = false;
    const subscribed = feed.subscribe(listener).then((subscription) => {
      ready = true;
      return subscription;
    });
    await pause(20);
    assert.equal(ready, false, 'where it stands is not known yet');
    release();
    const { from, leave } = await subscribed;
    assert.equal(from, 2);
    store.arrive(3);
    await hears(received, 3);
    assert.deepEqual(received, [3]);
    leave();
  });

  test('sends each listener of its own application what its filter matches, and how far it has read', async () => {
    const store = createStore();
    const feed = createFeed(store);
    const [all, odd, other] = [createListener(), createListener({ odd: true }), createListener()];
    const subscriptions = await Promise.all([
      feed.subscribe(all.listener),
      feed.subscribe(odd.listener),
      feed.subscribe({ ...other.listener, applicationId: 'another' }),
    ]);
    store.arrive(1, 2, 3, 4);
    await hears(all.received, 4);
    assert.deepEqual([all.received, odd.received, other.received], [[1, 2, 3, 4], [1, 3], []]);
    assert.deepEqual([all.reached(), odd.reached(), other.reached()], [4, 4, 4]);
    for (const { leave } of subscriptions) leave();
  });

  test('begins where its first listener is; the next joins where the feed is', async () => {
    const store = createStore();
    store.arrive(...upTo(10));
    const feed = createFeed(store);
    const [first, second] = [createListener(), createListener()];
    const one = await feed.subscribe(first.listener, 7);
    assert.equal(one.from, 7);
    await hears(first.received, 10);
    const two = await feed.subscribe(second.listener, 3);
    assert.equal(two.from, 10, 'what is between is for the listener to read');
    store.arrive(11);
    await hears(second.received, 11);
    assert.deepEqual([first.received, second.received], [[8, 9, 10, 11], [11]]);
    one.leave();
    two.leave();
  });

  test('a listener that comes while a piece is read joins behind it', async () => {
    const store = createStore();
    const feed = createFeed(store);
    const first = createListener();
    const one = await feed.subscribe({ ...first.listener, applicationId: 'another' });
    const release = store.holdAnswers();
    const polled = store.polls();
    await eventually('a poll', () => store.polls() > polled);
    store.arrive(1);
    // The running poll does not read this application, and the next one would not return item 1 again.
    const second = createListener();
    const joining = feed.subscribe(second.listener, 0);
    release();
    const two = await joining;
    store.arrive(2);
    await hears(second.received, 2);
    assert.deepEqual(
      second.received,
      upTo(2).filter((position) => position > two.from),
    );
    one.leave();
    two.leave();
  });

  test('none missing, none twice, for listeners that come at every moment', async () => {
    const store = createStore();
    const feed = createFeed(store);
    const all: { from: number; received: number[]; leave(): void }[] = [];
    let next = 1;
    for (let round = 0; round < 60; round++) {
      const { listener, received } = createListener();
      const joining = feed.subscribe(listener).then(({ from, leave }) => all.push({ from, received, leave }));
      store.arrive(next++);
      if (round % 3 === 0) await joining;
      store.arrive(next++);
      if (round % 5 === 0) await pause(15);
    }
    await eventually('all to join', () => all.length === 60);
    for (const { from, received, leave } of all) {
      if (from < next - 1) await hears(received, next - 1);
      assert.deepEqual(received, upTo(next - 1, from + 1));
      leave();
    }
  });

  test('what could not be read is sent by the next poll, once; a failed beginning rejects the subscription', async () => {
    const store = createStore();
    const feed = createFeed(store);
    const { listener, received } = createListener();
    store.fail(1);
    await assert.rejects(feed.subscribe(listener), /away/);
    const { leave } = await feed.subscribe(listener);
    store.fail(2);
    store.arrive(1, 2);
    await hears(received, 2);
    store.arrive(3);
    await hears(received, 3);
    assert.deepEqual(received, [1, 2, 3]);
    leave();
  });

  test('goes on however many there are', async () => {
    const store = createStore();
    store.arrive(...upTo(3000));
    const feed = createFeed(store);
    const { listener, received } = createListener();
    const { leave } = await feed.subscribe(listener);
    store.arrive(...upTo(6000, 3001));
    await hears(received, 6000);
    assert.deepEqual(received, upTo(6000, 3001));
    leave();
  });

  test('leaving and coming back during a poll leaves one poll at a time, at the right position', async () => {
    const store = createStore();
    store.arrive(1);
    const feed = createFeed(store);
    const first = createListener();
    const { leave } = await feed.subscribe(first.listener);
    const release = store.holdAnswers();
    const polled = store.polls();
    await eventually('a poll', () => store.polls() > polled);
    leave();
    const second = createListener();
    const leaving = feed.subscribe(second.listener);
    release();
    const again = await leaving;
    store.arrive(2);
    await hears(second.received, 2);
    store.arrive(3);
    await hears(second.received, 3);
    assert.deepEqual([first.received, second.received], [[], [2, 3]]);
    const before = store.polls();
    const sinceMs = performance.now();
    await pause(350);
    // One poll every 100 ms; on a busy machine the pause may take longer.
    const most = Math.ceil((performance.now() - sinceMs) / 100) + 1;
    assert.ok(store.polls() - before <= most, 'one loop, not two');
    again.leave();
    await pause(150);
    const idle = store.polls();
    await pause(250);
    assert.equal(store.polls(), idle, 'without listeners the feed does not poll');
  });

  test('stop ends every subscription, and those that come after it', async () => {
    const store = createStore();
    const feed = createFeed(store);
    const [here, coming, late] = [createListener(), createListener(), createListener()];
    await feed.subscribe(here.listener);
    const subscribing = feed.subscribe(coming.listener);
    feed.stop();
    await subscribing;
    await feed.subscribe(late.listener);
    assert.deepEqual([here.ends(), coming.ends(), late.ends()], [1, 1, 1]);
  });
});
