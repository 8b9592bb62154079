import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlots } from './slots.ts';

function setUp({ perKey = 4, total = 8 } = {}) {
  const ends: (() => void)[] = [];
  const slots = createSlots({
    perKey,
    total,
    onKeyFull: () => new Error('the key is full'),
    onAllFull: () => new Error('all is full'),
  });
  /** Work that lasts until `end` is called. */
  const enter = (key: string) => slots.run(key, () => new Promise<void>((end) => ends.push(end)));
  const end = () => ends.shift()?.();
  return { slots, enter, end };
}

test('a key cannot take more than its slots, and gets them back', async () => {
  const { enter, end } = setUp({ perKey: 2 });
  const first = enter('a');
  const others = [enter('a'), enter('b')];
  await assert.rejects(enter('a'), /the key is full/);
  end();
  await first;
  others.push(enter('a'));
  await assert.rejects(enter('a'), /the key is full/);
  for (let i = 0; i < 3; i++) end();
  await Promise.all(others);
});

test('when all slots are taken a newcomer is refused, until one is free', async () => {
  const { enter, end } = setUp({ total: 2 });
  const first = enter('a');
  const others = [enter('b')];
  await assert.rejects(enter('c'), /all is full/);
  end();
  await first;
  others.push(enter('c'));
  for (let i = 0; i < 2; i++) end();
  await Promise.all(others);
});

test('work that fails frees its slot', async () => {
  const { slots, enter, end } = setUp({ perKey: 1, total: 1 });
  for (let i = 0; i < 3; i++) {
    await assert.rejects(
      slots.run('a', () => Promise.reject(new Error('no'))),
      /no/,
    );
  }
  const last = enter('a');
  end();
  await last;
});
