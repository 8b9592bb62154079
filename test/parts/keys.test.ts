import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../../src/platform/clock.ts';
import { StartError } from '../../src/platform/errors.ts';
import { createKeyRing, type KeyRing, openKeyRing } from '../../src/platform/keys.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const secret = 'the first secret, long enough';
const next = 'the second secret, long enough';

function openRing(options: { secret: string; previousSecret?: string }, database = db.database): Promise<KeyRing> {
  return openKeyRing({ database, clock: systemClock, ...options });
}

test('nodes that open it at the same moment for the first time get one and the same ring', async () => {
  const nodes = Array.from({ length: 6 }, () => db.another({ poolSize: 1 }));
  const rings = await Promise.all(nodes.map((node) => openRing({ secret }, node)));
  assert.equal(new Set(rings.map((ring) => ring.keyFor('api-key').toString('hex'))).size, 1);
  assert.equal((await db.database.query('select from key_ring')).count, 1);
});

test('nothing in the row is the key itself', async () => {
  const ring = await openRing({ secret });
  const { rows } = await db.database.query<{ wrapped: Buffer; salt: Buffer }>('select wrapped, salt from key_ring');
  assert.equal(rows[0]?.wrapped.length, 12 + 16 + 32);
  assert.ok(!rows[0]?.wrapped.includes(ring.keyFor('api-key').subarray(0, 8)));
});

test('another secret does not open it, and changes nothing', async () => {
  const ring = await openRing({ secret });
  const refused = (error: unknown) => error instanceof StartError && /does not open the key ring/.test(error.message);
  await assert.rejects(openRing({ secret: next }), refused);
  await assert.rejects(openRing({ secret: next, previousSecret: 'neither the one nor the other' }), refused);
  assert.deepEqual((await openRing({ secret })).keyFor('session'), ring.keyFor('session'));
});

test('with the previous secret the ring is wrapped anew, by several nodes at once: same keys, old secret useless', async () => {
  const ring = await openRing({ secret });
  const nodes = Array.from({ length: 4 }, () => db.another({ poolSize: 1 }));
  const rings = await Promise.all(nodes.map((node) => openRing({ secret: next, previousSecret: secret }, node)));
  for (const each of rings) assert.deepEqual(each.keyFor('api-key'), ring.keyFor('api-key'));
  assert.deepEqual((await openRing({ secret: next })).keyFor('api-key'), ring.keyFor('api-key'));
  assert.deepEqual((await openRing({ secret: next, previousSecret: secret })).keyFor('link'), ring.keyFor('link'));
  await assert.rejects(openRing({ secret }), StartError);
});

test('a secret is the same however its letters are composed', async () => {
  await openRing({ secret: 'Gr\u00fc\u00dfe aus dem Norden' });
  await openRing({ secret: 'Gru\u0308\u00dfe aus dem Norden' });
});

const keys = new Map([
  [1, Buffer.alloc(32, 1)],
  [2, Buffer.alloc(32, 2)],
]);

test('each purpose and each version has a key of its own; the newest is used unless a row names another', () => {
  const ring = createKeyRing(keys);
  assert.equal(ring.version, 2);
  assert.deepEqual(ring.keyFor('api-key'), ring.keyFor('api-key', 2));
  const all = [
    ring.keyFor('api-key', 1),
    ring.keyFor('api-key', 2),
    ring.keyFor('session', 1),
    ring.keyFor('session', 2),
  ];
  assert.equal(new Set(all.map((key) => key.toString('hex'))).size, 4);
  for (const key of all) assert.equal(key.length, 32);
  assert.throws(() => ring.keyFor('api-key', 3), /no version 3/);
});

test('what is sealed opens under the same context only, and not when a single bit was changed', () => {
  const ring = createKeyRing(keys);
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

test('what was sealed before the ring grew still opens', () => {
  const before = createKeyRing(new Map([[1, Buffer.alloc(32, 1)]]));
  const sealed = before.seal(Buffer.from('old'), 'context');
  assert.deepEqual(createKeyRing(keys).open(sealed, 'context'), Buffer.from('old'));
});
