import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Database } from '../../src/platform/database/database.ts';
import { newId } from '../../src/platform/ids.ts';
import { createHandsets, type DueReceipt } from '../../src/sandbox/handsets.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

let db: TestDatabase;
let clock: TestClock;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(async () => {
  clock = createTestClock();
  await db.database.query('truncate handset_text, handset_late_receipt restart identity');
  await db.database.query('update handset_report set reported = 0');
});

const newText = (receiptLaterMs = 0) => ({
  applicationId: newId('app', clock),
  to: '+447700900123',
  messageId: newId('msg', clock),
  attempt: 1,
  delivered: true,
  receiptLaterMs,
});

test('a reader that has seen a text has seen all before it: ids are given out in the order of the commits', async () => {
  const handsets = createHandsets(db.database, clock);
  const waiting = `select from pg_locks where locktype = 'advisory' and objid = 4207020 and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  const [first, second] = [newText(), newText()];
  let late: Promise<void> | undefined;
  await db.database.transaction(async (tx) => {
    await createHandsets(tx as Database, clock).receive([first]);
    late = createHandsets(db.another(), clock).receive([second]);
    await eventually('the second waits for the first', async () => (await db.database.query(waiting)).count === 1);
    assert.deepEqual(await handsets.listAfter(0), []);
  });
  await late;
  const texts = await handsets.listAfter(0);
  assert.deepEqual(
    texts.map(({ messageId }) => messageId),
    [first.messageId, second.messageId],
  );
});

/** Two nodes report until nothing is due, and nothing is reported twice. */
async function reportAll(): Promise<string[]> {
  const reported: string[] = [];
  async function report(database: Database): Promise<void> {
    const handOver = (receipts: DueReceipt[]) => {
      reported.push(...receipts.map(({ messageId }) => messageId));
      return Promise.resolve();
    };
    const { reportDue } = createHandsets(database, clock);
    while ((await reportDue(handOver)) > 0);
  }
  await Promise.all([report(db.database), report(db.another())]);
  return reported;
}

/** Each text once, in whatever order. */
function assertSame(reported: string[], texts: { messageId: string }[]): void {
  const sorted = (ids: string[]) => ids.toSorted((a, b) => (a < b ? -1 : 1));
  assert.deepEqual(sorted(reported), sorted(texts.map(({ messageId }) => messageId)));
}

test('two nodes report each receipt once, also when their clocks differ', async () => {
  const ahead = createTestClock(clock.nowMs() + 50);
  const texts = Array.from({ length: 40 }, () => newText());
  for (const [index, text] of texts.entries()) {
    await createHandsets(db.database, index % 4 === 0 ? ahead : clock).receive([text]);
  }
  const reported: string[] = [];
  for (const ms of [99, 1, 49, 1, 1000]) {
    clock.advance(ms);
    reported.push(...(await reportAll()));
  }
  assertSame(reported, texts);
});

test('a late receipt comes at its time, after those of later texts, and once', async () => {
  const [late, usual] = [newText(5000), newText()];
  await createHandsets(db.database, clock).receive([late, usual]);
  clock.advance(100);
  assert.deepEqual(await reportAll(), [usual.messageId]);
  clock.advance(4899);
  assert.deepEqual(await reportAll(), []);
  clock.advance(1);
  assert.deepEqual(await reportAll(), [late.messageId]);
});

test('receipts that could not be handed over are handed over again', async () => {
  const handsets = createHandsets(db.database, clock);
  const texts = [newText(), newText(50)];
  await handsets.receive(texts);
  clock.advance(1000);
  await assert.rejects(handsets.reportDue(() => Promise.reject(new Error('away'))));
  assertSame(await reportAll(), texts);
});
