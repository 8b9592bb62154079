import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createOrphanedQueues } from '../../src/delivery/worker/orphaned-queues.ts';
import type { DeliveryWorker } from '../../src/delivery/worker/worker.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { unavailable } from '../../src/platform/errors.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { acceptMessages } from '../support/recording-carrier.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

test('a look that fails is made again at the next one, not ten seconds later', async () => {
  const clock = createTestClock();
  await acceptMessages({ database: db.database, clock, carrier: 'gone#7' }, 1);
  let isAway = true;
  const database: Database = {
    ...db.database,
    query: (statement, values) =>
      isAway ? Promise.reject(unavailable('The database is away.')) : db.database.query(statement, values),
  };
  const started: string[] = [];
  const createWorker = (key: string) =>
    ({ start: () => void started.push(key), stop: () => Promise.resolve() }) as DeliveryWorker;
  const orphaned = createOrphanedQueues({ database, clock, isKnown: () => false, createWorker });

  await assert.rejects(orphaned.poll());
  isAway = false;
  for (let second = 0; second < 4; second++) {
    clock.advance(1000);
    await orphaned.poll();
  }
  assert.deepEqual(started, ['gone#7']);
});
