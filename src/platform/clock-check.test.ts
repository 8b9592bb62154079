import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { type Clock, systemClock, toTimestamp } from './clock.ts';
import { requireClockAgrees } from './clock-check.ts';
import { StartError } from './errors.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase({ empty: true });
});
after(() => db.drop());

function offBy(ms: number): Clock {
  return { ...systemClock, nowMs: () => systemClock.nowMs() + ms };
}

test('a clock that agrees with the database’s to 2 s passes', async () => {
  for (const ms of [0, -1000, 1000]) await requireClockAgrees(db.database, offBy(ms));
});

test('a clock that is off, either way, is refused, and by how much is said', async () => {
  for (const ms of [-3500, 3500, 86_400_000]) {
    await assert.rejects(requireClockAgrees(db.database, offBy(ms)), (error) => {
      assert.ok(error instanceof StartError);
      assert.match(error.message, /differ by \d+\.\d s; at most 2 s/);
      return true;
    });
  }
});

test('a slow answer is not mistaken for a clock that is off', async () => {
  const database = { ...db.database, query: db.database.query.bind(db.database) };
  const slow = {
    ...database,
    query: (async (...args: Parameters<typeof database.query>) => {
      await new Promise((done) => setTimeout(done, 50));
      return database.query(...args);
    }) as typeof database.query,
  };
  // Time passes for this clock a hundred times faster, so that the question seems to take 5 s and more.
  const startMs = systemClock.nowMs();
  const fast = { ...systemClock, nowMs: () => startMs + (systemClock.nowMs() - startMs) * 100 };
  await requireClockAgrees(slow, fast);
});

test('times are written as RFC 3339 in UTC with milliseconds', () => {
  assert.equal(toTimestamp(0), '1970-01-01T00:00:00.000Z');
  assert.equal(toTimestamp(1_767_323_045_678), '2026-01-02T03:04:05.678Z');
});
