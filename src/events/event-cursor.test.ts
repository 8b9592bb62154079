import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../platform/clock.ts';
import { createKeyRing, type RingVersion } from '../platform/crypto/keys.ts';
import { fromUuid, newId, toUuidText, uuidOf } from '../platform/ids.ts';
import { createEventCursors } from './event-cursor.ts';

const version = (number: number): RingVersion => ({ version: number, usedFromMs: 0, key: Buffer.alloc(32, number) });
const cursorsOf = (ring: RingVersion[]) => createEventCursors(createKeyRing(systemClock, () => ring));
const position = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const [own, other] = [newId('app', systemClock), newId('app', systemClock)];

test('a cursor is read by its application alone, on every node, and also after the ring was rotated', () => {
  const [one, another, rotated] = [[version(1)], [version(1)], [version(2), version(1)]].map(cursorsOf);
  fc.assert(
    fc.property(position, (given) => {
      const cursor = one?.cursorAt(own, given) ?? '';
      assert.match(cursor, /^evt_[0-9a-z]{26}$/);
      for (const cursors of [one, another, rotated]) {
        assert.equal(cursors?.positionOf(own, cursor), given);
        assert.equal(cursors?.positionOf(other, cursor), undefined);
      }
    }),
  );
  const later = rotated?.cursorAt(own, 5) ?? '';
  assert.equal(rotated?.positionOf(own, later), 5);
  assert.equal(one?.positionOf(own, later), undefined, 'it was made with the new key');
});

test('a cursor with any changed bits is refused', () => {
  const cursors = cursorsOf([version(1)]);
  fc.assert(
    fc.property(position, fc.uint8Array({ minLength: 16, maxLength: 16 }), (given, change) => {
      const cursor = cursors.cursorAt(own, given);
      const bytes = Buffer.from(uuidOf(cursor).replaceAll('-', ''), 'hex').map((byte, at) => byte ^ (change[at] ?? 0));
      const forged = fromUuid('evt', toUuidText(Buffer.from(bytes)));
      assert.equal(cursors.positionOf(own, forged), forged === cursor ? given : undefined);
    }),
  );
  for (const text of ['', 'evt_', `evt_${'z'.repeat(26)}`, newId('msg', systemClock), 'x'.repeat(1000)])
    assert.equal(cursors.positionOf(own, text), undefined, text.slice(0, 40));
});

test('two cursors of one position differ, so that a reader cannot detect events of other applications', () => {
  const cursors = cursorsOf([version(1)]);
  assert.ok(new Set(Array.from({ length: 20 }, () => cursors.cursorAt(own, 4711))).size > 15);
});
