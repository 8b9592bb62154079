import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFairShare, LeftQueue } from './fair-share.ts';
import { createSharedReads } from './shared-reads.ts';

const settle = () => new Promise((done) => setImmediate(done));

/** One read at a time; each ends when the test says so, and gives its number. */
function createReads(waitMs = 60_000) {
  const turns = createFairShare({ concurrent: 1, perCaller: 1, waitMs });
  const reads = createSharedReads(turns);
  const ends: (() => void)[] = [];
  let begun = 0;
  const leaves: (() => void)[] = [];
  const read = (key: string, room = 10) =>
    reads(key, { caller: 'a', queue: 'sms', room, onWaiting: (leave) => leaves.push(leave) }, () => {
      const number = ++begun;
      return new Promise<number>((resolve) => ends.push(() => resolve(number)));
    });
  return { read, turns, leaves, begun: () => begun, endNext: () => ends.shift()?.() };
}

test('those that wait together are read once, and none joins a read that has begun', async () => {
  const { read, begun, turns, endNext } = createReads();
  const first = read('k');
  await settle();
  const together = Array.from({ length: 50 }, () => read('k'));
  const other = read('another');
  assert.deepEqual([begun(), turns.waiting], [1, 2]);
  endNext();
  assert.equal(await first, 1);
  await settle();
  const late = read('k');
  endNext();
  assert.deepEqual(await Promise.all(together), Array(50).fill(2));
  for (let turn = 0; turn < 2; turn++) {
    await settle();
    endNext();
  }
  assert.deepEqual(new Set([await other, await late]), new Set([3, 4]));
});

test('a reader that leaves gets an error; the read leaves its queue with the last of them', async () => {
  const { read, turns, leaves, endNext } = createReads();
  const first = read('k');
  await settle();
  leaves.length = 0;
  const together = [read('k'), read('k')];
  const left = together.map((each) => assert.rejects(each, LeftQueue));
  leaves.shift()?.();
  await settle();
  assert.equal(turns.waiting, 1, 'one still waits');
  leaves.shift()?.();
  await Promise.all(left);
  assert.equal(turns.waiting, 0);
  const after = read('k');
  endNext();
  await first;
  await settle();
  endNext();
  assert.equal(await after, 2, 'a later one begins its own');
});

test('a read that gets no turn in time fails for all its readers, and the next begins anew', async () => {
  const { read, endNext } = createReads(5);
  const first = read('k');
  await settle();
  await Promise.all([assert.rejects(read('k'), /busy/), assert.rejects(read('k'), /busy/)]);
  endNext();
  await first;
  const next = read('k');
  await settle();
  endNext();
  assert.equal(await next, 2);
});
