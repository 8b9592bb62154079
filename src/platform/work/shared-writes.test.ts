import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSharedWrites } from './shared-writes.ts';

/** Writes that the test ends one by one. */
function createWrites() {
  const written: [key: string, items: number[]][] = [];
  const open: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const share = createSharedWrites<number, { key: string }>({
    keyOf: ({ key }) => key,
    mostPerWrite: 3,
    full: { most: 5, refuse: () => new Error('full') },
    write(items, { key }) {
      written.push([key, items]);
      return new Promise((resolve, reject) => open.push({ resolve, reject }));
    },
  });
  const end = async () => {
    open.shift()?.resolve();
    await new Promise(setImmediate);
  };
  return { share, written, open, end };
}

const one = { key: 'one' };

test('calls of one turn share a write, and calls during a write share the next ones', async () => {
  const { share, written, end } = createWrites();
  const calls = [share([1], one), share([2], one)];
  await new Promise(setImmediate);
  calls.push(share([3, 4], one), share([5], one), share([6], one));
  await end();
  await end();
  await end();
  await Promise.all(calls);
  assert.deepEqual(written, [
    ['one', [1, 2]],
    ['one', [3, 4, 5]],
    ['one', [6]],
  ]);
});

test('keys do not wait for each other, and one call is never cut', async () => {
  const { share, written, end } = createWrites();
  const calls = [share([1, 2, 3, 4], one), share([5], { key: 'other' })];
  await new Promise(setImmediate);
  assert.deepEqual(written, [
    ['one', [1, 2, 3, 4]],
    ['other', [5]],
  ]);
  await end();
  await end();
  await Promise.all(calls);
});

test('a failed write fails its own callers only', async () => {
  const { share, open, end } = createWrites();
  const failed = assert.rejects(share([1], one), /away/);
  await new Promise(setImmediate);
  const next = share([2], one);
  open.shift()?.reject(new Error('away'));
  await failed;
  await end();
  await next;
});

test('more items than may wait are refused, and accepted once there is room', async () => {
  const { share, end } = createWrites();
  const calls = [share([1, 2, 3], one), share([4, 5], one)];
  await assert.rejects(share([6], one), /full/);
  await new Promise(setImmediate);
  calls.push(share([6], one));
  await end();
  await end();
  await Promise.all(calls);
});
