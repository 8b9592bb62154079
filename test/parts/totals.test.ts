// What carriers do is counted from real submits and receipts, once, on the day and in the minute of the text.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { SubmitResult } from '../../src/delivery/carrier/carrier.ts';
import { expireWaiting } from '../../src/delivery/queue/expiry-store.ts';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import { createDeliveryWorker } from '../../src/delivery/worker/worker.ts';
import { loadPhoneNumbers } from '../../src/messages/numbers/phone-number.ts';
import { dayMs, hourMs, minuteMs } from '../../src/platform/clock.ts';
import { arrivalQuantileOf } from '../../src/quality/arrival-times.ts';
import { minuteColumns, readAnswerTimes, readArrivals, readMinutes } from '../../src/quality/minute-store.ts';
import { readOutcomes, readRecentOutcomes } from '../../src/quality/outcome-store.ts';
import { dayOf, foldDays, readDayArrivals, readTotals, type TotalRow } from '../../src/quality/total-store.ts';
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
  await db.database.query('truncate total_day, total_step, carrier_minute, carrier_outcome');
  events.length = 0;
  const { log } = createTestLog();
  const { database } = db;
  totals = createTotals({ database, clock, log, onEvent: (_, country, event) => events.push(`${country} ${event}`) });
  carrier = createRecordingCarrier();
  receipts = createReceipts({ database, clock, onChanged: totals.noteReports });
  worker = createDeliveryWorker(workerOptions());
});

const noMinute = Object.fromEntries(minuteColumns.map((column) => [column, 0]));

function workerOptions(): Parameters<typeof createDeliveryWorker>[0] {
  return {
    database: db.database,
    clock,
    log: createTestLog().log,
    carrier,
    receipts,
    renderText: (message) => message.body ?? 'the code',
    findPending: async (ids) => new Set(ids),
    nextCarrier: () => undefined,
    alone: true,
    atMostOnce: false,
    onCount: () => {},
    onAnswers: totals.noteAnswers,
    onEnds: totals.noteEnds,
  };
}

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
    {
      ...{ day: '2026-03-10', attempts: 5, sent: 1, parts: 3, throttled: 1, in_doubt: 1 },
      ...{ refused: 1, failed: 1, unavailable: 1 },
    },
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
    { day: '2026-03-10', attempts: 2, sent: 2, parts: 2, delivered: 1, undelivered: 1, reported: 2 },
  ]);
  await report(b?.id ?? '', 'delivered');
  assert.deepEqual(await counted(), [{ day: '2026-03-10', attempts: 2, sent: 2, parts: 2, delivered: 2, reported: 2 }]);
});

test('a step of five minutes counts what its day counts, for reports within three hours', async () => {
  const [a, b] = await accept(3);
  await worker.runUntilIdle();
  const step = async () => {
    await totals.flush();
    const { rows } = await db.database.query(
      `select to_char(at at time zone 'UTC', 'HH24:MI') as at, minutes, country, sent, reported, delivered, arrived[13] as slow from total_step`,
    );
    return rows;
  };
  clock.advance(2 * hourMs);
  await report(a?.id ?? '', 'delivered');
  const counts = { at: '23:00', minutes: 5, country: 'GB', sent: 3, reported: 1, delivered: 1, slow: 1 };
  assert.deepEqual(await step(), [counts]);
  clock.advance(2 * hourMs);
  await report(b?.id ?? '', 'delivered');
  assert.deepEqual(await step(), [counts], 'the day alone counts it');
  assert.deepEqual(await counted(), [{ day: '2026-03-10', attempts: 3, sent: 3, parts: 3, delivered: 2, reported: 2 }]);
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
    { ...noMinute, carrier: 'test', country: 'GB', attempts: 3, sent: 3, reported: 1, delivered: 1 },
  ]);
  const [arrivals] = await readArrivals(db.database, acceptedAtMs, acceptedAtMs + minuteMs);
  assert.equal(arrivalQuantileOf(arrivals?.arrived ?? [], 0.5), 30 * minuteMs);
  const [times] = await readAnswerTimes(db.database, acceptedAtMs, acceptedAtMs + minuteMs);
  assert.equal(times?.took[0], 3);
  assert.deepEqual(events, ['GB accepted', 'GB accepted', 'GB accepted', 'GB delivered']);
});

const refusal = {
  outcome: 'retry',
  error: 'blocked_by_carrier',
  elsewhere: true,
  reported: '0x45: submit failed',
} as const;

test('a refusal without another carrier fails the text: it counts, with the words of the carrier', async () => {
  const acceptedAtMs = clock.nowMs();
  await accept(2, { api: 'verify' });
  await accept(1);
  carrier.answer = async (texts) =>
    texts.map(({ isCode }) => (isCode ? refusal : { outcome: 'accepted', carrierMessageId: '1' }));
  await worker.runUntilIdle();
  assert.deepEqual(await counted(), [
    {
      ...{ day: '2026-03-10', attempts: 3, sent: 1, parts: 1, refused: 2, failed: 2 },
      ...{ code_attempts: 2, code_refused: 2, code_failed: 2 },
    },
  ]);
  const of = { carrier: 'test', country: 'GB' };
  const [minute] = await readMinutes(db.database, acceptedAtMs, acceptedAtMs + minuteMs);
  assert.deepEqual(minute, {
    ...{ ...noMinute, ...of, attempts: 3, sent: 1, refused: 2, failed: 2 },
    ...{ code_attempts: 2, code_refused: 2, code_failed: 2 },
  });
  assert.deepEqual(await readOutcomes(db.database, acceptedAtMs, clock.nowMs() + minuteMs), [
    { ...of, outcome: 'refused', words: '0x45: submit failed', total: 2, codes: 2 },
    { ...of, outcome: 'accepted', words: '', total: 1, codes: 0 },
  ]);
});

test('a run of refusals ends with a text that the carrier takes, and begins again after it', async () => {
  const fromMs = clock.nowMs();
  const answers = ['refused', 'refused', 'accepted', 'refused'] as const;
  for (const answer of answers) {
    carrier.answer = async () => [answer === 'refused' ? refusal : { outcome: 'accepted', carrierMessageId: '1' }];
    await accept(1);
    await worker.runUntilIdle();
    clock.advance(1000);
  }
  await totals.flush();
  const rows = await readRecentOutcomes(db.database, fromMs - minuteMs, clock.nowMs() + minuteMs);
  const runs = rows.map(({ outcome, total, run, runSinceMs, lastMs }) => [outcome, total, run, runSinceMs, lastMs]);
  const at = (second: number) => fromMs + second * 1000;
  const inOneMinute = [
    ['refused', 3, 1, at(3), at(3)],
    ['accepted', 1, 1, at(2), at(2)],
  ];
  assert.deepEqual(runs, inOneMinute);
});

test('a text that moves to another carrier was refused, and has not failed', async () => {
  await accept(1, { api: 'verify' });
  carrier.answer = async () => [refusal];
  const moving = createDeliveryWorker({
    ...workerOptions(),
    nextCarrier: () => ({ carrier: 'other', rule: null, version: 0 }),
  });
  await moving.runUntilIdle();
  const [row] = await counted();
  assert.deepEqual([row?.refused, row?.failed, row?.code_failed], [1, undefined, undefined]);
});

test('a text that expires while it waits counts as expired', async () => {
  await accept(1, { expiresAtMs: clock.nowMs() + minuteMs });
  clock.advance(2 * minuteMs);
  const options = { nowMs: clock.nowMs(), limit: 10, noteEnds: totals.noteEnds };
  assert.equal(await expireWaiting(db.database, options), 1);
  assert.deepEqual(await counted(), [{ day: '2026-03-10', expired: 1 }]);
});

test('the time to the phone of codes is known by day, also after the rows are added up', async () => {
  const [first, second] = await accept(2, { api: 'verify' });
  await worker.runUntilIdle();
  clock.advance(4000);
  await report(first?.id ?? '', 'delivered');
  clock.advance(15_000);
  await report(second?.id ?? '', 'delivered');
  await totals.flush();
  const query = { from: dayOf(clock.nowMs()), to: dayOf(clock.nowMs()), by: ['country'], limit: 10 } as const;
  const before = await readDayArrivals(db.database, query);
  assert.deepEqual(
    [0.5, 0.95].map((share) => arrivalQuantileOf(before[0]?.codeArrived ?? [], share)),
    [5000, 20_000],
  );
  assert.equal(await foldDays(db.database, clock.nowMs() + 8 * dayMs), 1);
  assert.deepEqual(await readDayArrivals(db.database, query), before);
});

test('words that a carrier makes up without end are counted together', async () => {
  await accept(20);
  carrier.answer = async (texts) => texts.map((_, index) => ({ ...refusal, reported: `error ${index}` }));
  await worker.runUntilIdle();
  await totals.flush();
  const rows = await readOutcomes(db.database, clock.nowMs() - minuteMs, clock.nowMs() + minuteMs);
  assert.deepEqual([rows.length, rows[0]?.words, rows[0]?.total], [9, '(others)', 12]);
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
