import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestClock } from '../../test/support/clock.ts';
import { everyRight } from '../http/sending-rights.ts';
import { createCredentialCache, type Finding } from './credential-cache.ts';
import type { KnownApplication } from './directory.ts';

const application: KnownApplication = {
  id: 'app_1',
  name: 'A',
  disabled: false,
  highPriority: false,
  rights: everyRight,
  registrations: {},
  client: undefined,
};
const always = Number.POSITIVE_INFINITY;
const [a, b] = ['a', 'b'];

interface Read {
  text: string;
  answer(finding: Finding<string> | undefined): void;
  fail(error: Error): void;
}

/** A cache whose reads the test answers, over a feed and applications in the test's hand. */
function createWorld(most = 100) {
  const feed = { generation: 1 };
  const clock = createTestClock();
  const reads: Read[] = [];
  const state = { current: true, kept: 0 };
  const cache = createCredentialCache<string>({
    feed,
    clock,
    applications: { isCurrent: () => state.current, keep: () => void state.kept++ },
    read: (text) => new Promise((answer, fail) => reads.push({ text, answer, fail })),
    most,
  });
  const learn = async (text: typeof a, finding: Finding<string> | undefined) => {
    const found = cache.lookUp(text);
    reads.at(-1)?.answer(finding);
    return found;
  };
  return { feed, clock, reads, state, cache, learn };
}

const valid = (value: string): Finding<string> => ({ value, application, endsAtMs: always });

describe('what is remembered', () => {
  test('holds while its application is current, then needs a lookup and stays known', async () => {
    const { cache, state, learn } = createWorld();
    assert.equal(cache.remembered(a), undefined);
    assert.equal(cache.wasKnown(a), false);
    assert.equal(await learn(a, valid('A')), 'A');
    assert.equal(cache.remembered(a), 'A');
    assert.equal(state.kept, 1);
    state.current = false;
    assert.equal(cache.remembered(a), undefined);
    assert.equal(cache.wasKnown(a), true);
  });

  test('ends with its expiry, also while this node follows no changes', async () => {
    const { cache, clock, state, learn } = createWorld();
    const endsAtMs = clock.nowMs() + 1000;
    await learn(a, { value: 'A', application, endsAtMs });
    clock.advance(999);
    assert.equal(cache.remembered(a), 'A');
    clock.advance(1);
    assert.equal(cache.remembered(a), null);
    state.current = false;
    assert.equal(cache.remembered(a), null);
    assert.equal(await learn(b, { value: 'B', application, endsAtMs }), null, 'expired when it was read');
  });

  test('invalid by the state of its application: until that changes', async () => {
    const { cache, state, learn } = createWorld();
    assert.equal(await learn(a, { value: null, application, endsAtMs: always }), null);
    assert.equal(cache.remembered(a), null);
    state.current = false;
    assert.equal(cache.remembered(a), undefined);
    assert.equal(cache.wasKnown(a), true);
  });

  test('without an application it is invalid for ever', async () => {
    const { cache, state, learn } = createWorld();
    assert.equal(await learn(a, { value: null, application: undefined, endsAtMs: always }), null);
    state.current = false;
    cache.invalidate();
    assert.equal(cache.remembered(a), null);
    assert.equal(cache.wasKnown(a), false);
  });

  test('nothing of a forged text, and what was known under it is forgotten', async () => {
    const { cache, learn } = createWorld();
    await learn(a, valid('A'));
    assert.equal(await learn(a, undefined), null);
    assert.equal(cache.remembered(a), undefined);
    assert.equal(cache.wasKnown(a), false);
    assert.equal(cache.size, 0);
  });

  test('nothing that was read while a change came', async () => {
    const { cache, feed, reads, state } = createWorld();
    const found = cache.lookUp(a);
    feed.generation++;
    reads[0]?.answer(valid('A'));
    assert.equal(await found, 'A', 'it is used once');
    assert.equal(cache.remembered(a), undefined);
    assert.equal(state.kept, 0);
  });

  test('after an invalidation everything is looked up again, and stays known', async () => {
    const { cache, learn } = createWorld();
    await learn(a, valid('A'));
    cache.invalidate();
    assert.equal(cache.remembered(a), undefined);
    assert.equal(cache.wasKnown(a), true);
    await learn(a, valid('A'));
    assert.equal(cache.remembered(a), 'A');
  });

  test('no more than there is room for', async () => {
    const { cache, learn } = createWorld(10);
    for (let i = 0; i < 100; i++) await learn(`text ${i}`, valid('A'));
    assert.ok(cache.size <= 10, `${cache.size} entries`);
  });
});

describe('lookups that come together', () => {
  test('a thousand make one read; the next one later makes another', async () => {
    const { reads, cache } = createWorld();
    const all = Promise.all(Array.from({ length: 1000 }, () => cache.lookUp(a)));
    assert.equal(reads.length, 1);
    reads[0]?.answer(valid('found'));
    assert.ok((await all).every((value) => value === 'found'));
    void cache.lookUp(a);
    assert.equal(reads.length, 2);
  });

  test('different credentials are not mixed up', async () => {
    const { reads, cache } = createWorld();
    const both = [cache.lookUp(a), cache.lookUp(b)];
    assert.deepEqual(
      reads.map(({ text }) => text),
      ['a', 'b'],
    );
    reads[1]?.answer(valid('B'));
    reads[0]?.answer(valid('A'));
    assert.deepEqual(await Promise.all(both), ['A', 'B']);
  });

  test('a lookup after a change does not join a read that began before it', async () => {
    const { feed, reads, cache } = createWorld();
    const before = cache.lookUp(a);
    feed.generation++;
    const after = cache.lookUp(a);
    const joined = cache.lookUp(a);
    assert.equal(reads.length, 2);
    // The old read ends in between and must not take the new one's place.
    reads[0]?.answer(valid('old'));
    assert.equal(await before, 'old');
    const late = cache.lookUp(a);
    assert.equal(reads.length, 2);
    reads[1]?.answer(valid('new'));
    assert.deepEqual(await Promise.all([after, joined, late]), ['new', 'new', 'new']);
  });

  test('no lookup joins a read that is older than a change would wait for this node', () => {
    const { clock, reads, cache } = createWorld();
    void cache.lookUp(a);
    clock.advance(499);
    void cache.lookUp(a);
    assert.equal(reads.length, 1);
    clock.advance(1);
    void cache.lookUp(a);
    assert.equal(reads.length, 2);
  });

  test('a failure is shared, and forgotten', async () => {
    const { reads, cache } = createWorld();
    const both = [cache.lookUp(a), cache.lookUp(a)];
    reads[0]?.fail(new Error('away'));
    for (const each of both) await assert.rejects(each, /away/);
    const again = cache.lookUp(a);
    reads[1]?.answer(valid('found'));
    assert.equal(await again, 'found');
  });
});
