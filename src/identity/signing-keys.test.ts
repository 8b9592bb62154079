import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../test/support/clock.ts';
import { createKeyRing } from '../platform/crypto/keys.ts';
import type { Database, Rows } from '../platform/database/database.ts';
import { createSigningKeys, currentKeys } from './signing-keys.ts';

/** A database whose answers come when the test says so. */
function createSlowKeys() {
  const reads: (() => void)[] = [];
  const clock = createTestClock();
  const database = {
    query: () => new Promise<Rows<never>>((answer) => reads.push(() => answer({ rows: [], count: 0 }))),
  } as unknown as Database;
  const signingKeys = createSigningKeys({
    database,
    clock,
    keys: createKeyRing(clock, () => [{ version: 1, usedFromMs: 0, key: Buffer.alloc(32) }]),
    alg: 'ES256',
    signedForMs: 60_000,
    change: () => assert.fail('nothing is changed here'),
  });
  return { signingKeys, reads };
}

test('those who ask together share one read', async () => {
  const { signingKeys, reads } = createSlowKeys();
  const both = Promise.all([signingKeys.load(), signingKeys.load()]);
  assert.equal(reads.length, 1);
  reads[0]?.();
  await both;
  assert.deepEqual(signingKeys.loaded(), []);
});

test('a caller after a change does not get a read that began before it', async () => {
  const { signingKeys, reads } = createSlowKeys();
  const before = signingKeys.load();
  signingKeys.forget();
  const after = signingKeys.load();
  assert.equal(reads.length, 2);
  reads[0]?.();
  await before;
  assert.equal(signingKeys.loaded(), undefined);
  reads[1]?.();
  await after;
  assert.deepEqual(signingKeys.loaded(), []);
});

test('remembered keys are used only while the feed vouches for them', async () => {
  const { signingKeys, reads } = createSlowKeys();
  const first = signingKeys.load();
  reads[0]?.();
  await first;
  assert.deepEqual(currentKeys(signingKeys, { isTrusted: () => true }), []);
  const fresh = currentKeys(signingKeys, { isTrusted: () => false });
  assert.ok(fresh instanceof Promise);
  assert.equal(reads.length, 2);
  reads[1]?.();
  await fresh;
});
