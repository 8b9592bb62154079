import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createQueueVacuum } from '../../src/delivery/queue/vacuum.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestLog } from '../support/log.ts';

let db: TestDatabase;
let nowMs = 0;
const clock = { steadyMs: () => nowMs };
const { log } = createTestLog();

before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(() => {
  nowMs = 0;
});

async function fillAndEmptyQueue(texts: number): Promise<void> {
  await db.database.query(
    `insert into delivery_queue (carrier, lane, application_id, message_id)
     select 'bulk', 1, '00000000-0000-4000-8000-000000000001', gen_random_uuid() from generate_series(1, $1)`,
    [texts],
  );
  await db.database.query('delete from delivery_queue');
}

/** Pages of the index that a claim reads to find the first text. */
async function pagesToFirstText(): Promise<number> {
  const { rows } = await db.database.query<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>(
    `explain (analyze, buffers, format json)
     select lane from delivery_queue where carrier = 'bulk' order by lane limit 1`,
  );
  return rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? Number.NaN;
}

async function vacuums(): Promise<number> {
  const { rows } = await db.database.query<{ count: number }>(
    `select vacuum_count as count from pg_stat_all_tables where relname = 'delivery_queue'`,
  );
  return rows[0]?.count ?? Number.NaN;
}

test('after some thousand texts claims no longer step over those that have left', async () => {
  const vacuum = createQueueVacuum({ database: db.database, clock, log });
  await fillAndEmptyQueue(6000);
  const pages = await pagesToFirstText();
  assert.ok(pages > 50, `it read ${pages} pages`);
  for (let batch = 0; batch < 12; batch++) vacuum.noteTaken(500);
  await vacuum.stop();
  assert.ok((await pagesToFirstText()) < 5, `it still reads ${await pagesToFirstText()} pages`);
});

test('a few texts cause none', async () => {
  const vacuum = createQueueVacuum({ database: db.database, clock, log });
  const before = await vacuums();
  vacuum.noteTaken(4999);
  await vacuum.stop();
  assert.equal(await vacuums(), before);
});

test('one that takes long is followed by a pause of fifty times as long', async () => {
  const vacuum = createQueueVacuum({ database: db.database, clock, log });
  const before = await vacuums();
  vacuum.noteTaken(5000);
  nowMs = 100;
  await vacuum.stop();
  assert.equal(await vacuums(), before + 1);
  nowMs = 5099;
  vacuum.noteTaken(5000);
  await vacuum.stop();
  assert.equal(await vacuums(), before + 1);
  nowMs = 5100;
  vacuum.noteTaken(1);
  await vacuum.stop();
  assert.equal(await vacuums(), before + 2);
});

test('while another node vacuums, or Postgres is away, delivery goes on without it', async () => {
  const lines = createTestLog();
  const away = db.another({ connection: { ...db.connection, port: 1 }, timeouts: { connectMs: 100 } });
  const vacuum = createQueueVacuum({ database: away, clock, log: lines.log });
  vacuum.noteTaken(5000);
  await vacuum.stop();
  const other = createQueueVacuum({ database: db.database, clock, log });
  const before = await vacuums();
  await db.database.transaction(async (tx) => {
    await tx.query('lock table delivery_queue in share update exclusive mode');
    other.noteTaken(5000);
    await other.stop();
  });
  assert.equal(await vacuums(), before);
});
