import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { requireClockAgrees } from '../../src/platform/database/clock-check.ts';
import { StartError } from '../../src/platform/errors.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

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
  // Far off, so that a machine that stands still for some seconds makes no difference.
  for (const ms of [-30_000, 30_000, 86_400_000]) {
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
