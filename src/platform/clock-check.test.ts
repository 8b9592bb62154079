import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from './clock.ts';
import { requireClockAgrees } from './clock-check.ts';
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
