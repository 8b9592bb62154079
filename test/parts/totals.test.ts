// What carriers do is counted from real submits and receipts, once, on the day and in the minute of the text.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { SubmitResult } from '../../src/delivery/carrier/carrier.ts';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import { createDeliveryWorker } from '../../src/delivery/worker/worker.ts';
import { loadPhoneNumbers } from '../../src/messages/numbers/phone-number.ts';
import { dayMs, hourMs, minuteMs } from '../../src/platform/clock.ts';
import { readAnswerTimes, readMinutes } from '../../src/quality/minute-store.ts';
import { dayOf, readTotals, type TotalRow } from '../../src/quality/total-store.ts';
import { createTotals, type Totals } from '../../src/quality/totals.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestLog } from '../support/log.ts';
import {
  acceptAll,
  acceptMessages,
  carrierIdOf,
  createRecordingCarrier,
  emptyTables,
  type RecordingCarrier,
} from '../support/recording-carrier.ts';

let db: TestDatabase;
let clock: TestClock;
let carrier: RecordingCarrier;
let totals: Totals;
let worker: ReturnType<typeof createDeliveryWorker>;
let receipts: ReturnType<typeof createReceipts>;
const events: string[] = [];
before(async () => {
  await loadPhoneNumbers();
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(async () => {
  // An hour before midnight.
  clock = createTestClock(Date.parse('2026-03-10T23:00:00Z'));
  await emptyTables(db.database);
  await db.database.query('truncate total_day, carrier_minute');
  events.length = 0;
  const { log } = createTestLog();
  const { database } = db;
  totals = createTotals({ database, clock, log, onEvent: (_, country, event) => events.push(`${country} ${event}`) });
  carrier = createRecordingCarrier();
  receipts = createReceipts({ database, clock, onChanged: totals.noteReports });
  worker = createDeliveryWorker({
    database,
    clock,
    log,
    carrier,
    receipts,
    renderText: (message) => message.body ?? 'the code',
    findPending: async (ids) => new Set(ids),
    nextCarrier: () => undefined,
    alone: true,
    atMostOnce: false,
    onCount: () => {},
    onAnswers: totals.noteAnswers,
  });
});

/** The counts that are not 0, of each day. */
async function counted(by: ('day' | 'sender' | 'country')[] = ['day']): Promise<Record<string, unknown>[]> {
  await totals.flush();
  const span = { from: dayOf(clock.nowMs() - 30 * dayMs), to: dayOf(clock.nowMs()) };
  const rows: TotalRow[] = await readTotals(db.database, { ...span, by, limit: 1000 });
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== 0)));
}

const accept = (count: number, changes = {}) =>
  acceptMessages({ database: db.database, clock, carrier: carrier.key }, count, changes);
const answer = (...results: (SubmitResult | undefined)[]) => {
  carrier.answer = async () => results as SubmitResult[];
};
const report = (id: string, outcome: 'delivered' | 'undelivered' | 'failed') =>
  receipts.apply(carrier, [
    { carrierMessageId: carrierIdOf(id, 1), keys: [], numbers: [], messageId: id, outcome, error: null },
  ]);

test('each answer counts in its column, a second submit as a copy', async () => {
  await accept(5);
  answer(
    { outcome: 'accepted', carrierMessageId: '1', details: { parts: 3 } },
    { outcome: 'never', error: 'blocked_by_carrier' },
    { outcome: 'throttled', afterMs: 60_000 },
    { outcome: 'retry', error: 'unreachable', afterMs: 60_000 },
    { outcome: 'in_doubt' },
  );
  await worker.runUntilIdle();
  assert.deepEqual(await counted(), [
    { day: '2026-03-10', attempts: 5, sent: 1, parts: 3, failed: 1, throttled: 1, in_doubt: 1 },
  ]);
  carrier.answer = acceptAll;
  clock.advance(2 * minuteMs);
  await worker.runUntilIdle();
  const [row] = await counted();
  assert.deepEqual([row?.attempts, row?.copies, row?.sent], [8, 1, 4]);
});

test('receipts count on the day of sending, and a corrected one moves from column to column', async () => {
  const [a, b] = await accept(2);
  await worker.runUntilIdle();
  clock.advance(2 * hourMs);
  await report(a?.id ?? '', 'delivered');
  await report(b?.id ?? '', 'undelivered');
  await report(b?.id ?? '', 'undelivered');
  assert.deepEqual(await counted(), [
    { day: '2026-03-10', attempts: 2, sent: 2, parts: 2, delivered: 1, undelivered: 1 },
  ]);
  await report(b?.id ?? '', 'delivered');
  assert.deepEqual(await counted(), [{ day: '2026-03-10', attempts: 2, sent: 2, parts: 2, delivered: 2 }]);
});

test('minutes know which texts were reported on, and how long answers took', async () => {
  const acceptedAtMs = clock.nowMs();
  const [first] = await accept(3);
  await worker.runUntilIdle();
  clock.advance(20 * minuteMs);
  await report(first?.id ?? '', 'delivered');
  await totals.flush();
  const minutes = await readMinutes(db.database, acceptedAtMs, acceptedAtMs + minuteMs);
  assert.deepEqual(minutes, [
    { carrier: 'test', country: 'GB', attempts: 3, throttled: 0, in_doubt: 0, sent: 3, reported: 1 },
  ]);
  const [times] = await readAnswerTimes(db.database, acceptedAtMs, acceptedAtMs + minuteMs);
  assert.equal(times?.took[0], 3);
  assert.deepEqual(events, ['GB accepted', 'GB accepted', 'GB accepted', 'GB delivered']);
});

test('senders that a caller makes up without end are counted together', async () => {
  for (let from = 0; from < 250; from++) await accept(1, { sender: `s${from}` });
  await worker.runUntilIdle();
  const rows = await counted(['sender']);
  assert.equal(rows.length, 201);
  assert.equal(rows.find(({ sender }) => sender === '(others)')?.sent, 50);
});

test('what comes for days that may be added up already is not counted', async () => {
  const [text] = await accept(1);
  await worker.runUntilIdle();
  await totals.flush();
  clock.advance(6 * dayMs);
  await db.database.query('update message set status = 2');
  await report(text?.id ?? '', 'delivered');
  assert.deepEqual(await counted(), [{ day: '2026-03-10', attempts: 1, sent: 1, parts: 1 }]);
});
