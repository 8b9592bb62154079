import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../platform/clock.ts';
import { createKeyRing, type RingVersion } from '../platform/crypto/keys.ts';
import { newId } from '../platform/ids.ts';
import { createEventIds } from './event-id.ts';

const version = (number: number): RingVersion => ({ version: number, usedFromMs: 0, key: Buffer.alloc(32, number) });
const idsOf = (ring: RingVersion[]) => createEventIds(createKeyRing(systemClock, () => ring));

const position = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const time = fc.integer({ min: 0, max: Date.parse('2100-01-01') });

test('an id names its position, and hides it', () => {
  const ids = idsOf([version(1)]);
  fc.assert(
    fc.property(position, time, (given, timeMs) => {
      const id = ids.idOf(given, timeMs);
      assert.match(id, /^evt_[0-9a-z]{26}$/);
      assert.equal(ids.positionOf(id), given);
      assert.equal(ids.idOf(given, timeMs), id, 'the same event has the same id');
    }),
  );
  // Two applications cannot see how many events lie between theirs.
  const tails = [1, 2, 3].map((given) => ids.idOf(given, 1_700_000_000_000 + given).slice(-13));
  assert.ok(new Set(tails.map((tail) => tail.slice(0, 6))).size === 3, tails.join(' '));
});

test('an event keeps its id when the ring is rotated, and cursors from before are still read', () => {
  const [before, after] = [idsOf([version(1)]), idsOf([version(2), version(1)])];
  const id = before.idOf(4711, 1_700_000_000_000);
  assert.equal(after.idOf(4711, 1_700_000_000_000), id, 'with a new id the receiver would process the event twice');
  assert.equal(after.positionOf(id), 4711);
});

test('a text that is not an event id has no position', () => {
  const [ids, others] = [idsOf([version(1)]), idsOf([{ ...version(1), version: 9 }])];
  const strange = [
    '',
    'evt_',
    'evt_0',
    newId('msg', systemClock),
    `evt_${'z'.repeat(26)}`,
    'evt_\0',
    'x'.repeat(10_000),
  ];
  for (const text of [...strange, others.idOf(1, 1)]) assert.equal(ids.positionOf(text), undefined, text.slice(0, 40));
  fc.assert(
    fc.property(fc.string(), (text) => {
      const read = ids.positionOf(text);
      assert.ok(read === undefined || Number.isSafeInteger(read), String(read));
    }),
  );
});
