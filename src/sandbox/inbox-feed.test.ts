import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestLog } from '../../test/support/log.ts';
import { until } from '../../test/support/texts.ts';
import type { Handsets, HandsetText } from './handsets.ts';
import { createInboxFeed, type Listener } from './inbox-feed.ts';

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
    async listAfter(after, seen) {
      looks++;
      await hold;
      if (failures-- > 0) throw new Error('the database is away');
      const fresh = rows.filter(({ id }) => id > after && !seen.includes(id));
      return fresh.sort((a, b) => a.id - b.id).slice(0, 1000);
    },
  };
  return {
    handsets: phones as Handsets,
    arrive(...ids: number[]) {
      const text = { applicationId: 'app', recipient: '+1', messageId: 'msg', attempt: 1, receivedAtMs: 0 };
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
  const listener: Listener = {
    onTexts: (texts) => void told.push(...texts.map(({ id }) => id)),
    onEnd: () => void ends++,
  };
  return { listener, told, ends: () => ends };
}

const { log } = createTestLog();
const hears = (told: number[], id: number) => until(`text ${id}`, () => told.includes(id), 2000);
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

describe('the inbox feed', () => {
  test('whoever subscribes is told of all that arrives once the promise resolves, and of nothing before', async () => {
    const phones = createPhones();
    phones.arrive(1, 2);
    const release = phones.holdAnswers();
    const feed = createInboxFeed(phones.handsets, log);
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

  test('a row whose id was given out earlier but which shows later is told, once', async () => {
    const phones = createPhones();
    const feed = createInboxFeed(phones.handsets, log);
    const { listener, told } = createListener();
    phones.arrive(10);
    const leave = await feed.subscribe(listener);
    phones.arrive(12);
    await hears(told, 12);
    phones.arrive(11, 9);
    await hears(told, 11);
    await pause(250);
    assert.deepEqual(told, [12, 9, 11]);
    leave();
  });

  test('goes on however many there are', async () => {
    const phones = createPhones();
    phones.arrive(...Array.from({ length: 3000 }, (_, i) => i + 1));
    const feed = createInboxFeed(phones.handsets, log);
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
    const feed = createInboxFeed(phones.handsets, log);
    const first = createListener();
    const leave = await feed.subscribe(first.listener);
    const release = phones.holdAnswers();
    await pause(150);
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
    await pause(350);
    assert.ok(phones.looks() - before <= 4, 'one loop, not two');
    leaveAgain();
    await pause(150);
    const idle = phones.looks();
    await pause(250);
    assert.equal(phones.looks(), idle, 'nobody listens, nobody looks');
  });

  test('a failed look is made up for; a failed beginning is the subscriber’s to know', async () => {
    const phones = createPhones();
    const feed = createInboxFeed(phones.handsets, log);
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
    const feed = createInboxFeed(phones.handsets, log);
    const [here, coming, late] = [createListener(), createListener(), createListener()];
    await feed.subscribe(here.listener);
    const subscribing = feed.subscribe(coming.listener);
    feed.stop();
    await subscribing;
    await feed.subscribe(late.listener);
    assert.deepEqual([here.ends(), coming.ends(), late.ends()], [1, 1, 1]);
  });
});
