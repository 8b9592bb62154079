// The index of numbers begins with the number. A large store of an older version gets it in the background: one partition
// after another, also after a crash, while texts are accepted, and lists by number read as little as before.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { listMessages } from '../../src/messages/message-list.ts';
import { messageTable, numberIndex } from '../../src/messages/message-store.ts';
import {
  findTextsOfAll,
  findTextsOfApplications,
  findUnindexedWeeks,
} from '../../src/messages/numbers/number-search-store.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database, Statement, Tx } from '../../src/platform/database/database.ts';
import { createIndexTurn, findUnturned, isTurned } from '../../src/platform/database/index-turn.ts';
import { makePartitions, partitionWeekMs } from '../../src/platform/database/partitions.ts';
import { newId, uuidFloor, uuidOf } from '../../src/platform/ids.ts';
import { searchNumbers } from '../../src/portal/find/number-search.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

const rows = 40_000;
const hot = '+447700900000';
const nowMs = systemClock.nowMs();
const week = Math.floor(nowMs / partitionWeekMs);
const [big, small] = ['big', 'small'].map(() => newId('app', systemClock)) as [string, string];
const migration = readFileSync(new URL('../../migrations/0032-numbers.sql', import.meta.url), 'utf8');

let db: TestDatabase;
let database: Database;
before(async () => {
  db = await createTestDatabase();
  database = db.another({ poolSize: 4 });
  // As the store of an older version is, with a partition for last week.
  await database.query(`drop index message_number;
    create index message_recipient on message (application_id, api, recipient, id) where verification_id is null`);
  await makePartitions(database, messageTable, nowMs - 5 * partitionWeekMs);
  await addTexts(nowMs - partitionWeekMs, 200);
  await addTexts(nowMs, rows);
  await database.query('analyze message');
});
after(() => db.drop());

/** Nine of ten go to one number; one of a thousand is of the small application. */
async function addTexts(atMs: number, count: number): Promise<void> {
  await database.query(
    `insert into message (id, application_id, api, channel, recipient, sender, status, encoding, segment_count, characters,
       remaining, correlation_id, created_at, updated_at, expires_at, carrier)
     select ($1 || lpad(to_hex(n), 12, '0'))::uuid, case when n % 1000 = 7 then $3::uuid else $2::uuid end, 0, 0,
       case when n % 10 = 0 then '+44' || (7000000000 + n) else '${hot}' end, 'ACME', 3, 0, 1, 5, 155, $2, now(), now(),
       now(), 'sandbox' from generate_series(1, $4::integer) n`,
    [uuidFloor(atMs).slice(0, 24), uuidOf(big), uuidOf(small), count],
  );
}

const turn = () => createIndexTurn(database, numberIndex, 1000);
const indexesOf = async (table: string) => {
  const found = await database.query<{ name: string }>(
    `select substring(indexdef from '\\((.*?)\\)') as name from pg_indexes where tablename = $1`,
    [table],
  );
  return found.rows.map(({ name }) => name);
};
const byNumber = 'recipient, application_id, api, id';
const byApplication = 'application_id, api, recipient, id';

/** The pages that a store's function reads, by the plans of all its statements. */
async function pagesOf(call: (tx: Tx) => Promise<unknown>): Promise<number> {
  let pages = 0;
  await call({
    async query<Row>(statement: Statement | string, values: unknown[] = []) {
      const text = typeof statement === 'string' ? statement : statement.text;
      if (/from message\b/.test(text)) {
        const { rows: plans } = await database.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
          `explain (analyze, buffers, format json) ${text}`,
          values,
        );
        const plan = plans[0]?.['QUERY PLAN'][0].Plan ?? {};
        pages += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
      }
      return database.query<Row>(text, values);
    },
  } as Tx);
  return pages;
}

const listOf = (tx: Tx, applicationId: string, to: string) =>
  listMessages(tx, applicationId, 'sms', { to }, { limit: 21, after: undefined, nowMs });
const span = { from: uuidFloor(week * partitionWeekMs), to: uuidFloor((week + 1) * partitionWeekMs) };
const search = (number: string) => ({ numbers: [number], ...span, below: span.to, limit: 21 });
const inAll = (tx: Tx, number: string) =>
  searchNumbers(tx, {
    numbers: [number],
    applicationIds: undefined,
    limit: 20,
    after: undefined,
    nowMs,
    oldestMs: nowMs - 2 * partitionWeekMs,
  });

describe('a large store of an older version', () => {
  let before: Record<string, number>;

  test('the migration builds nothing there; new partitions have the index at once, and lists read the old one', async () => {
    before = {
      hot: await pagesOf((tx) => listOf(tx, big, hot)),
      quiet: await pagesOf((tx) => listOf(tx, small, hot)),
      none: await pagesOf((tx) => listOf(tx, big, '+449999999999')),
    };
    await database.query(migration);
    assert.deepEqual(
      await indexesOf(`message_w${week}`).then((all) => all.filter((each) => each.includes('recipient'))),
      [byApplication],
    );
    await makePartitions(database, messageTable, nowMs + partitionWeekMs);
    const made = await indexesOf(`message_w${week + 5}`);
    assert.ok(
      made.includes(byNumber) && made.includes(byApplication),
      'the new one, and the old one until it is dropped',
    );
    assert.equal((await findUnturned(database, numberIndex)).includes(`message_w${week + 5}`), false);
    assert.equal(await pagesOf((tx) => listOf(tx, small, hot)), before.quiet);
  });

  test('find says which weeks are not searched yet, and reads no table without its index', async () => {
    assert.equal(await findUnindexedWeeks(database), undefined);
    const { records, unindexedMs } = await inAll(database, hot);
    assert.deepEqual([records.length, unindexedMs.includes(week * partitionWeekMs)], [0, true]);
    const own = await findTextsOfApplications(database, search(hot), [small]);
    assert.equal(own.length, 21, 'within applications the old index finds them');
  });

  test('a node that stops while it builds one leaves a broken index; another node goes on from there', async () => {
    const held = await db.another({ poolSize: 1 }).openSession(() => {});
    await held.query('begin isolation level repeatable read');
    await held.query('select from message limit 1');
    const stopped = turn();
    const piece = stopped.runPiece().catch((error: Error) => error);
    const { name, pid } = await eventually('an index is being built', async () => {
      const { rows: building } = await database.query<{ name: string; pid: number }>(
        `select application_name as name, pid from pg_stat_activity
         where datname = current_database() and query like 'create index concurrently%' and state = 'active'`,
      );
      return building[0];
    });
    assert.equal(name, 'heliograph index', 'events do not wait for its transaction');
    assert.equal(await turn().runPiece(), 0, 'another node does not build the same');
    stopped.interrupt?.();
    assert.ok((await piece) instanceof Error, 'stopping does not wait for the index');
    await database.query('select pg_terminate_backend($1)', [pid]);
    await held.query('rollback');
    await held.close();
    const broken = await eventually('the index is left broken', async () => {
      const found = await database.query<{ name: string }>(
        `select indexrelid::regclass::text as name from pg_index x join pg_class c on c.oid = x.indexrelid
         where not indisvalid and c.relkind = 'i'`,
      );
      return found.rows[0]?.name;
    });
    assert.equal(broken, 'message_default_message_number');
  });

  test('one piece after another builds it, the newest first, while texts are accepted; then the old one goes', async () => {
    await eventually('the lock of the stopped node is free', async () => (await turn().runPiece()) > 0);
    const left = (await findUnturned(database, numberIndex)).length;
    while ((await findUnindexedWeeks(database))?.has(week) !== false) assert.equal(await turn().runPiece(), 1);
    assert.equal(
      (await inAll(database, hot)).records.length,
      20,
      'the newest week is searched before the older ones are',
    );
    assert.ok(left > 0 && (await isTurned(database, numberIndex)) === false);
    await addTexts(nowMs + 60_000, 50);
    while ((await turn().runPiece()) > 0);
    assert.equal(await isTurned(database, numberIndex), true);
    for (const partition of [
      `message_w${week}`,
      `message_w${week - 1}`,
      `message_w${week + 5}`,
      'message_default',
      'message',
    ]) {
      assert.deepEqual(
        (await indexesOf(partition)).filter((each) => each.includes('recipient')),
        [byNumber],
        partition,
      );
    }
    const { rows: invalid } = await database.query(`select from pg_index where not indisvalid`);
    assert.equal(invalid.length, 0);
    assert.deepEqual(await findUnindexedWeeks(database), new Set());
    assert.equal(await turn().runPiece(), 0, 'nothing is left to do');
  });

  test('lists of an application by number read no more pages than before', async () => {
    assert.ok((await pagesOf((tx) => listOf(tx, big, hot))) <= (before.hot ?? 0) + 8);
    assert.ok((await pagesOf((tx) => listOf(tx, small, hot))) <= (before.quiet ?? 0) + 8);
    assert.ok((await pagesOf((tx) => listOf(tx, big, '+449999999999'))) <= (before.none ?? 0) + 8);
  });

  test('a search in all applications reads a few pages, also for a number with many texts', async () => {
    const newest = await findTextsOfAll(database, search(hot));
    assert.equal(newest.length, 21);
    assert.ok((await pagesOf((tx) => findTextsOfAll(tx, search(hot)))) < 200);
    assert.ok((await pagesOf((tx) => findTextsOfAll(tx, search('+447000000010')))) < 40);
    assert.ok((await pagesOf((tx) => findTextsOfAll(tx, search('+449999999999')))) < 20);
  });
});

test('a small store has the index when its migration has run', async () => {
  const fresh = await createTestDatabase();
  try {
    assert.equal(await isTurned(fresh.database, numberIndex), true);
    assert.deepEqual(await findUnturned(fresh.database, numberIndex), []);
    await fresh.database.query(`drop index message_number;
      create index message_recipient on message (application_id, api, recipient, id) where verification_id is null`);
    await fresh.database.query(migration);
    assert.deepEqual(await findUnturned(fresh.database, numberIndex), []);
    assert.equal(await isTurned(fresh.database, numberIndex), true);
  } finally {
    await fresh.drop();
  }
});
