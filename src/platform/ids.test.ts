import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../test/support/clock.ts';
import { systemClock } from './clock.ts';
import { idFloor, newId } from './ids.ts';

test('an id is its prefix and 26 characters that survive being read aloud', () => {
  assert.match(newId('app', systemClock), /^app_[0-9a-hjkmnp-tv-z]{26}$/);
});

test('a hundred thousand ids of one millisecond are all different', () => {
  const clock = createTestClock();
  const ids = new Set(Array.from({ length: 100_000 }, () => newId('req', clock)));
  assert.equal(ids.size, 100_000);
});

test('ids sort by the time they were made, as text, in every century', () => {
  const times = [0, 1, 31, 32, 1_700_000_000_000, 1_700_000_000_001, 4_102_444_800_000, 2 ** 48 - 1];
  const ids = times.map((time) => newId('app', createTestClock(time)));
  for (let index = 1; index < ids.length; index++) assert.ok((ids[index - 1] ?? '') < (ids[index] ?? ''));
  assert.ok(ids[0]?.startsWith('app_0000000000'));
  assert.ok(ids.at(-1)?.startsWith('app_7zzzzzzzzz'));
});

test('ids of one millisecond sort in the order they were made', () => {
  const clock = createTestClock();
  const ids = Array.from({ length: 10_000 }, () => newId('msg', clock));
  assert.deepEqual([...ids].sort(), ids);
  assert.ok(idFloor('msg', clock.nowMs()) < (ids[0] ?? ''));
  assert.ok(idFloor('msg', clock.nowMs() + 1) > (ids.at(-1) ?? ''));
});

test('a clock that gives parts of a millisecond does no harm', () => {
  assert.match(newId('app', createTestClock(1_700_000_000_000.25)), /^app_[0-9a-hjkmnp-tv-z]{26}$/);
});

test('every random character is used, in every place', () => {
  const seen = Array.from({ length: 13 }, () => new Set<string>());
  for (let count = 0; count < 3000; count++) {
    const random = newId('app', systemClock).slice(17);
    for (let place = 0; place < 13; place++) seen[place]?.add(random[place] ?? '');
  }
  for (const characters of seen) assert.equal(characters.size, 32);
});
