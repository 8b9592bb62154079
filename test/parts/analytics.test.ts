// Sums by step: they fold into hours and days without loss, and reading them costs the same with however many messages.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { dayMs, hourMs, minuteMs } from '../../src/platform/clock.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { readAnalytics, spanNames } from '../../src/quality/analytics/read.ts';
import {
  deleteOldSteps,
  foldSteps,
  type StepKey,
  stepBookColumns,
  stepTimes,
  writeSteps,
} from '../../src/quality/analytics/step-store.ts';
import {
  addVerifications,
  deleteOldVerificationSteps,
  foldVerifications,
} from '../../src/quality/analytics/verification-store.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
let clock: TestClock;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(async () => {
  clock = createTestClock(Date.parse('2026-03-10T12:03:00Z'));
  await db.database.query('truncate total_step, verification_step, total_day');
});

const applicationId = newId('app', { nowMs: () => 0, steadyMs: () => 0 });
const key = (atMs: number): StepKey => ({
  ...{ atMs, carrier: 'acme#1', country: 'GB', sender: 'ACME', applicationId: uuidOf(applicationId) },
});

function row(atMs: number, sent: number, revision = 1) {
  const counts = new Float64Array(stepBookColumns);
  counts[0] = sent;
  counts[stepTimes.arrived] = sent;
  return { key: key(atMs), counts, revision };
}

const sums = async (table: string) =>
  (
    await db.database.query<
      Record<string, number>
    >(`select minutes, count(*)::integer as rows, sum(${table === 'total_step' ? 'sent' : 'verifications'})::integer as sum
     from ${table} group by minutes order by minutes`)
  ).rows.map(({ minutes, rows, sum }) => [minutes, rows, sum]);

test('steps of two nodes fold into one row an hour; a write that comes late or twice changes nothing', async () => {
  const oldMs = clock.nowMs() - 6 * hourMs;
  const first = oldMs - (oldMs % hourMs);
  for (const node of ['nod_a', 'nod_b'])
    await writeSteps(db.database, node, [row(first, 2), row(first + 5 * minuteMs, 3), row(first + hourMs, 1)]);
  await writeSteps(db.database, 'nod_a', [row(first, 9, 0)]);
  assert.deepEqual(await sums('total_step'), [[5, 6, 12]]);
  while ((await foldSteps(db.database, clock.nowMs())) > 0);
  assert.deepEqual(await sums('total_step'), [[60, 2, 12]]);
  const { all } = await readAnalytics(db.database, { span: 'day', by: 'carrier', nowMs: clock.nowMs() });
  assert.deepEqual([all.total.sent, all.total.arrived[0]], [12, 12]);
  clock.advance(dayMs);
  while ((await deleteOldSteps(db.database, clock.nowMs())) > 0);
  assert.deepEqual(await sums('total_step'), []);
});

test('verifications fold into hours, then into days, and are deleted after a month', async () => {
  const beginMs = clock.nowMs();
  const ended = [0, 1, 5, 61].map((minutes) => ({ ...key(beginMs + minutes * minuteMs), approved: minutes === 0 }));
  await addVerifications(db.database, ended);
  await addVerifications(db.database, ended.slice(0, 1));
  const fold = async () => {
    while ((await foldVerifications(db.database, clock.nowMs())) > 0);
    return sums('verification_step');
  };
  assert.deepEqual(await fold(), [[5, 3, 5]]);
  clock.advance(6 * hourMs);
  assert.deepEqual(await fold(), [[60, 2, 5]]);
  clock.advance(dayMs);
  assert.deepEqual(await fold(), [[1440, 1, 5]]);
  const { all } = await readAnalytics(db.database, { span: 'week', by: 'country', nowMs: clock.nowMs() });
  assert.deepEqual([all.total.verifications, all.total.approved], [5, 2]);
  clock.advance(32 * dayMs);
  while ((await deleteOldVerificationSteps(db.database, clock.nowMs())) > 0);
  assert.deepEqual(await sums('verification_step'), []);
});

test('every span is read from sums, by an index, whatever the number of messages', async () => {
  await writeSteps(db.database, 'nod_a', [row(clock.nowMs() - (clock.nowMs() % (5 * minuteMs)), 2)]);
  await db.database.query(
    `insert into total_day (day, carrier, country, sender, application_id, node, revision, sent)
     values ('2026-03-10', 'acme#1', 'GB', 'ACME', $1, 'nod_a', 1, 2)`,
    [uuidOf(applicationId)],
  );
  await db.database.transaction(async (tx) => {
    const plans: string[] = [];
    const explaining = {
      async query(statement: Parameters<typeof tx.query>[0], values?: unknown[]) {
        const text = typeof statement === 'string' ? statement : statement.text;
        const { rows } = await tx.query<Record<string, string>>(`explain ${text}`, values);
        plans.push(rows.flatMap((each) => Object.values(each)).join('\n'));
        return tx.query(statement, values);
      },
    } as typeof tx;
    await tx.query('set local enable_seqscan = off');
    for (const span of spanNames)
      for (const by of ['country', 'carrier', 'sender'] as const) {
        await readAnalytics(explaining, { span, by, nowMs: clock.nowMs() });
        await readAnalytics(explaining, { span, by, applicationId, nowMs: clock.nowMs() });
      }
    assert.ok(plans.length > 0);
    assert.deepEqual(
      plans.filter((plan) => /Seq Scan/.test(plan)),
      [],
      'each has an index',
    );
    assert.deepEqual(
      plans.filter((plan) => !/ on (total_step|total_day|verification_step)/.test(plan)),
      [],
    );
  });
});
