import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../test/support/clock.ts';
import { createSharedLookup } from './shared-lookup.ts';

function createSlowLookup() {
  const feed = { generation: 1 };
  const clock = createTestClock();
  const reads: { text: string; answer: (value: string) => void; fail: (error: Error) => void }[] = [];
  const lookUp = createSharedLookup(
    feed,
    clock,
    (text) => new Promise<string>((answer, fail) => reads.push({ text, answer, fail })),
  );
  return { feed, clock, reads, lookUp };
}

test('a thousand at once make one read; the next one later makes another', async () => {
  const { reads, lookUp } = createSlowLookup();
  const all = Promise.all(Array.from({ length: 1000 }, () => lookUp('a')));
  assert.equal(reads.length, 1);
  reads[0]?.answer('found');
  assert.ok((await all).every((value) => value === 'found'));
  void lookUp('a');
  assert.equal(reads.length, 2);
});

test('different questions are not mixed up', async () => {
  const { reads, lookUp } = createSlowLookup();
  const [a, b] = [lookUp('a'), lookUp('b')];
  assert.deepEqual(
    reads.map(({ text }) => text),
    ['a', 'b'],
  );
  reads[1]?.answer('B');
  reads[0]?.answer('A');
  assert.deepEqual([await a, await b], ['A', 'B']);
});

test('who asks after a change does not join a read that began before it', async () => {
  const { feed, reads, lookUp } = createSlowLookup();
  const before = lookUp('a');
  feed.generation++;
  const after = lookUp('a');
  const joined = lookUp('a');
  assert.equal(reads.length, 2);
  // The old read ends in between and must not take the new one's place.
  reads[0]?.answer('old');
  assert.equal(await before, 'old');
  const late = lookUp('a');
  assert.equal(reads.length, 2);
  reads[1]?.answer('new');
  assert.deepEqual(await Promise.all([after, joined, late]), ['new', 'new', 'new']);
});

test('nobody joins a read that is older than a change would wait for this node', () => {
  const { clock, reads, lookUp } = createSlowLookup();
  void lookUp('a');
  clock.advance(499);
  void lookUp('a');
  assert.equal(reads.length, 1);
  clock.advance(1);
  void lookUp('a');
  assert.equal(reads.length, 2);
});

test('a failure is shared, and forgotten', async () => {
  const { reads, lookUp } = createSlowLookup();
  const both = [lookUp('a'), lookUp('a')];
  reads[0]?.fail(new Error('away'));
  for (const each of both) await assert.rejects(each, /away/);
  const again = lookUp('a');
  reads[1]?.answer('found');
  assert.equal(await again, 'found');
});
