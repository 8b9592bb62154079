import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestLog } from '../../test/support/log.ts';
import { until } from '../../test/support/texts.ts';
import type { Handsets, HandsetText } from './handsets.ts';
import { createInboxFeed, type InboxListener } from './inbox-feed.ts';
import type { RenderArrivals } from './inbox-text.ts';

/** Phones whose rows appear when the test says so, and whose answers may be held back. */
function createPhones() {
  const rows: HandsetText[] = [];
  let hold: Promise<void> = Promise.resolve();
  let failures = 0;
  let looks = 0;
  const phones: Pick<Handsets, 'listAfter' | 'newestId'> = {
    async newestId() {
      await hold;
      if (failures-- > 0) throw new Error('the database is away');
      return Math.max(0, ...rows.map(({ id }) => id));
    },
    async listAfter(after) {
      looks++;
      await hold;
      if (failures-- > 0) throw new Error('the database is away');
      const fresh = rows.filter(({ id }) => id > after);
      return fresh.sort((a, b) => a.id - b.id).slice(0, 1000);
    },
  };
  return {
    phones,
    arrive(...ids: number[]) {
      const text = { applicationId: 'app', to: '+1', messageId: 'msg', attempt: 1, receivedAtMs: 0 };
      for (const id of ids) rows.push({ id, ...text });
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
    looks: () => looks,
  };
}

function createListener() {
  const told: number[] = [];
  let ends = 0;
  const listener: InboxListener = {
    applicationId: 'app',
    onTexts: (texts) => void told.push(...texts.map(({ id }) => id)),
    onEnd: () => void ends++,
  };
  return { listener, told, ends: () => ends };
}

const { log } = createTestLog();

/** A feed whose rendering is counted, and may fail. */
function createFeed({ phones }: ReturnType<typeof createPhones>) {
  const rendered: number[] = [];
  let failures = 0;
  const renderArrivals: RenderArrivals = async (arrivals) => {
    if (failures-- > 0) throw new Error('the database is away');
    rendered.push(...arrivals.map(({ id }) => id));
    return arrivals.map((arrival) => ({ arrival, item: { id: arrival.id } }));
  };
  const failRendering = (times: number) => {
    failures = times;
  };
  return { ...createInboxFeed({ handsets: phones, renderArrivals, log }), rendered, failRendering };
}

const hears = (told: number[], id: number) => until(`text ${id}`, () => told.includes(id));
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

describe('the inbox feed', { concurrency: true }, () => {
  test('whoever subscribes is told of all that arrives once the promise resolves, and of nothing before', async () => {
    const phones = createPhones();
    phones.arrive(1, 2);
    const release = phones.holdAnswers();
    const feed = createFeed(phones);
    const { listener, told } = createListener();
    let ready = false;
    const subscribed = feed.subscribe(listener).then((leave) => {
      ready = true;
      return leave;
    });
    await pause(20);
    assert.equal(ready, false, 'where it stands is not known yet');
    release();
    const leave = await subscribed;
    phones.arrive(3);
    await hears(told, 3);
    assert.deepEqual(told, [3]);
    leave();
  });

  test('a text is rendered once for all its readers, and not at all for none', async () => {
    const phones = createPhones();
    const feed = createFeed(phones);
    const readers = Array.from({ length: 5 }, createListener);
    const leaves = await Promise.all(readers.map(({ listener }) => feed.subscribe(listener)));
    const other = createListener();
    leaves.push(await feed.subscribe({ ...other.listener, applicationId: 'another' }));
    phones.arrive(1, 2);
    for (const { told } of readers) await hears(told, 2);
    assert.deepEqual([feed.rendered, other.told], [[1, 2], []]);
    for (const leave of leaves) leave();
    const own = createListener();
    const leave = await feed.subscribe({ ...own.listener, applicationId: 'another' });
    phones.arrive(3);
    await pause(250);
    assert.deepEqual(feed.rendered, [1, 2]);
    leave();
  });

  test('what could not be rendered is told by the next look, once', async () => {
    const phones = createPhones();
    const feed = createFeed(phones);
    const { listener, told } = createListener();
    const leave = await feed.subscribe(listener);
    feed.failRendering(2);
    phones.arrive(1, 2);
    await hears(told, 2);
    phones.arrive(3);
    await hears(told, 3);
    assert.deepEqual(told, [1, 2, 3]);
    leave();
  });

  test('goes on however many there are', async () => {
    const phones = createPhones();
    phones.arrive(...Array.from({ length: 3000 }, (_, i) => i + 1));
    const feed = createFeed(phones);
    const { listener, told } = createListener();
    const leave = await feed.subscribe(listener);
    phones.arrive(...Array.from({ length: 3000 }, (_, i) => i + 3001));
    await hears(told, 6000);
    assert.deepEqual(
      told,
      Array.from({ length: 3000 }, (_, i) => i + 3001),
    );
    leave();
  });

  test('leaving and coming back during a look leaves one look at a time, at the right place', async () => {
    const phones = createPhones();
    phones.arrive(1);
    const feed = createFeed(phones);
    const first = createListener();
    const leave = await feed.subscribe(first.listener);
    const release = phones.holdAnswers();
    const looked = phones.looks();
    await until('a look', () => phones.looks() > looked);
    leave();
    const second = createListener();
    const leaving = feed.subscribe(second.listener);
    release();
    const leaveAgain = await leaving;
    phones.arrive(2);
    await hears(second.told, 2);
    phones.arrive(3);
    await hears(second.told, 3);
    assert.deepEqual([first.told, second.told], [[], [2, 3]]);
    const before = phones.looks();
    const sinceMs = performance.now();
    await pause(350);
    // One look every 100 ms, and a machine that is busy may take longer for the pause than it was told.
    const most = Math.ceil((performance.now() - sinceMs) / 100) + 1;
    assert.ok(phones.looks() - before <= most, 'one loop, not two');
    leaveAgain();
    await pause(150);
    const idle = phones.looks();
    await pause(250);
    assert.equal(phones.looks(), idle, 'nobody listens, nobody looks');
  });

  test('a failed look is made up for; a failed beginning is the subscriber’s to know', async () => {
    const phones = createPhones();
    const feed = createFeed(phones);
    const { listener, told } = createListener();
    phones.fail(1);
    await assert.rejects(feed.subscribe(listener), /away/);
    const leave = await feed.subscribe(listener);
    phones.fail(2);
    phones.arrive(1);
    await hears(told, 1);
    leave();
  });

  test('stop ends every subscription, and those that come after it', async () => {
    const phones = createPhones();
    const feed = createFeed(phones);
    const [here, coming, late] = [createListener(), createListener(), createListener()];
    await feed.subscribe(here.listener);
    const subscribing = feed.subscribe(coming.listener);
    feed.stop();
    await subscribing;
    await feed.subscribe(late.listener);
    assert.deepEqual([here.ends(), coming.ends(), late.ends()], [1, 1, 1]);
  });
});
