import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Capacity } from '../../src/delivery/carrier/carrier.ts';
import { createClaims } from '../../src/delivery/queue/claim-store.ts';
import { lanes } from '../../src/messages/message-queue.ts';
import { systemClock as clock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { tellFigure } from '../support/figures.ts';

const carrier = 'test';
const few = 1000;
const many = inShort(15_000, 10_000_000);

let db: TestDatabase;
/** One connection of each kind: Postgres counts the pages of a connection when it is asked to. */
let database: Database;
before(async () => {
  db = await createTestDatabase();
  database = db.another({ poolSize: 1, timeouts: { statementMs: 600_000, transactionMs: 600_000 } });
});
after(() => db.drop());
beforeEach(() => database.query('truncate delivery_queue, delivery_claim'));

async function fill(lane: number, rows: number): Promise<void> {
  await database.query(
    `insert into delivery_queue (carrier, lane, application_id, message_id, expires_at)
     select $1, $2, ('00000000-0000-0000-0000-0000000000' || lpad((place % 40)::text, 2, '0'))::uuid, gen_random_uuid(),
       '2030-01-01'::timestamptz + place * interval '1 ms' from generate_series(1, $3::integer) as place`,
    [carrier, lane, rows],
  );
  await database.query('vacuum analyze delivery_queue');
}

/** The pages of the queue and its indexes that statements have read. */
async function readPages(): Promise<number> {
  await database.query('select pg_stat_force_next_flush()');
  await database.query({ name: 'flush', text: 'select pg_stat_force_next_flush()', planOnce: true });
  await database.query({ name: 'nothing', text: 'select 1', planOnce: true });
  const { rows } = await database.query<{ pages: number }>(
    `select (heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::integer as pages
     from pg_statio_user_tables where relname = 'delivery_queue'`,
  );
  return rows[0]?.pages ?? 0;
}

/** The pages of three claims, after some that make the plans. Few texts are taken, so that the size stays. */
async function pagesOf(limits: Capacity): Promise<number> {
  const claimNext = createClaims(database);
  const claim = () => claimNext({ carrier, nowMs: clock.nowMs(), leaseMs: 60_000, limits });
  for (let round = 0; round < 5; round++) await claim();
  const before = await readPages();
  for (let round = 0; round < 3; round++) await claim();
  return (await readPages()) - before;
}

async function compare(lane: number, limits: Capacity): Promise<void> {
  await fill(lane, few);
  const small = await pagesOf(limits);
  await fill(lane, many - few);
  const large = await pagesOf(limits);
  tellFigure(`three claims read ${small} pages with ${few} texts in the queue, ${large} with ${many}`);
  // A larger index has one or two levels more; each claim looks into it for each of up to 32 applications.
  assert.ok(large <= 2 * small + 30, `${large} pages with ${many} texts, ${small} with ${few}`);
}

describe('a claim costs what it takes, whatever waits', () => {
  test('room for codes only, and bulk texts wait', () => compare(lanes.bulk, { first: 10, bulk: 0 }));
  test('room for bulk texts only, and codes wait', () => compare(lanes.first, { first: 0, bulk: 10 }));
  test('room for both, and bulk texts wait', () => compare(lanes.bulk, { first: 10, bulk: 10 }));
  test('room for both, and codes wait', () => compare(lanes.first, { first: 10, bulk: 10 }));
});
