import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../errors.ts';
import { createFairShare, type FairShareOptions, LeftQueue } from './fair-share.ts';

const usual: FairShareOptions = { concurrent: 4, perCaller: 2, waitingPerCaller: 50, waitMs: 60_000 };

/** Work that ends when the test says so. */
function createWork() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      begun.push(name);
      ends.push(() => resolve(name));
    });
  return { begun, work, endNext: () => ends.shift()?.() };
}

const settle = () => new Promise((done) => setImmediate(done));

test('a caller with a long queue has two at work, and another begins at once', async () => {
  const share = createFairShare(usual);
  const { begun, work, endNext } = createWork();
  const all = Array.from({ length: 50 }, () => share.run('greedy', work('greedy')));
  await settle();
  assert.deepEqual(begun, ['greedy', 'greedy']);
  all.push(share.run('modest', work('modest')));
  await settle();
  assert.deepEqual(begun, ['greedy', 'greedy', 'modest']);
  for (let round = 0; round < 60; round++) {
    endNext();
    await settle();
  }
  await Promise.all(all);
  assert.deepEqual([share.running, share.waiting], [0, 0]);
});

test('a caller that is alone has all but one at work, and gives up its extra turn when another comes', async () => {
  const share = createFairShare({ ...usual, aloneCaller: 3 });
  const { begun, work, endNext } = createWork();
  const all = Array.from({ length: 6 }, () => share.run('greedy', work('greedy')));
  await settle();
  assert.deepEqual(begun, ['greedy', 'greedy', 'greedy']);
  all.push(share.run('modest', work('modest')), share.run('modest', work('modest')));
  await settle();
  assert.deepEqual(begun.slice(3), ['modest']);
  endNext();
  await settle();
  assert.deepEqual(begun.slice(4), ['modest'], 'the place that became free is not for the one that has two');
  for (let round = 0; round < 8; round++) {
    endNext();
    await settle();
  }
  await Promise.all(all);
  assert.deepEqual([share.running, share.waiting], [0, 0]);
});

test('callers take turns when all places are taken', async () => {
  const share = createFairShare({ ...usual, concurrent: 1, perCaller: 1 });
  const { begun, work, endNext } = createWork();
  const all = ['a', 'a', 'a', 'b', 'c', 'b'].map((name) => share.run(name, work(name)));
  for (let round = 0; round < 6; round++) {
    await settle();
    endNext();
  }
  await Promise.all(all);
  assert.deepEqual(begun, ['a', 'a', 'b', 'c', 'a', 'b'], 'after its turn a caller is behind those that wait by then');
});

test('a newcomer waits for one task of each other caller, not for all of them', async () => {
  const share = createFairShare({ concurrent: 1, perCaller: 1 });
  const { begun, work, endNext } = createWork();
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => share.run('a', work(name)));
  await settle();
  endNext();
  await settle();
  all.push(share.run('b', work('b1')));
  for (let round = 0; round < 5; round++) {
    endNext();
    await settle();
  }
  await Promise.all(all);
  assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1', 'a4']);
});

test('without a limit every task waits for its turn, and never more than allowed run', async () => {
  const share = createFairShare({ concurrent: 2, perCaller: 2 });
  let running = 0;
  let most = 0;
  const task = async () => {
    most = Math.max(most, ++running);
    await settle();
    running--;
  };
  // Two tasks in a row, as a sign-in that renews its hash has.
  const signIn = async (index: number) => {
    await share.run(`caller ${index % 7}`, task);
    await share.run(`caller ${index % 7}`, task);
  };
  await Promise.all(Array.from({ length: 200 }, (_, index) => signIn(index)));
  assert.deepEqual([most, running, share.running, share.waiting], [2, 0, 0, 0]);
});

test('a caller with too much waiting is refused with a 503, and no other is', async () => {
  const share = createFairShare({ ...usual, waitingPerCaller: 3 });
  const { work, endNext } = createWork();
  const kept = Array.from({ length: 5 }, () => share.run('greedy', work('greedy')));
  await assert.rejects(
    share.run('greedy', work('greedy')),
    (error) => error instanceof ApiError && error.status === 503,
  );
  const other = share.run('modest', work('modest'));
  for (let round = 0; round < 6; round++) {
    await settle();
    endNext();
  }
  await Promise.all([...kept, other]);
});

test('each queue of a caller has its own room, and they take turns', async () => {
  const share = createFairShare({ ...usual, concurrent: 1, perCaller: 1 });
  const { begun, work, endNext } = createWork();
  const at = (queue: string, room: number) => ({ caller: 'a', queue, room });
  const all = ['sms', 'sms', 'sms', 'verify', 'sms', 'verify'].map((queue) => share.run(at(queue, 3), work(queue)));
  await assert.rejects(share.run(at('sms', 3), work('sms')), /too many/);
  for (let round = 0; round < 6; round++) {
    await settle();
    endNext();
  }
  await Promise.all(all);
  assert.deepEqual(begun, ['sms', 'sms', 'verify', 'sms', 'verify', 'sms']);
});

test('when too much waits in all, a queue has the room of a small caller', async () => {
  const share = createFairShare({ concurrent: 1, perCaller: 1, waitingPerCaller: 2, waitingInAll: 5, waitMs: 60_000 });
  const { work, endNext } = createWork();
  const at = (caller: string) => ({ caller, queue: '', room: 5000 });
  const all = Array.from({ length: 6 }, () => share.run(at('greedy'), work('greedy')));
  await assert.rejects(share.run(at('greedy'), work('greedy')), /too many/);
  all.push(share.run(at('modest'), work('modest')), share.run(at('modest'), work('modest')));
  await assert.rejects(share.run(at('modest'), work('modest')), /too many/);
  for (let round = 0; round < 8; round++) {
    await settle();
    endNext();
  }
  await Promise.all(all);
});

test('work leaves its queue when its caller disconnects, and goes on if it has begun', async () => {
  const share = createFairShare({ ...usual, concurrent: 1, perCaller: 1 });
  const { begun, work, endNext } = createWork();
  const leaves: (() => void)[] = [];
  const place = { caller: 'a', queue: '', room: 9, onWaiting: (leave: () => void) => leaves.push(leave) };
  const first = share.run(place, work('first'));
  const second = share.run(place, work('second'));
  const third = share.run(place, work('third'));
  assert.equal(leaves.length, 2, 'the first did not wait');
  leaves[0]?.();
  await assert.rejects(second, LeftQueue);
  endNext();
  await settle();
  leaves[1]?.();
  endNext();
  assert.deepEqual([await first, await third, begun], ['first', 'third', ['first', 'third']]);
});

test('work that waits too long is refused, and leaves its place', async () => {
  const share = createFairShare({ ...usual, concurrent: 1, waitMs: 5 });
  const { begun, work, endNext } = createWork();
  const first = share.run('a', work('first'));
  await assert.rejects(share.run('b', work('late')), /Try again/);
  endNext();
  await first;
  assert.deepEqual([begun, share.running, share.waiting], [['first'], 0, 0]);
});

test('work that fails gives its place back', async () => {
  const share = createFairShare({ ...usual, concurrent: 1 });
  await assert.rejects(
    share.run('a', () => Promise.reject(new Error('broken'))),
    /broken/,
  );
  assert.equal(await share.run('a', async () => 'next'), 'next');
});

test('at no time more than allowed are at work, whatever comes in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'c', 'end'), { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, concurrent, perCaller) => {
        const share = createFairShare({ ...usual, concurrent, perCaller });
        const { work, endNext } = createWork();
        const atWork = new Map<string, number>();
        const runs: Promise<unknown>[] = [];
        for (const step of steps) {
          if (step === 'end') endNext();
          else {
            runs.push(
              share.run(step, async () => {
                atWork.set(step, (atWork.get(step) ?? 0) + 1);
                await work(step)();
                atWork.set(step, (atWork.get(step) ?? 0) - 1);
              }),
            );
          }
          await settle();
          assert.ok(share.running <= concurrent);
          for (const count of atWork.values()) assert.ok(count <= perCaller);
        }
        for (let left = 0; left <= steps.length; left++) {
          endNext();
          await settle();
        }
        await Promise.all(runs);
        assert.deepEqual([share.running, share.waiting], [0, 0]);
      },
    ),
    { numRuns: 200 },
  );
});
