// The chores behind usage: two nodes at once, a crash at any line, the ages of the passes, what is deleted when.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { messageStatuses } from '../../src/messages/message.ts';
import { createMessageService } from '../../src/messages/message-service.ts';
import { messagesBySteps, summedMessages } from '../../src/messages/message-usage-store.ts';
import { dayMs, hourMs, minuteMs } from '../../src/platform/clock.ts';
import type { Database, Statement, Tx } from '../../src/platform/database/database.ts';
import { partitionWeekMs } from '../../src/platform/database/partitions.ts';
import { sumSome } from '../../src/platform/database/record-sums.ts';
import { newId } from '../../src/platform/ids.ts';
import { statusCode } from '../../src/verify/verification-row.ts';
import { verificationsBySteps } from '../../src/verify/verification-usage-store.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { acceptMessages } from '../support/recording-carrier.ts';
import { routeTo } from '../support/routes.ts';
import {
  countExact,
  deleteAllNeedless,
  emptyRecords,
  insertTexts,
  insertVerification,
  readExact,
  readStates,
  sumAll,
  usageSpan,
} from '../support/usage-records.ts';

let db: TestDatabase;
let node: Database;
before(async () => {
  db = await createTestDatabase();
  node = db.database;
});
after(() => db.drop());
beforeEach(() => emptyRecords(node));

/** The middle of a week of partitions. */
const beganMs = Math.floor(Date.now() / partitionWeekMs) * partitionWeekMs + 3.5 * dayMs;
const day = usageSpan(0, hourMs, beganMs - dayMs, 48);

async function totalOf(database: Database, nowMs: number): Promise<number> {
  const rows = await messagesBySteps(database, day, nowMs);
  return rows.reduce((sum, { count }) => sum + count, 0);
}

async function sumsOf(columns: string): Promise<unknown[]> {
  const { rows } = await node.query(`select ${columns}, sum(count) as count from message_sum group by 1 order by 1`);
  return rows;
}

describe('summing up', () => {
  test('readers see every record once while several nodes sum up', async () => {
    for (let n = 0; n < 40; n++) await insertTexts(node, { count: 50, madeMs: beganMs + n * 20_000 });
    const nowMs = beganMs + 2 * hourMs;
    let summing = true;
    const nodes = [db.another({ poolSize: 1 }), db.another({ poolSize: 1 })];
    const work = Promise.all(nodes.map((database) => sumAll(database, nowMs, 37))).finally(() => {
      summing = false;
    });
    const seen = new Set<number>();
    const read = async () => {
      while (summing) seen.add(await totalOf(node, nowMs));
    };
    await Promise.all([work, read(), read()]);
    assert.deepEqual([...seen], [2000]);
    assert.equal(await totalOf(node, nowMs), 2000);
    assert.deepEqual(await sumsOf('(pass, by_hour)::text as sums'), [
      { sums: '(0,f)', count: 2000 },
      { sums: '(0,t)', count: 2000 },
      { sums: '(1,f)', count: 2000 },
      { sums: '(1,t)', count: 2000 },
    ]);
  });

  /** A database whose process dies before its n-th statement. */
  function dying(before: number): Database {
    let statements = 0;
    const count = (tx: Tx): Tx => ({
      query<Row>(statement: Statement | string, values?: unknown[]) {
        if (++statements > before) throw new Error('the process died');
        return tx.query<Row>(statement, values);
      },
    });
    return { ...node, transaction: (work) => node.transaction((tx) => work(count(tx))) };
  }

  test('a crash between any two statements counts nothing twice and loses nothing', async () => {
    await insertTexts(node, { count: 30, segments: 2, madeMs: beganMs });
    const nowMs = beganMs + 2 * hourMs;
    const right = await countExact(node, day);
    let crashes = 0;
    for (let before = 0; before < 60; before++) {
      await sumSome(dying(before % 12), summedMessages, nowMs, 7).catch(() => crashes++);
      assert.deepEqual(await readExact(node, day, nowMs), right);
    }
    assert.ok(crashes > 10, `${crashes} crashes`);
    await sumAll(node, nowMs);
    assert.deepEqual(await readExact(node, day, nowMs), right);
  });

  test('an open minute and one that may still get records are left alone', async () => {
    await insertTexts(node, { madeMs: beganMs });
    const settled = 3 * minuteMs;
    assert.equal(await sumSome(node, summedMessages, beganMs + settled + minuteMs - 1), 0);
    // Its clock was 2 s behind, and the insert took long.
    await insertTexts(node, { madeMs: beganMs });
    assert.equal(await sumSome(node, summedMessages, beganMs + settled + minuteMs), 2);
    assert.equal(await totalOf(node, beganMs + settled + minuteMs), 2);
  });

  test('a record that an insert brought far too late is found by the next pass', async () => {
    await insertTexts(node, { madeMs: beganMs });
    await sumAll(node, beganMs + 30 * minuteMs);
    await insertTexts(node, { madeMs: beganMs });
    assert.equal(await totalOf(node, beganMs + 31 * minuteMs), 1);
    await sumAll(node, beganMs + 2 * hourMs);
    assert.equal(await totalOf(node, beganMs + 2 * hourMs), 2);
  });

  test('statuses are counted anew at an hour, a day, four days and fifteen days', async () => {
    await insertTexts(node, { madeMs: beganMs });
    const minute = usageSpan(0, minuteMs, beganMs, 1);
    const statusAt = async (ageMs: number) => {
      await sumAll(node, beganMs + ageMs + minuteMs);
      return Object.keys(await readStates(node, minute, beganMs + ageMs + minuteMs));
    };
    assert.deepEqual(await statusAt(5 * minuteMs), [`text ${messageStatuses[0]}`]);
    for (const [status, ageMs] of [hourMs, dayMs, 4 * dayMs, 15 * dayMs].entries()) {
      await node.query('update message set status = $1', [status + 1]);
      assert.deepEqual(await statusAt(ageMs - 2 * minuteMs), [`text ${messageStatuses[status]}`]);
      assert.deepEqual(await statusAt(ageMs), [`text ${messageStatuses[status + 1]}`]);
    }
  });

  test('a verification counts as approved however late it is approved', async () => {
    const approved = async (nowMs: number) =>
      (await verificationsBySteps(node, day, nowMs)).filter(({ status }) => status === 'approved').length;
    await insertVerification(node, { madeMs: beganMs });
    await sumAll(node, beganMs + 10 * minuteMs - 1);
    await node.query('update verification set status = $1', [statusCode('approved')]);
    for (const minutes of [10, 12, 14, 90]) {
      await sumAll(node, beganMs + minutes * minuteMs);
      assert.equal(await approved(beganMs + minutes * minuteMs), 1, `after ${minutes} minutes`);
    }
  });
});

describe('what is deleted', () => {
  test('sums that a later pass replaced; minutes after 31 days; all of a week with its records', async () => {
    await insertTexts(node, { count: 3, madeMs: beganMs });
    await insertTexts(node, { count: 2, madeMs: beganMs + 90_000 });
    const tidy = async (nowMs: number) => {
      await sumAll(node, nowMs);
      await deleteAllNeedless(node, nowMs, 40);
    };
    const left = () => sumsOf('(pass, by_hour)::text as sums');
    await tidy(beganMs + 3 * hourMs);
    assert.deepEqual(await left(), [
      { sums: '(1,f)', count: 5 },
      { sums: '(1,t)', count: 5 },
    ]);
    await tidy(beganMs + 31 * dayMs);
    const minutes = usageSpan(0, minuteMs, beganMs, 60);
    assert.equal((await messagesBySteps(node, minutes, beganMs + 31 * dayMs)).length, 2);
    // From now on it is shown by the hour, and a day later the minutes are gone.
    for (const days of [31.1, 33]) {
      await tidy(beganMs + days * dayMs);
      const rows = await messagesBySteps(node, minutes, beganMs + days * dayMs);
      assert.deepEqual(
        rows.map(({ count, step }) => [count, step * minuteMs]),
        [[5, beganMs]],
      );
    }
    assert.deepEqual(await left(), [{ sums: '(4,t)', count: 5 }]);
    // Its week ends three and a half days later, and is dropped 40 days after that.
    await tidy(beganMs + 43 * dayMs);
    assert.equal((await left()).length, 1);
    await tidy(beganMs + 44 * dayMs);
    assert.deepEqual(await left(), []);
  });
});

test('a node that stood still writes no text of a minute that may be summed up', async () => {
  const clock = createTestClock();
  const service = createMessageService({ database: node, clock, routeText: routeTo('test'), wake: () => {} });
  const [stale] = await acceptMessages({ database: node, clock }, 1);
  assert.ok(stale !== undefined, 'there is a message');
  const spender = { applicationId: stale.applicationId, segmentsPerDay: null };
  const late = { ...stale, id: newId('msg', clock) };
  clock.advance(30_001);
  await assert.rejects(
    service.accept(spender, [late], () => undefined),
    { status: 503 },
  );
  await service.accept(spender, [{ ...stale, id: newId('msg', clock), createdAtMs: clock.nowMs() }], () => undefined);
  const { rows } = await node.query<{ count: number }>('select count(*) as count from message');
  assert.equal(rows[0]?.count, 2);
});
