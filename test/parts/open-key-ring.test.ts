import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { minuteMs } from '../../src/platform/clock.ts';
import { insertRow } from '../../src/platform/crypto/key-ring-store.ts';
import type { KeyRing } from '../../src/platform/crypto/keys.ts';
import {
  type OpenedVersion,
  type OpenKeyRing,
  openKeyRing,
  rotateKeyRing,
} from '../../src/platform/crypto/open-key-ring.ts';
import { ApiError, StartError } from '../../src/platform/errors.ts';
import { createLog } from '../../src/platform/log.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createFaultProxy } from '../support/fault-proxy.ts';

let db: TestDatabase;
const clock = createTestClock();
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(() => db.database.query('truncate key_ring'));

const secret = 'the first secret, long enough';
const next = 'the second secret, long enough';

function openRing(options: { secret: string; previousSecret?: string }, database = db.database): Promise<OpenKeyRing> {
  return openKeyRing({ database, clock, ...options });
}

let first: OpenedVersion | undefined;
/** A ring that is there and known: to stretch its secret in each test would take most of the time. */
async function setUp(database = db.database): Promise<OpenKeyRing> {
  if (first !== undefined) await insertRow(db.database, first);
  const ring = await openKeyRing({ database, clock, secret, opened: first === undefined ? [] : [first] });
  first ??= ring.opened()[0];
  return ring;
}

const rotate = (database = db.database) => rotateKeyRing({ database, clock, secret });
const keyOf = (ring: KeyRing, version = 1) => ring.keyFor('api-key', version).toString('hex');
/** Undefined while the ring must not be used. */
function versionOf(ring: KeyRing): number | undefined {
  try {
    return ring.version;
  } catch {
    return undefined;
  }
}

const quiet = createLog({ level: 'silent', readable: false });

test('nodes that open it at the same moment for the first time get one and the same ring', async () => {
  const nodes = Array.from({ length: inShort(2, 6) }, () => db.another({ poolSize: 1 }));
  const rings = await Promise.all(nodes.map((node) => openRing({ secret }, node)));
  assert.equal(new Set(rings.map((ring) => keyOf(ring))).size, 1);
  assert.equal((await db.database.query('select from key_ring')).count, 1);
});

test('nothing in the row is the key itself', async () => {
  const ring = await setUp();
  const { rows } = await db.database.query<{ wrapped: Buffer; salt: Buffer }>('select wrapped, salt from key_ring');
  assert.equal(rows[0]?.wrapped.length, 12 + 16 + 32);
  assert.ok(!rows[0]?.wrapped.includes(ring.keyFor('api-key', 1).subarray(0, 8)));
});

test('another secret does not open it, and changes nothing', async () => {
  const ring = await setUp();
  const refused = (error: unknown) => error instanceof StartError && /does not open the key ring/.test(error.message);
  await assert.rejects(openRing({ secret: next }), refused);
  await assert.rejects(openRing({ secret: next, previousSecret: 'neither the one nor the other' }), refused);
  assert.equal(keyOf(await openRing({ secret })), keyOf(ring));
});

test('with the previous secret all versions are wrapped anew, by several nodes at once: same keys, old secret useless', async () => {
  const ring = await setUp();
  await rotate();
  await ring.reread();
  const nodes = Array.from({ length: inShort(2, 4) }, () => db.another({ poolSize: 1 }));
  const rings = await Promise.all(nodes.map((node) => openRing({ secret: next, previousSecret: secret }, node)));
  rings.push(await openRing({ secret: next }), await openRing({ secret: next, previousSecret: secret }));
  for (const version of [1, 2]) {
    for (const each of rings) assert.equal(keyOf(each, version), keyOf(ring, version));
  }
  await assert.rejects(openRing({ secret }), StartError);
});

test('a secret is the same however its letters are composed', async () => {
  await openRing({ secret: 'Gr\u00fc\u00dfe aus dem Norden' });
  await openRing({ secret: 'Gru\u0308\u00dfe aus dem Norden' });
});

test('a rotation adds a version that running nodes learn of at once and use a minute later', async () => {
  const ring = await setUp();
  const other = await openRing({ secret }, db.another({ poolSize: 1 }));
  const before = keyOf(ring);
  assert.deepEqual(await rotate(), { version: 2, usedFromMs: clock.nowMs() + minuteMs, isNew: true });
  for (const node of [ring, other]) {
    assert.deepEqual([node.version, node.versions], [1, [1]]);
    await node.reread();
    assert.deepEqual([node.version, node.versions], [1, [2, 1]]);
  }
  clock.advance(minuteMs - 1);
  assert.deepEqual([ring.version, other.version], [1, 1]);
  clock.advance(1);
  const restarted = await openRing({ secret });
  for (const node of [ring, other, restarted]) {
    assert.equal(node.version, 2);
    assert.deepEqual([keyOf(node), keyOf(node, 2)], [before, keyOf(ring, 2)]);
  }
  assert.notEqual(keyOf(ring, 2), before);
});

test('rotations at the same moment make one version; after it is used, the next makes another', async () => {
  const atOnce = inShort(2, 4);
  await setUp();
  const made = await Promise.all(Array.from({ length: atOnce }, () => rotate(db.another({ poolSize: 1 }))));
  assert.deepEqual(
    made.map(({ version }) => version),
    Array(atOnce).fill(2),
  );
  assert.equal(made.filter(({ isNew }) => isNew).length, 1);
  clock.advance(minuteMs);
  assert.deepEqual([(await rotate()).version, (await rotate()).isNew], [3, false]);
  assert.deepEqual((await openRing({ secret })).versions, [3, 2, 1]);
});

test('another secret does not rotate', async () => {
  await setUp();
  await assert.rejects(rotateKeyRing({ database: db.database, clock, secret: next }), StartError);
  assert.equal((await db.database.query('select from key_ring')).count, 1);
});

test('a rotation and a change of the secret at the same moment leave a ring that the new secret opens', async () => {
  await setUp();
  const [opened, rotated] = await Promise.allSettled([
    openRing({ secret: next, previousSecret: secret }, db.another({ poolSize: 1 })),
    rotate(db.another({ poolSize: 1 })),
  ]);
  assert.equal(opened.status, 'fulfilled');
  // The rotation that comes second finds another ring than it read, and says so.
  if (rotated.status === 'rejected') assert.ok(rotated.reason instanceof StartError);
  await openRing({ secret: next });
});

test('a node that follows the ring learns of a version by itself', async () => {
  const ring = await setUp();
  const stop = ring.follow(quiet, 5);
  await rotate();
  await eventually('the second version', () => ring.versions.length === 2);
  await stop();
});

test('a node that cannot read the ring for 40 s does not use it, until it has read it', async () => {
  const proxy = await createFaultProxy(db.connection);
  const ring = await setUp(db.another({ connection: proxy.connection, poolSize: 1 }));
  const stop = ring.follow(quiet, 5);
  const isOutdated = (error: unknown) => error instanceof ApiError && error.code === 'UNAVAILABLE';
  const sealed = ring.seal(Buffer.from('old'), 'context');
  proxy.set({ kind: 'reset' });
  await rotate();
  clock.advance(40_001);
  assert.throws(() => ring.version, isOutdated);
  assert.throws(() => ring.versionsSince(0), isOutdated);
  assert.throws(() => ring.seal(Buffer.from('new'), 'context'), isOutdated);
  assert.throws(() => ring.keyFor('code', 2), isOutdated);
  assert.equal(ring.open(sealed, 'context').toString(), 'old', 'what names its version needs no other');
  proxy.set({ kind: 'pass' });
  // A read that began before the 40 s may end first: it brings the version, and is too old to trust.
  await eventually('the ring to be read and trusted', () => ring.versions.length === 2 && versionOf(ring) === 1);
  await stop();
  await proxy.close();
});

test('what one thread has opened, another opens without the secret; what came later, by the secret', async () => {
  const ring = await setUp();
  const opened = structuredClone(ring.opened());
  const options = { database: db.database, clock, opened };
  assert.equal(keyOf(await openKeyRing({ ...options, secret: next })), keyOf(ring));
  await rotate();
  await assert.rejects(openKeyRing({ ...options, secret: next }), StartError);
  await ring.reread();
  assert.equal(keyOf(await openKeyRing({ ...options, secret }), 2), keyOf(ring, 2));
});
