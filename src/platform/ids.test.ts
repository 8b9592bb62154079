import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTestClock } from '../../test/support/clock.ts';
import { systemClock } from './clock.ts';
import { fromUuid, idFloor, newId, toUuid, uuidFloor, uuidOf } from './ids.ts';

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

const dashed = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

test('an id and the uuid of its 16 bytes are two spellings of one thing, and sort alike', () => {
  const bytes = fc
    .uint8Array({ minLength: 16, maxLength: 16 })
    .map((array) => dashed(Buffer.from(array).toString('hex')));
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      const [id, second] = [fromUuid('msg', one), fromUuid('msg', other)];
      assert.match(id, /^msg_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      assert.equal(uuidOf(id), one);
      assert.equal(id < second, one < other);
      assert.equal(fromUuid('msg', one.replaceAll('-', '')), id);
    }),
  );
});

test('the uuid of a time lies below those of its ids, and above all earlier ones', () => {
  const made = (ms: number) => uuidOf(newId('msg', createTestClock(ms)));
  for (const ms of [1, 1_700_000_000_000, 2 ** 48 - 2]) {
    assert.ok(uuidFloor(ms) < made(ms), 'below its own');
    assert.ok(uuidFloor(ms) > made(ms - 1), 'above the earlier');
  }
});

test('what is no id has no uuid', () => {
  const id = newId('msg', systemClock);
  assert.equal(toUuid('msg', id), uuidOf(id));
  for (const text of [
    '',
    'msg_',
    id.slice(1),
    `${id}0`,
    id.replace('msg', 'ver'),
    `msg_8${id.slice(5)}`,
    `${id.slice(0, -1)}u`,
  ])
    assert.equal(toUuid('msg', text), undefined);
});
