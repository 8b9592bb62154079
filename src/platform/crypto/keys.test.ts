import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../../test/support/clock.ts';
import { hourMs } from '../clock.ts';
import { createKeyRing, type RingVersion } from './keys.ts';

const clock = createTestClock();
const startMs = clock.nowMs();

const first: RingVersion = { version: 1, usedFromMs: startMs, key: Buffer.alloc(32, 1) };
const second: RingVersion = { version: 2, usedFromMs: startMs + hourMs, key: Buffer.alloc(32, 2) };
const third: RingVersion = { version: 3, usedFromMs: startMs + 5 * hourMs, key: Buffer.alloc(32, 3) };

const ringAt = (nowMs: number, ...versions: RingVersion[]) => createKeyRing(createTestClock(nowMs), () => versions);

test('new rows use the newest version whose time has come', () => {
  const versionAt = (nowMs: number) => ringAt(nowMs, third, second, first).version;
  assert.equal(versionAt(startMs), 1);
  assert.equal(versionAt(startMs + hourMs - 1), 1);
  assert.equal(versionAt(startMs + hourMs), 2);
  assert.equal(versionAt(startMs + 5 * hourMs), 3);
  assert.equal(versionAt(startMs - 1), 1, 'another node, whose clock is ahead, made the ring');
});

test('what was made since a time was made by the versions in use since then, those of the near future included', () => {
  const ring = ringAt(startMs, third, second, first);
  assert.deepEqual(ring.versions, [3, 2, 1]);
  assert.deepEqual(ring.versionsSince(startMs), [3, 2, 1]);
  const skewMs = 10_000;
  assert.deepEqual(ring.versionsSince(second.usedFromMs + skewMs), [3, 2, 1]);
  assert.deepEqual(ring.versionsSince(second.usedFromMs + skewMs + 1), [3, 2]);
  assert.deepEqual(ring.versionsSince(third.usedFromMs + skewMs + 1), [3]);
  assert.deepEqual(ringAt(startMs, first).versionsSince(startMs + 100 * hourMs), [1]);
});

test('each purpose and each version has a key of its own', () => {
  const ring = ringAt(startMs, second, first);
  const all = [
    ring.keyFor('api-key', 1),
    ring.keyFor('api-key', 2),
    ring.keyFor('session', 1),
    ring.keyFor('session', 2),
  ];
  assert.equal(new Set(all.map((key) => key.toString('hex'))).size, 4);
  for (const key of all) assert.equal(key.length, 32);
  assert.throws(() => ring.keyFor('api-key', 3), /does not know the newest keys/);
});

test('what is sealed opens under the same context only, and not when a single bit was changed', () => {
  const ring = ringAt(startMs, first);
  const plain = Buffer.from('a private signing key');
  const sealed = ring.seal(plain, 'signing-key:1');
  assert.notDeepEqual(sealed, ring.seal(plain, 'signing-key:1'));
  assert.deepEqual(ring.open(sealed, 'signing-key:1'), plain);
  assert.throws(() => ring.open(sealed, 'signing-key:2'));
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    assert.throws(() => ring.open(changed, 'signing-key:1'), `byte ${index}`);
  }
  for (const length of [0, 3, 10, 31]) assert.throws(() => ring.open(sealed.subarray(0, length), 'signing-key:1'));
});

test('what was sealed under an older version opens, and new values are sealed under the newer one', () => {
  const sealed = ringAt(startMs, second, first).seal(Buffer.from('old'), 'context');
  const later = ringAt(second.usedFromMs, second, first);
  assert.equal(sealed.readUInt32BE(0), 1);
  assert.deepEqual(later.open(sealed, 'context'), Buffer.from('old'));
  assert.equal(later.seal(Buffer.from('new'), 'context').readUInt32BE(0), 2);
});
