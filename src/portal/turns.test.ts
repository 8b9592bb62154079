import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { createTurns } from './turns.ts';

function setUp({ running = 1, placesPerKey = 4, places = 8 } = {}) {
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const turns = createTurns({
    running,
    placesPerKey,
    places,
    onKeyFull: () => new Error('the key is full'),
    onAllFull: () => new Error('all is full'),
  });
  /** A job that lasts until `end` is called. */
  const enter = (key: string, name: string) =>
    turns.withPlace(key, (inTurn) =>
      inTurn(() => {
        order.push(name);
        return new Promise<void>((end) => ends.push(end));
      }),
    );
  async function end(): Promise<void> {
    ends.shift()?.();
    await nextTick();
  }
  return { turns, order, enter, end };
}

test('keys take turns: a key with many jobs delays another by one', async () => {
  const { order, enter, end } = setUp();
  const all = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3'), enter('b', 'b1'), enter('b', 'b2')];
  for (let i = 0; i < 5; i++) await end();
  await Promise.all(all);
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'a3', 'b2']);
});

test('a newcomer waits for one job of each other key, not for all of them', async () => {
  const { order, enter, end } = setUp();
  const all = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3'), enter('a', 'a4')];
  await end();
  all.push(enter('b', 'b1'));
  for (let i = 0; i < 5; i++) await end();
  await Promise.all(all);
  assert.deepEqual(order, ['a1', 'a2', 'a3', 'b1', 'a4']);
});

test('a key cannot take more than its places, and gets them back', async () => {
  const { enter, end } = setUp({ placesPerKey: 2 });
  const all = [enter('a', 'a1'), enter('a', 'a2')];
  await assert.rejects(enter('a', 'a3'), /the key is full/);
  all.push(enter('b', 'b1'));
  await end();
  all.push(enter('a', 'a3'));
  for (let i = 0; i < 3; i++) await end();
  await Promise.all(all);
});

test('when all places are taken a newcomer is told so', async () => {
  const { enter, end } = setUp({ places: 2 });
  const all = [enter('a', 'a1'), enter('b', 'b1')];
  await assert.rejects(enter('c', 'c1'), /all is full/);
  for (let i = 0; i < 2; i++) await end();
  await Promise.all(all);
});

test('a job that fails gives its turn and its place back', async () => {
  const { turns, order, enter, end } = setUp({ placesPerKey: 1 });
  for (let i = 0; i < 3; i++) {
    await assert.rejects(
      turns.withPlace('a', (inTurn) => inTurn(() => Promise.reject(new Error('no')))),
      /no/,
    );
    await assert.rejects(
      turns.withPlace('a', () => Promise.reject(new Error('before its turn'))),
      /before its turn/,
    );
  }
  const last = enter('a', 'a1');
  await end();
  await last;
  assert.deepEqual(order, ['a1']);
});

test('never more than allowed run at the same time', async () => {
  const turns = createTurns({
    running: 2,
    placesPerKey: 100,
    places: 100,
    onKeyFull: () => new Error('the key is full'),
    onAllFull: () => new Error('all is full'),
  });
  let running = 0;
  let most = 0;
  const job = async () => {
    most = Math.max(most, ++running);
    await nextTick();
    running--;
  };
  // Two jobs in one place, as a sign-in that renews its hash has.
  const work = (index: number) =>
    turns.withPlace(`key ${index % 7}`, async (inTurn) => {
      await inTurn(job);
      await inTurn(job);
    });
  await Promise.all(Array.from({ length: 50 }, (_, index) => work(index)));
  assert.equal(most, 2);
  assert.equal(running, 0);
});
