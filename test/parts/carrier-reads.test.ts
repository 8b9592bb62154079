// What the workers of a node ask while no text comes: many carriers share a query.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCarrierReads } from '../../src/delivery/queue/carrier-reads.ts';
import { createDeliveryWorker } from '../../src/delivery/worker/worker.ts';
import { systemClock, toTimestamp } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestLog } from '../support/log.ts';
import { createRecordingCarrier } from '../support/recording-carrier.ts';

let db: TestDatabase;

before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

/** Counts the statements by name. */
function counting(): { database: Database; counts: Map<string, number> } {
  const counts = new Map<string, number>();
  const database: Database = {
    ...db.database,
    query(statement, values) {
      const name = typeof statement === 'string' ? statement : (statement.name ?? statement.text);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return db.database.query(statement, values);
    },
  };
  return { database, counts };
}

const entry = () => [uuidOf(newId('app', systemClock)), uuidOf(newId('msg', systemClock))];

test('each carrier gets its own answer, from one query', async () => {
  const { database, counts } = counting();
  const reads = createCarrierReads(database);
  const dueAtMs = systemClock.nowMs() + 60_000;
  await database.query(
    `insert into delivery_queue (carrier, lane, application_id, message_id) values ('b#2', 1, $1, $2)`,
    entry(),
  );
  for (const [carrier, atMs] of [
    ['c#3', dueAtMs + 5000],
    ['c#3', dueAtMs],
    ['b#2', dueAtMs + 1000],
  ] as const)
    await database.query(
      `insert into delivery_schedule (carrier, lane, application_id, message_id, due_at) values ($1, 1, $2, $3, $4)`,
      [carrier, ...entry(), toTimestamp(atMs)],
    );
  for (const [carrier, leasedMs] of [
    ['a#1', -1000],
    ['b#2', 60_000],
  ] as const)
    await database.query(
      `insert into delivery_claim (carrier, claimed_at, leased_until, lanes, application_ids, message_ids, attempts,
         unanswered, possible_duplicates, in_doubt, moves)
       values ($1, $2, $2, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`,
      [carrier, toTimestamp(systemClock.nowMs() + leasedMs)],
    );
  counts.clear();
  const carriers = ['a#1', 'b#2', 'c#3', 'd#4'];
  assert.deepEqual(await Promise.all(carriers.map(reads.hasQueued)), [false, true, false, false]);
  assert.deepEqual(await Promise.all(carriers.map(reads.nextDueMs)), [undefined, dueAtMs + 1000, dueAtMs, undefined]);
  assert.deepEqual(await Promise.all(carriers.map(reads.hasOverdueClaim)), [true, false, false, false]);
  assert.deepEqual([...counts.values()], [1, 1, 1]);
});

test('a hundred workers without a text ask little more than one', async () => {
  const { database, counts } = counting();
  const reads = createCarrierReads(database);
  const workers = Array.from({ length: 100 }, (_, index) =>
    createDeliveryWorker({
      database,
      clock: systemClock,
      log: createTestLog().log,
      carrier: createRecordingCarrier({ name: `idle#${index}` }),
      receipts: { apply: async () => {} },
      reads,
      renderText: () => '',
      findPending: async () => new Set(),
      nextCarrier: () => undefined,
      alone: false,
      atMostOnce: false,
      onCount: () => {},
    }),
  );
  for (const worker of workers) worker.start();
  // Past the first polls, which come in quick succession.
  await new Promise((done) => setTimeout(done, 2500));
  counts.clear();
  await new Promise((done) => setTimeout(done, 2000));
  await Promise.all(workers.map((worker) => worker.stop()));
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  assert.ok(all > 0, 'they poll');
  assert.ok(all < 100, `they made ${all} statements in 2 s: ${JSON.stringify([...counts])}`);
});
