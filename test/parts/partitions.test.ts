import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { dayMs } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import {
  deleteOldRows,
  dropOldPartition,
  idWeeks,
  makePartitions,
  partitionWeekMs,
} from '../../src/platform/database/partitions.ts';
import { uuidFloor } from '../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const table = { name: 'thing', key: 'id', spans: idWeeks };
const week = 3000;
const nowMs = week * partitionWeekMs + 3 * dayMs;

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(async () => {
  await db.database.query(`drop table if exists thing;
    create table thing (id uuid primary key, note text not null default 'none') partition by range (id);
    create table thing_default partition of thing default with (fillfactor = 70);
    create index thing_default_length on thing_default (length(note), id);
    create index thing_length on thing (length(note), id);
    alter table thing_default alter column note set statistics 0;
    alter index thing_default_length alter column 1 set statistics 0`);
});

/** The partitions with the number of their rows. */
async function partitions(): Promise<Record<string, number>> {
  const { rows } = await db.database.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'thing'::regclass order by 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of rows) {
    const { rows: counted } = await db.database.query<{ count: number }>(`select count(*) as count from ${name}`);
    counts[name] = counted[0]?.count ?? -1;
  }
  return counts;
}

const insertAt = (...times: number[]) =>
  db.database.query('insert into thing (id) select * from unnest($1::uuid[])', [times.map(uuidFloor)]);

describe('partitions made ahead', () => {
  test('partitions exist for this week and the next four; an id finds its week, and any other the default', async () => {
    assert.equal(await makePartitions(db.database, table, nowMs), 5);
    assert.equal(await makePartitions(db.database, table, nowMs), 0);
    assert.equal(await makePartitions(db.database, table, nowMs + partitionWeekMs), 1);
    await insertAt(
      nowMs,
      (week + 1) * partitionWeekMs - 1,
      (week + 1) * partitionWeekMs,
      0,
      nowMs + 9 * partitionWeekMs,
    );
    assert.deepEqual(await partitions(), {
      thing_default: 2,
      thing_w3000: 2,
      thing_w3001: 1,
      thing_w3002: 0,
      thing_w3003: 0,
      thing_w3004: 0,
      thing_w3005: 0,
    });
  });

  test('a new one has the settings of the default one', async () => {
    await makePartitions(db.database, table, nowMs);
    const { rows } = await db.database.query(
      `select c.reloptions as options, a.attstattarget as statistics,
         (select count(*) from pg_index where indrelid = c.oid) as indexes,
         (select i.attstattarget from pg_index x join pg_attribute i on i.attrelid = x.indexrelid and i.attnum = 1
          where x.indrelid = c.oid and x.indkey[0] = 0) as "ofExpression"
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'note'
       where c.relname = 'thing_w3000'`,
    );
    assert.deepEqual(rows, [{ options: ['fillfactor=70'], statistics: 0, indexes: 2, ofExpression: 0 }]);
  });

  test('a week whose rows are in the default one stays there; the others are made', async () => {
    await insertAt(nowMs + partitionWeekMs);
    assert.equal(await makePartitions(db.database, table, nowMs), 4);
    assert.deepEqual(Object.keys(await partitions()), [
      'thing_default',
      'thing_w3000',
      'thing_w3002',
      'thing_w3003',
      'thing_w3004',
    ]);
  });

  test('two nodes at once make each of them once', async () => {
    const made = await Promise.all([db.database, db.another()].map((each) => makePartitions(each, table, nowMs)));
    assert.equal(
      made.reduce((sum, each) => sum + each, 0),
      5,
    );
    assert.equal(Object.keys(await partitions()).length, 6);
  });

  test('a reader that holds the table makes it wait for its next time, and no request waits behind it for long', async () => {
    await db.database.transaction(async (tx) => {
      await tx.query('select from thing where id = $1', [uuidFloor(nowMs)]);
      assert.equal(await makePartitions(db.another(), table, nowMs), 0);
    });
    assert.equal(await makePartitions(db.database, table, nowMs), 5);
  });
});

describe('what is old enough', () => {
  test('a partition goes with its youngest row, one at a time; rows of the default one go in pieces', async () => {
    await makePartitions(db.database, table, nowMs);
    await insertAt(nowMs, nowMs + partitionWeekMs);
    const end = (week + 1) * partitionWeekMs;
    assert.equal(await dropOldPartition(db.database, table, end - 1), 0);
    assert.equal(await dropOldPartition(db.database, table, end), 1);
    assert.equal(await dropOldPartition(db.database, table, end), 0);
    assert.equal((await partitions()).thing_w3001, 1);
    assert.equal((await partitions()).thing_w3000, undefined);

    await insertAt(...Array.from({ length: 1500 }, (_, n) => 1000 + n), nowMs);
    assert.equal(await deleteOldRows(db.database, table, nowMs), 1000);
    assert.equal(await deleteOldRows(db.database, table, nowMs), 500);
    assert.equal(await deleteOldRows(db.database, table, nowMs), 0);
    assert.equal((await partitions()).thing_default, 1);
  });

  test('several nodes at once drop each of them once', async () => {
    const nodes = [db.database, db.another(), db.another(), db.another()];
    for (let round = 0; round < 40; round++) {
      assert.equal(await makePartitions(db.database, table, nowMs), 5);
      const dropAll = async (node: Database) => {
        let dropped = 0;
        while ((await dropOldPartition(node, table, nowMs + 9 * partitionWeekMs)) > 0) dropped++;
        return dropped;
      };
      await Promise.all(nodes.map(dropAll));
      assert.deepEqual(Object.keys(await partitions()), ['thing_default']);
    }
  });

  test('a reader that holds the table puts it off', async () => {
    await makePartitions(db.database, table, nowMs);
    await db.database.transaction(async (tx) => {
      await tx.query('select count(*) from thing');
      assert.equal(await dropOldPartition(db.another(), table, nowMs + partitionWeekMs), 0);
    });
    assert.equal(await dropOldPartition(db.database, table, nowMs + partitionWeekMs), 1);
  });
});
