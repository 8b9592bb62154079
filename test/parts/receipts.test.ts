import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { createAssembleEvents } from '../../src/compose/event-records.ts';
import type { Claim } from '../../src/delivery/attempts/queued-text.ts';
import type { AttemptResult } from '../../src/delivery/attempts/result.ts';
import type { Receipt } from '../../src/delivery/carrier/carrier.ts';
import { createReceipts, type Receipts } from '../../src/delivery/receipts/receipts.ts';
import { createEventIds } from '../../src/events/event-id.ts';
import { findEvents } from '../../src/events/event-store.ts';
import {
  badEnds,
  correctedEnds,
  type Message,
  type MessageStatus,
  mayBecome,
  type ReceiptOutcome,
  unsentStatuses,
} from '../../src/messages/message.ts';
import { toMessageRecord } from '../../src/messages/message-record.ts';
import { statusCode, statusOf } from '../../src/messages/message-row.ts';
import { cancelMessages, findByKeys } from '../../src/messages/message-store.ts';
import { hourMs, systemClock } from '../../src/platform/clock.ts';
import { createKeyRing } from '../../src/platform/crypto/keys.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type Answer,
  accepted,
  attemptOf,
  createDeliverySteps,
  type DeliverySteps,
  leaseMs,
  refused,
  tryLater,
  unanswered,
} from '../support/delivery-steps.ts';
import { inShort } from '../support/effort.ts';
import { checkEvents, listen, watchStates } from '../support/event-witness.ts';
import {
  acceptMessages,
  carrierIdOf,
  emptyTables,
  type QueueRow,
  readQueue,
  readRow,
  testApplicationId,
  testVerificationId,
} from '../support/recording-carrier.ts';

const carrier = 'test';
const source = { key: carrier, account: carrier };
const testRoot = { version: 1, usedFromMs: 0, key: Buffer.alloc(32, 1) };
let db: TestDatabase;
let clock: TestClock;
let receipts: Receipts;
let steps: DeliverySteps;
before(async () => {
  db = await createTestDatabase();
  await watchStates(db.database);
  await listen(db.database, [testApplicationId]);
});
after(() => checkEvents(db.database).finally(() => db.drop()));
beforeEach(async () => {
  clock = createTestClock();
  receipts = createReceipts({ database: db.database, clock });
  steps = createDeliverySteps(db.database, clock, carrier);
  await emptyTables(db.database);
});

const row = (id: string) => readRow(db.database, id);
const accept = (count: number, changes: Partial<Message> = {}) =>
  acceptMessages({ database: db.database, clock, carrier }, count, changes);
const cancel = (id: string, api: Message['api'] = 'sms') =>
  cancelMessages(db.database, [{ applicationId: testApplicationId, api, id }], clock.nowMs()).then((all) =>
    all.get(id),
  );

/** What a worker takes next, when there has to be something. */
async function claim(): Promise<Claim> {
  const claimed = await steps.takeNext();
  assert.ok(claimed !== undefined, 'nothing was claimed');
  return claimed;
}

async function acceptOne(changes: Partial<Message> = {}): Promise<string> {
  const [message] = await accept(1, changes);
  return message?.id ?? '';
}

/** A message that the carrier has taken. */
async function sent(): Promise<string> {
  const id = await acceptOne();
  await steps.record(await claim(), accepted);
  return id;
}

function receipt(carrierMessageId: string, outcome: ReceiptOutcome, more: Partial<Receipt> = {}): Receipt {
  return { carrierMessageId, keys: [carrierMessageId], numbers: [], messageId: null, outcome, error: null, ...more };
}

const unmatched = async () => (await db.database.query('select carrier_message_id from unmatched_receipt')).count;

describe('a receipt', () => {
  const ends: [ReceiptOutcome, Partial<QueueRow>][] = [
    ['delivered', { status: 'delivered', errorCode: null }],
    ['undelivered', { status: 'undelivered', errorCode: 'unknown' }],
    ['failed', { status: 'failed', errorCode: 'unknown' }],
    ['expired', { status: 'expired', errorCode: 'expired' }],
    ['unknown', { status: 'unknown', errorCode: null }],
  ];
  for (const [outcome, expected] of ends) {
    test(`a receipt sets ${outcome}, with a reason where one is needed`, async () => {
      const id = await sent();
      clock.advance(1000);
      await receipts.apply(source, [receipt(carrierIdOf(id, 1), outcome)]);
      const { status, errorCode, dueAtMs, deliveredAtMs, sequence } = await row(id);
      assert.deepEqual({ status, errorCode }, expected);
      assert.deepEqual([dueAtMs, deliveredAtMs, sequence], [null, outcome === 'delivered' ? clock.nowMs() : null, 2]);
      assert.equal(await unmatched(), 0);
    });
  }

  test('a receipt that comes twice, or contradicts the one before, changes nothing', async () => {
    const id = await sent();
    await receipts.apply(source, [receipt(carrierIdOf(id, 1), 'delivered')]);
    const before = await row(id);
    clock.advance(1000);
    for (const outcome of ['delivered', 'undelivered', 'failed', 'expired', 'unknown'] as const) {
      await receipts.apply(source, [receipt(carrierIdOf(id, 1), outcome)]);
      await receipts.apply(source, [receipt(carrierIdOf(id, 1), outcome, { messageId: id })]);
    }
    assert.deepEqual(await row(id), before);
    assert.equal(await unmatched(), 0);
  });

  test('several for one message in one breath are taken in the order they came', async () => {
    const [first, second] = [await sent(), await sent()];
    const id = carrierIdOf(first, 1);
    await receipts.apply(source, [
      receipt(id, 'unknown'),
      receipt(carrierIdOf(second, 1), 'undelivered', { error: 'unreachable' }),
      receipt(id, 'unknown'),
      receipt(id, 'delivered'),
      receipt(carrierIdOf(second, 1), 'delivered'),
      receipt(id, 'failed'),
    ]);
    assert.equal((await row(first)).status, 'delivered');
    const { status, errorCode } = await row(second);
    assert.deepEqual([status, errorCode], ['delivered', null], 'a carrier may correct itself');
  });

  test('delivered replaces undelivered, expired and failed within 72 h of sending, and no later', async () => {
    for (const outcome of ['undelivered', 'expired', 'failed'] as const) {
      for (const [ms, expected] of [
        [72 * hourMs - 2, 'delivered'],
        [72 * hourMs, outcome],
      ] as const) {
        const id = await sent();
        await receipts.apply(source, [receipt(carrierIdOf(id, 1), outcome)]);
        clock.advance(ms);
        await receipts.apply(source, [receipt(carrierIdOf(id, 1), 'delivered')]);
        const { status, deliveredAtMs, errorCode } = await row(id);
        assert.equal(status, expected, `${outcome} after ${ms} ms`);
        if (expected === 'delivered') assert.deepEqual([deliveredAtMs, errorCode], [clock.nowMs(), null]);
        assert.deepEqual(await endsOf(id), expected === 'delivered' ? [] : [outcome]);
      }
    }
  });

  test('before the carrier\u2019s answer was written: kept, and found when it is', async () => {
    const id = await acceptOne();
    const claimed = await claim();
    await receipts.apply(source, [receipt(carrierIdOf(id, 1), 'delivered')]);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['queued', 1]);
    assert.equal(await receipts.rematch(), 1);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['queued', 1]);
    await steps.record(claimed, accepted);
    clock.advance(1000);
    assert.equal(await receipts.rematch(), 1);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['delivered', 0]);
  });

  test('a receipt with our own id is applied before the carrier\u2019s answer, which then changes nothing', async () => {
    const id = await acceptOne();
    const claimed = await claim();
    await receipts.apply(source, [receipt(carrierIdOf(id, 1), 'delivered', { messageId: id })]);
    const found = await row(id);
    assert.deepEqual(
      [found.status, found.attempt, found.sentAtMs, found.location],
      ['delivered', 1, clock.nowMs(), 'claim'],
    );
    clock.advance(1000);
    await steps.record(claimed, accepted);
    assert.deepEqual(await row(id), { ...found, location: null });
    assert.equal(await unmatched(), 0);
  });

  test('a receipt with our own id settles a text whose answer never came', async () => {
    const id = await acceptOne();
    await steps.record(await claim(), unanswered);
    await receipts.apply(source, [receipt('4711', 'delivered', { messageId: id })]);
    const found = await row(id);
    assert.deepEqual([found.status, found.carrierMessageId, found.location], ['delivered', '4711', null]);
    clock.advance(leaseMs);
    assert.equal(await steps.takeNext(), undefined);
  });

  test('a receipt with our own id settles a text that a dead worker had claimed', async () => {
    const id = await acceptOne();
    await claim();
    await receipts.apply(source, [receipt('4711', 'undelivered', { messageId: id })]);
    clock.advance(leaseMs);
    assert.equal(await steps.takeNext(), undefined);
    assert.deepEqual([(await row(id)).status, (await row(id)).location], ['undelivered', null]);
  });

  test('of the first copy, while the second waits to be tried again, ends it: it has arrived', async () => {
    const id = await acceptOne();
    await claim();
    clock.advance(leaseMs);
    await steps.record(await claim(), tryLater);
    assert.deepEqual([(await row(id)).attempt, (await row(id)).possibleDuplicates], [2, 1]);
    await receipts.apply(source, [receipt('4711', 'undelivered', { messageId: id })]);
    assert.equal((await row(id)).status, 'queued');
    await receipts.apply(source, [receipt('4711', 'delivered', { messageId: id })]);
    assert.equal((await row(id)).status, 'delivered');
    clock.advance(leaseMs);
    assert.equal(await steps.takeNext(), undefined);
  });

  test('a receipt that one copy has failed leaves the other copy open', async () => {
    const id = await acceptOne();
    await claim();
    clock.advance(leaseMs);
    const second = await claim();
    await receipts.apply(source, [receipt(carrierIdOf(id, 1), 'undelivered', { messageId: id })]);
    assert.deepEqual([(await row(id)).status, (await row(id)).onTheWire], ['queued', true]);
    await steps.record(second, accepted);
    await receipts.apply(source, [
      receipt(carrierIdOf(id, 1), 'expired', { messageId: id }),
      receipt(carrierIdOf(id, 2), 'undelivered', { messageId: id }),
    ]);
    assert.equal((await row(id)).status, 'undelivered');
  });

  test('whose reference is wrong is found by the carrier\u2019s id', async () => {
    const id = await sent();
    await receipts.apply(source, [receipt(carrierIdOf(id, 1), 'delivered', { messageId: 'another carrier\u2019s' })]);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['delivered', 0]);
  });

  test('of another carrier finds nothing, whatever id it names', async () => {
    const id = await sent();
    await receipts.apply({ key: 'other', account: 'other' }, [
      receipt(carrierIdOf(id, 1), 'delivered', { messageId: id }),
    ]);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['sent', 1]);
  });

  test('with an id that no database takes does not keep its neighbours from being written', async () => {
    const id = await sent();
    await receipts.apply(source, [
      receipt('a\0b', 'delivered', { messageId: 'msg\0' }),
      receipt('x'.repeat(100_000), 'delivered'),
      receipt(carrierIdOf(id, 1), 'delivered'),
    ]);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['delivered', 2]);
  });

  test('for a text that was canceled, expired, or never left changes nothing', async () => {
    const ways: Record<string, () => Promise<string>> = {
      queued: () => acceptOne(),
      scheduled: () => acceptOne({ status: 'scheduled', sendAtMs: clock.nowMs() + 60_000 }),
      async canceled() {
        const id = await acceptOne();
        await cancel(id);
        return id;
      },
      async expired() {
        const id = await acceptOne({ expiresAtMs: clock.nowMs() });
        await steps.takeNext();
        return id;
      },
      async failed() {
        const id = await acceptOne();
        await steps.record(await claim(), refused);
        return id;
      },
    };
    for (const [status, make] of Object.entries(ways)) {
      const id = await make();
      const before = await row(id);
      assert.equal(before.status, status);
      await receipts.apply(source, [receipt('1', 'delivered', { messageId: id })]);
      assert.deepEqual(await row(id), before);
      await emptyQueue();
    }
    assert.equal(await unmatched(), 0);
  });
});

/** What one part of a test leaves in the queue is not claimed by the next part. */
async function emptyQueue(): Promise<void> {
  await db.database.query('truncate delivery_queue, delivery_schedule');
}

describe('receipts for unknown texts', () => {
  test('are kept for 72 h, however often they come, and retried ever less often', async () => {
    for (let times = 0; times < 3; times++) {
      await receipts.apply(source, [receipt('nobody', 'delivered'), receipt('nobody', 'delivered')]);
    }
    assert.equal(await unmatched(), 1);
    const nextTry = async () => {
      const { rows } = await db.database.query<{ atMs: number }>('select retry_at as "atMs" from unmatched_receipt');
      return rows[0]?.atMs ?? 0;
    };
    let tries = 0;
    const untilMs = clock.nowMs() + 72 * 3_600_000;
    for (let atMs = await nextTry(); atMs < untilMs; atMs = await nextTry()) {
      clock.set(atMs - 1);
      assert.equal(await receipts.rematch(), 0);
      clock.set(atMs);
      tries += await receipts.rematch();
    }
    assert.ok(tries >= 12 && tries <= 25, `${tries} tries`);
    assert.equal(await unmatched(), 1);
    clock.set(await nextTry());
    await receipts.rematch();
    assert.equal(await unmatched(), 0);
  });

  test('100,000 of them do not keep one that has come early from being found, and are not read for it', async () => {
    const patient = db.another({ poolSize: 1, timeouts: { statementMs: 60_000, transactionMs: 60_000 } });
    await patient.query(
      `insert into unmatched_receipt (carrier, account, carrier_message_id, keys, outcome, received_at, retry_at)
       select $1, $1, 'nobody ' || n, array['nobody ' || n], $3::smallint, $2, $2::timestamptz + interval '1 hour' from generate_series(1, 100000) n`,
      [carrier, new Date(clock.nowMs()).toISOString(), statusCode('delivered')],
    );
    const id = await acceptOne();
    const claimed = await claim();
    await receipts.apply(source, [receipt(carrierIdOf(id, 1), 'delivered')]);
    await steps.record(claimed, accepted);
    const readBefore = await rowsReadInSequence(patient);
    await createReceipts({ database: patient, clock }).rematch();
    assert.equal((await row(id)).status, 'delivered');
    assert.equal((await rowsReadInSequence(patient)) - readBefore, 0);
  });
});

/** On a pool of one connection: what others have read is not visible. */
async function rowsReadInSequence(database: Database): Promise<number> {
  await database.query('select pg_stat_force_next_flush()');
  await database.query('select pg_stat_clear_snapshot()');
  const { rows } = await database.query<{ read: number }>(
    `select seq_tup_read as read from pg_stat_user_tables where relname = 'unmatched_receipt'`,
  );
  return rows[0]?.read ?? 0;
}

// The model: what one message is, and what each event may make of it.

interface Model {
  status: MessageStatus;
  place: QueueRow['location'];
  attempt: number;
  onTheWire: boolean;
  unanswered: number;
  possibleDuplicates: number;
  carrierMessageId: string | null;
  dueAtMs: number | null;
}

/** One submit of the message, and what its worker knows. */
interface Submit {
  claim: Claim;
  attempt: number;
  leasedUntilMs: number;
  /** How many submits before it had no answer. */
  unansweredBefore: number;
  /** The worker has written that no answer came; one that comes now is late. */
  unanswered: boolean;
}

type Event =
  | { kind: 'turn' }
  | { kind: 'release' }
  | { kind: 'queueDue' }
  | { kind: 'claim' }
  | { kind: 'answer'; back: number; answer: keyof typeof answers }
  | { kind: 'receipt'; attempt: number; outcome: ReceiptOutcome; named: boolean }
  | { kind: 'cancel' }
  | { kind: 'time'; ms: number }
  | { kind: 'rematch' };

const answers = { accepted, tryLater, refused, unanswered } satisfies Record<string, Answer>;

const anEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Event>({ kind: 'turn' }) },
  { weight: 2, arbitrary: fc.constantFrom<Event>({ kind: 'release' }, { kind: 'queueDue' }, { kind: 'claim' }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      back: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) }),
      answer: fc.constantFrom<keyof typeof answers>('accepted', 'tryLater', 'refused', 'unanswered', 'unanswered'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('receipt' as const),
      attempt: fc.integer({ min: 1, max: 3 }),
      outcome: fc.constantFrom<ReceiptOutcome>('delivered', 'undelivered', 'expired', 'failed', 'unknown'),
      named: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Event>({ kind: 'cancel' }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(1000, leaseMs, 3_600_000) }),
  },
  { weight: 1, arbitrary: fc.constant<Event>({ kind: 'rematch' }) },
);

const isUnsent = ({ status }: Model) => unsentStatuses.includes(status);

/** It needs no further work, except that its claim may still be open. */
function settle(before: Model, status: MessageStatus): Model {
  const place = before.place === 'claim' ? 'claim' : null;
  return { ...before, status, place, onTheWire: false, unanswered: 0, dueAtMs: null };
}

function afterRelease(before: Model, leasedUntilMs: number): Model {
  if (before.place !== 'claim' || leasedUntilMs > clock.nowMs()) return before;
  if (!isUnsent(before)) return { ...before, place: null };
  return { ...before, place: 'schedule', dueAtMs: clock.nowMs() };
}

function afterQueueDue(before: Model): Model {
  if (before.place !== 'schedule' || before.dueAtMs === null || before.dueAtMs > clock.nowMs()) return before;
  return { ...before, status: 'queued', place: 'queue', dueAtMs: null };
}

function afterClaim(before: Model, plain: boolean, expiresAtMs: number): Model {
  const nowMs = clock.nowMs();
  if (before.place !== 'queue') return before;
  const givenUp = plain && (before.unanswered > 1 || before.possibleDuplicates >= 5);
  if (before.onTheWire && (expiresAtMs <= nowMs || givenUp)) return settle(before, 'unknown');
  if (expiresAtMs <= nowMs) return settle(before, 'expired');
  return {
    ...before,
    place: 'claim',
    attempt: before.attempt + 1,
    possibleDuplicates: before.possibleDuplicates + (before.onTheWire ? 1 : 0),
    onTheWire: true,
  };
}

/** The claim is open: the answer closes it, and counts unless a receipt was first. */
function afterAnswer(claimed: Model, result: AttemptResult): Model {
  const before: Model = { ...claimed, place: null };
  if (!isUnsent(before)) return before;
  if ('ended' in result) {
    const { status, carrierMessageId } = result.ended;
    return { ...settle(before, status), carrierMessageId: carrierMessageId ?? before.carrierMessageId };
  }
  const { again } = result;
  const { inDoubt } = again.entry;
  const times = before.unanswered + (inDoubt ? 1 : 0);
  return { ...before, place: 'schedule', onTheWire: inDoubt, unanswered: times, dueAtMs: Math.floor(again.dueAtMs) };
}

/** The claim is closed: the answer counts if the message was not submitted again, and nothing else has settled it. */
function afterLateAnswer(before: Model, { attempt, unansweredBefore }: Submit, result: AttemptResult): Model {
  const waits = before.onTheWire && before.place !== 'claim' && before.attempt === attempt;
  if (!waits) return before;
  if ('ended' in result) return afterAnswer(before, result);
  if (result.again.entry.inDoubt) return before;
  // The submit has an answer now. A text in the queue is due already.
  const dueAtMs = before.place === 'schedule' ? Math.floor(result.again.dueAtMs) : null;
  return { ...before, onTheWire: false, unanswered: unansweredBefore, dueAtMs };
}

function afterReceipt(before: Model, outcome: ReceiptOutcome, reportedId: string, left: boolean): Model {
  const { status, attempt, onTheWire, possibleDuplicates, carrierMessageId } = before;
  const about = possibleDuplicates === 0 || carrierMessageId === reportedId;
  let applies: boolean;
  if (outcome === 'delivered') {
    const corrects = left && correctedEnds.includes(status);
    applies = status === 'sent' || status === 'unknown' || (status === 'queued' && attempt > 0) || corrects;
  } else if (status === 'unknown') applies = outcome !== 'unknown';
  else if (status === 'sent') applies = about;
  else applies = status === 'queued' && onTheWire && possibleDuplicates === 0;
  if (!applies) return before;
  return { ...settle(before, outcome), carrierMessageId: carrierMessageId ?? reportedId };
}

function modelOf(found: QueueRow): Model {
  const {
    status,
    location: place,
    attempt,
    onTheWire,
    unanswered,
    possibleDuplicates,
    carrierMessageId,
    dueAtMs,
  } = found;
  return {
    status: status as MessageStatus,
    place,
    attempt,
    onTheWire,
    unanswered,
    possibleDuplicates,
    carrierMessageId,
    dueAtMs,
  };
}

/** Receipts that are kept because no message has their id yet, in the order they came. */
type Kept = { id: string; outcome: ReceiptOutcome }[];

function afterRematch(before: Model, kept: Kept, ids: Set<string>, left: boolean): { model: Model; kept: Kept } {
  let model = before;
  for (const each of kept) if (ids.has(each.id)) model = afterReceipt(model, each.outcome, each.id, left);
  return { model, kept: kept.filter((each) => !ids.has(each.id)) };
}

async function play(id: string, expiresAtMs: number, plain: boolean, events: Event[]): Promise<void> {
  let model = modelOf(await row(id));
  let kept: Kept = [];
  let { sequence, sentAtMs } = await row(id);
  const submits: Submit[] = [];
  /** The record as it was shown when it entered each state. */
  const shown: object[] = [];
  /** What each attempt has come to, for all we know. */
  const attempts = new Map<number, keyof typeof answers>();
  /** What receipts may call it. */
  const ids = new Set<string>();
  /** Whether a carrier may have it, or have had it. */
  const hasLeft = ({ possibleDuplicates }: Model) =>
    sentAtMs !== null ||
    possibleDuplicates > 0 ||
    [...attempts.values()].some((answer) => answer === 'accepted' || answer === 'unanswered');
  const single = events.flatMap((event): Event[] =>
    event.kind === 'turn' ? [{ kind: 'release' }, { kind: 'queueDue' }, { kind: 'claim' }] : [event],
  );
  for (const event of single) {
    const before = model;
    const nowMs = clock.nowMs();
    switch (event.kind) {
      case 'turn':
        break;
      case 'release':
        await steps.release();
        model = afterRelease(before, submits.at(-1)?.leasedUntilMs ?? 0);
        break;
      case 'queueDue':
        await steps.queueDue();
        model = afterQueueDue(before);
        break;
      case 'claim': {
        const claimed = await steps.claim();
        model = afterClaim(before, plain, expiresAtMs);
        assert.equal(claimed?.texts.length ?? 0, model.attempt - before.attempt);
        if (claimed === undefined) break;
        assert.ok(expiresAtMs > nowMs, 'an expired text was submitted');
        const [text] = claimed.texts;
        assert.equal(text && attemptOf(text), model.attempt);
        submits.push({
          claim: claimed,
          attempt: model.attempt,
          leasedUntilMs: nowMs + leaseMs,
          unansweredBefore: before.unanswered,
          unanswered: false,
        });
        break;
      }
      case 'answer': {
        const submit = submits.find(({ attempt }) => attempt === before.attempt - event.back);
        if (submit === undefined) break;
        const record = submit.unanswered ? steps.recordLate : steps.record;
        const [result] = await record(submit.claim, answers[event.answer]);
        assert.ok(result !== undefined, 'an answer without a result');
        const open = before.place === 'claim' && submit === submits.at(-1);
        if (submit.unanswered) model = afterLateAnswer(before, submit, result);
        else if (open) model = afterAnswer(before, result);
        const isKept = submit.unanswered ? event.answer !== 'unanswered' : open;
        if (isKept) attempts.set(submit.attempt, event.answer);
        if (isKept && event.answer === 'accepted' && (submit.unanswered || isUnsent(before)))
          ids.add(carrierIdOf(id, submit.attempt));
        if (event.answer === 'unanswered') submit.unanswered = true;
        break;
      }
      case 'receipt': {
        const reportedId = carrierIdOf(id, event.attempt);
        await receipts.apply(source, [receipt(reportedId, event.outcome, { messageId: event.named ? id : null })]);
        if (event.named || ids.has(reportedId)) {
          model = afterReceipt(before, event.outcome, reportedId, hasLeft(before));
          // The receipt that ended it as unknown may be followed by a better one that names only this id.
          if (event.outcome === 'unknown' && isUnsent(before) && !isUnsent(model)) ids.add(reportedId);
        } else if (!kept.some((each) => each.id === reportedId && each.outcome === event.outcome)) {
          kept.push({ id: reportedId, outcome: event.outcome });
        }
        break;
      }
      case 'cancel': {
        const canceled = await cancel(id, plain ? 'sms' : 'verify');
        const may = isUnsent(before) && !before.onTheWire;
        assert.equal(canceled !== undefined, may);
        if (may) model = settle(before, 'canceled');
        break;
      }
      case 'time':
        clock.advance(event.ms);
        break;
      case 'rematch': {
        // Those that are retried ever less often are due by now.
        await db.database.query('update unmatched_receipt set retry_at = received_at');
        await receipts.rematch();
        ({ model, kept } = afterRematch(before, kept, ids, hasLeft(before)));
        break;
      }
    }
    const found = await row(id);
    assert.deepEqual(modelOf(found), model, `after ${JSON.stringify(event)} on ${JSON.stringify(before)}`);
    const changed = found.status !== before.status;
    const isTold = changed && !isUnsent(model);
    assert.equal(found.sequence, sequence + (isTold ? 1 : 0), 'the sequence counts the states that emit events');
    if (isTold && plain) shown.push(await shownRecord(id));
    if (changed) assert.ok(mayBecome(before.status, model.status), `${before.status} became ${model.status}`);
    if (found.status !== 'queued') assert.equal(found.onTheWire, false);
    if (isUnsent(model)) assert.notEqual(found.location, null, `${found.status} in no place`);
    assert.equal(found.deliveredAtMs !== null, found.status === 'delivered');
    const ended = plain && badEnds.includes(model.status) ? [model.status] : [];
    assert.deepEqual(await endsOf(id), ended, 'the list of bad ends');
    ({ sequence, sentAtMs } = found);
    // Two states at the same millisecond have the same time.
    clock.advance(1);
  }
  assert.deepEqual(await toldRecords(id), shown, 'events hold what a read showed at their time');
}

async function shownRecord(id: string): Promise<object> {
  const key = { applicationId: testApplicationId, api: 'sms' as const, id };
  const [message] = await findByKeys(db.database, [key]);
  assert.ok(message !== undefined, 'the text is gone');
  return toMessageRecord(message);
}

const tell = createAssembleEvents(createEventIds(createKeyRing(systemClock, () => [testRoot])));

/** The contents of a text's events, oldest first. */
async function toldRecords(id: string): Promise<object[]> {
  const { rows } = await db.database.query<{ position: number }>(
    'select position from event where subject = $1 order by position',
    [uuidOf(id)],
  );
  const positions = rows.map(({ position }) => position);
  const events = await tell(db.database, await findEvents(db.database, testApplicationId, positions));
  return events.map(({ data }) => data);
}

/** The statuses under which lists find it as not ended well. */
async function endsOf(id: string): Promise<string[]> {
  const { rows } = await db.database.query<{ status: number }>('select status from message_end where message_id = $1', [
    uuidOf(id),
  ]);
  return rows.map(({ status }) => statusOf(status));
}

describe('whatever happens in whatever order', () => {
  for (const plain of [true, false]) {
    test(`a ${plain ? 'plain text' : 'verification\u2019s text'} never goes backwards`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anEvent, { minLength: 4, maxLength: 30, size: 'max' }),
          fc.boolean(),
          async (events, scheduled) => {
            await emptyTables(db.database);
            const sendAtMs = scheduled ? clock.nowMs() + leaseMs : null;
            const expiresAtMs = (sendAtMs ?? clock.nowMs()) + 2 * 3_600_000;
            const id = await acceptOne({
              ...(!plain && { api: 'verify' as const, verificationId: testVerificationId, body: null }),
              status: scheduled ? 'scheduled' : 'queued',
              sendAtMs,
              expiresAtMs,
            });
            await play(id, expiresAtMs, plain, events);
          },
        ),
        { numRuns: inShort(12, 60) },
      );
    });
  }

  test('many at once, each by its own events, do not disturb one another', async () => {
    const messages = await accept(40);
    const claimed = await claim();
    assert.equal(claimed.texts.length, 40);
    await steps.record(claimed, accepted);
    const outcomes: ReceiptOutcome[] = ['delivered', 'undelivered', 'expired', 'failed', 'unknown'];
    await receipts.apply(
      source,
      messages.map(({ id }, index) =>
        receipt(carrierIdOf(id, 1), outcomes[index % 5] ?? 'unknown', { messageId: index % 2 === 0 ? id : null }),
      ),
    );
    const rows = new Map((await readQueue(db.database)).map((each) => [each.id, each.status]));
    messages.forEach(({ id }, index) => {
      assert.equal(rows.get(id), outcomes[index % 5]);
    });
  });
});
