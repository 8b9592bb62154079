import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import { requireClockAgrees, watchClock } from './clock-check.ts';
import type { Database } from './database.ts';

/** A database whose clock stands still. What a real one answers is tried in test/parts/clock-check.test.ts. */
const databaseMs = 1_790_000_000_000;
const database = {
  query: async () => ({ rows: [{ now: databaseMs }], count: 1 }),
} as unknown as Database;

function check(offMs: number): Promise<void> {
  return requireClockAgrees(database, { ...systemClock, nowMs: () => databaseMs + offMs });
}

test('clocks may differ by 2 s, either way, and by no more', async () => {
  for (const offMs of [-2000, 0, 2000]) await check(offMs);
  for (const offMs of [-2001, 2001]) await assert.rejects(check(offMs), /differ by 2\.0 s; at most 2 s/);
  await assert.rejects(check(-3500), /differ by 3\.5 s/);
});

test('a step shows at once, a comparison decides it, and a database that is away decides nothing', async () => {
  let [offMs, steadyMs] = [0, 1000];
  let isAway = false;
  const logged: string[] = [];
  const log = {
    error: (_: object, text: string) => logged.push(text),
    info: (_: object, text: string) => logged.push(text),
  };
  const clock = { nowMs: () => databaseMs + offMs, steadyMs: () => steadyMs };
  const standing = {
    query: () => (isAway ? Promise.reject(new Error('away')) : database.query('')),
  } as unknown as Database;
  const watch = watchClock(standing, clock, log as unknown as Log);
  try {
    assert.equal(watch.isRight(), true);
    offMs = 2001;
    assert.equal(watch.isRight(), false, 'the wall clock has left the steady clock');
    isAway = true;
    await assert.rejects(watch.compare());
    assert.equal(watch.isRight(), false);
    isAway = false;
    await watch.compare();
    assert.equal(watch.isRight(), false, 'it differs from the database');
    offMs = 1500;
    await watch.compare();
    assert.equal(watch.isRight(), true);
    // Both machines were asleep: the wall clock jumps, and agrees.
    steadyMs -= 60_000;
    assert.equal(watch.isRight(), false);
    await watch.compare();
    assert.equal(watch.isRight(), true);
    assert.deepEqual(
      logged.map((text) => /agree(s)?/.exec(text)?.[0]),
      ['agree', 'agrees'],
    );
  } finally {
    watch.stop();
  }
});
