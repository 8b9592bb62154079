import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import type { Receipt } from '../../src/delivery/carrier.ts';
import { type AttemptResult, claimDue, recordResults, releaseInDoubt } from '../../src/delivery/delivery-store.ts';
import { createReceipts, type Receipts } from '../../src/delivery/receipts.ts';
import { type Message, type MessageStatus, mayBecome, type ReceiptOutcome } from '../../src/messages/message.ts';
import { cancelMessage } from '../../src/messages/message-store.ts';
import type { Database } from '../../src/platform/database.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { acceptMessages, carrierIdOf, type QueueRow, readQueue, readRow } from '../support/recording-carrier.ts';

const carrier = 'test';
const leaseMs = 10_000;
let db: TestDatabase;
let clock: TestClock;
let receipts: Receipts;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(async () => {
  clock = createTestClock();
  receipts = createReceipts(db.database, clock);
  await db.database.query('truncate message, unmatched_receipt');
});

const row = (id: string) => readRow(db.database, id);
const accept = (count: number, changes: Partial<Message> = {}) =>
  acceptMessages({ database: db.database, clock, carrier }, count, changes);
const claim = () => claimDue(db.database, { carrier, nowMs: clock.nowMs(), leaseMs, limit: 100, atMostOnce: false });

function accepted(messageId: string, attempt: number): AttemptResult {
  const dueAtMs = clock.nowMs() + 72 * 3_600_000;
  return {
    messageId,
    attempt,
    status: 'sent',
    carrierMessageId: carrierIdOf(messageId, attempt),
    error: null,
    dueAtMs,
  };
}

/** A message that the carrier has taken. */
async function sent(): Promise<string> {
  const [message] = await accept(1);
  const id = message?.id ?? '';
  await claim();
  await recordResults(db.database, [accepted(id, 1)], clock.nowMs());
  return id;
}

function receipt(carrierMessageId: string, outcome: ReceiptOutcome, more: Partial<Receipt> = {}): Receipt {
  return { carrierMessageId, messageId: null, outcome, error: null, ...more };
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
    test(`${outcome}: says so, with a reason where there has to be one`, async () => {
      const id = await sent();
      clock.advance(1000);
      await receipts.apply(carrier, [receipt(carrierIdOf(id, 1), outcome)]);
      const { status, errorCode, dueAtMs, deliveredAtMs, sequence } = await row(id);
      assert.deepEqual({ status, errorCode }, expected);
      assert.deepEqual([dueAtMs, deliveredAtMs, sequence], [null, outcome === 'delivered' ? clock.nowMs() : null, 3]);
      assert.equal(await unmatched(), 0);
    });
  }

  test('that comes twice, or contradicts the one before, changes nothing', async () => {
    const id = await sent();
    await receipts.apply(carrier, [receipt(carrierIdOf(id, 1), 'delivered')]);
    const before = await row(id);
    clock.advance(1000);
    for (const outcome of ['delivered', 'undelivered', 'failed', 'expired', 'unknown'] as const) {
      await receipts.apply(carrier, [receipt(carrierIdOf(id, 1), outcome)]);
      await receipts.apply(carrier, [receipt(carrierIdOf(id, 1), outcome, { messageId: id })]);
    }
    assert.deepEqual(await row(id), before);
    assert.equal(await unmatched(), 0);
  });

  test('several for one message in one breath are taken in the order they came', async () => {
    const [first, second] = [await sent(), await sent()];
    const id = carrierIdOf(first, 1);
    await receipts.apply(carrier, [
      receipt(id, 'unknown'),
      receipt(carrierIdOf(second, 1), 'undelivered', { error: 'unreachable' }),
      receipt(id, 'unknown'),
      receipt(id, 'delivered'),
      receipt(carrierIdOf(second, 1), 'delivered'),
      receipt(id, 'failed'),
    ]);
    assert.equal((await row(first)).status, 'delivered');
    const { status, errorCode } = await row(second);
    assert.deepEqual([status, errorCode], ['undelivered', 'unreachable']);
  });

  test('before the carrier\u2019s answer was written: kept, and found when it is', async () => {
    const [message] = await accept(1);
    const id = message?.id ?? '';
    await claim();
    await receipts.apply(carrier, [receipt(carrierIdOf(id, 1), 'delivered')]);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['queued', 1]);
    assert.equal(await receipts.rematch(), 1);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['queued', 1]);
    await recordResults(db.database, [accepted(id, 1)], clock.nowMs());
    clock.advance(1000);
    assert.equal(await receipts.rematch(), 1);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['delivered', 0]);
  });

  test('that names our own id settles a text whose answer never came', async () => {
    const [message] = await accept(1);
    const id = message?.id ?? '';
    await claim();
    await releaseInDoubt(db.database, [{ messageId: id, attempt: 1, dueAtMs: clock.nowMs() + 1000 }]);
    await receipts.apply(carrier, [receipt('4711', 'delivered', { messageId: id })]);
    const found = await row(id);
    assert.deepEqual([found.status, found.carrierMessageId, found.onTheWire], ['delivered', '4711', false]);
    clock.advance(leaseMs);
    assert.deepEqual(await claim(), []);
  });

  test('of the first copy, while the second waits to be tried again, ends it: it has arrived', async () => {
    const [message] = await accept(1);
    const id = message?.id ?? '';
    await claim();
    clock.advance(leaseMs);
    await claim();
    const later: AttemptResult = {
      ...accepted(id, 2),
      status: 'queued',
      carrierMessageId: null,
      dueAtMs: clock.nowMs() + 1000,
    };
    await recordResults(db.database, [later], clock.nowMs());
    await receipts.apply(carrier, [receipt('4711', 'undelivered', { messageId: id })]);
    assert.equal((await row(id)).status, 'queued');
    await receipts.apply(carrier, [receipt('4711', 'delivered', { messageId: id })]);
    assert.equal((await row(id)).status, 'delivered');
    clock.advance(leaseMs);
    assert.deepEqual(await claim(), []);
  });

  test('with bad news of one copy says nothing of the other', async () => {
    const [message] = await accept(1);
    const id = message?.id ?? '';
    await claim();
    clock.advance(leaseMs);
    await claim();
    await receipts.apply(carrier, [receipt(carrierIdOf(id, 1), 'undelivered', { messageId: id })]);
    assert.deepEqual([(await row(id)).status, (await row(id)).onTheWire], ['queued', true]);
    await recordResults(db.database, [accepted(id, 2)], clock.nowMs());
    await receipts.apply(carrier, [
      receipt(carrierIdOf(id, 1), 'expired', { messageId: id }),
      receipt(carrierIdOf(id, 2), 'undelivered', { messageId: id }),
    ]);
    assert.equal((await row(id)).status, 'undelivered');
  });

  test('whose reference is wrong is found by the carrier\u2019s id', async () => {
    const id = await sent();
    await receipts.apply(carrier, [receipt(carrierIdOf(id, 1), 'delivered', { messageId: 'somebody else\u2019s' })]);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['delivered', 0]);
  });

  test('of another carrier finds nothing, whatever id it names', async () => {
    const id = await sent();
    await receipts.apply('other', [receipt(carrierIdOf(id, 1), 'delivered', { messageId: id })]);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['sent', 1]);
  });

  test('with an id that no database takes does not keep its neighbours from being written', async () => {
    const id = await sent();
    await receipts.apply(carrier, [
      receipt('a\0b', 'delivered', { messageId: 'msg\0' }),
      receipt('x'.repeat(100_000), 'delivered'),
      receipt(carrierIdOf(id, 1), 'delivered'),
    ]);
    assert.deepEqual([(await row(id)).status, await unmatched()], ['delivered', 2]);
  });

  test('for a text that was canceled, expired, or never left changes nothing', async () => {
    for (const status of ['canceled', 'expired', 'scheduled', 'queued', 'failed'] as const) {
      const [message] = await accept(1, { status, dueAtMs: clock.nowMs() + 60_000 });
      const id = message?.id ?? '';
      const before = await row(id);
      await receipts.apply(carrier, [receipt('1', 'delivered', { messageId: id })]);
      assert.deepEqual(await row(id), before);
    }
    assert.equal(await unmatched(), 0);
  });
});

describe('receipts for nobody', () => {
  test('are kept for 72 h, however often they come, and looked at ever less often', async () => {
    for (let times = 0; times < 3; times++) {
      await receipts.apply(carrier, [receipt('nobody', 'delivered'), receipt('nobody', 'delivered')]);
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
      `insert into unmatched_receipt (carrier, carrier_message_id, outcome, received_at, retry_at)
       select $1, 'nobody ' || n, 'delivered', $2, $2::timestamptz + interval '1 hour' from generate_series(1, 100000) n`,
      [carrier, new Date(clock.nowMs()).toISOString()],
    );
    const [message] = await accept(1);
    const id = message?.id ?? '';
    await claim();
    await receipts.apply(carrier, [receipt(carrierIdOf(id, 1), 'delivered')]);
    await recordResults(db.database, [accepted(id, 1)], clock.nowMs());
    const readBefore = await rowsReadInSequence(patient);
    await createReceipts(patient, clock).rematch();
    assert.equal((await row(id)).status, 'delivered');
    assert.equal((await rowsReadInSequence(patient)) - readBefore, 0);
  });
});

/** On a pool of one connection: what others have read is not told. */
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
  attempt: number;
  onTheWire: boolean;
  unanswered: number;
  possibleDuplicates: number;
  carrierMessageId: string | null;
  dueAtMs: number | null;
}

type Event =
  | { kind: 'claim' }
  | { kind: 'result'; back: number; status: AttemptResult['status'] }
  | { kind: 'unanswered'; back: number }
  | { kind: 'receipt'; attempt: number; outcome: ReceiptOutcome; named: boolean }
  | { kind: 'cancel' }
  | { kind: 'time'; ms: number }
  | { kind: 'rematch' };

const anEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Event>({ kind: 'claim' }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('result' as const),
      back: fc.nat(2),
      status: fc.constantFrom('sent' as const, 'queued' as const, 'failed' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('unanswered' as const), back: fc.nat(1) }) },
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

function afterClaim(before: Model, plain: boolean, expiresAtMs: number): Model {
  const nowMs = clock.nowMs();
  if (before.dueAtMs === null || before.dueAtMs > nowMs) return before;
  const over = { ...before, onTheWire: false, dueAtMs: null };
  const givenUp = plain && (before.unanswered > 1 || before.possibleDuplicates >= 5);
  if (before.status === 'sent') return { ...over, status: 'unknown' };
  if (before.onTheWire && (expiresAtMs <= nowMs || givenUp)) return { ...over, status: 'unknown' };
  if (expiresAtMs <= nowMs) return { ...over, status: 'expired' };
  return {
    ...before,
    status: 'queued',
    attempt: before.attempt + 1,
    possibleDuplicates: before.possibleDuplicates + (before.onTheWire ? 1 : 0),
    onTheWire: true,
    dueAtMs: nowMs + leaseMs,
  };
}

function afterReceipt(before: Model, outcome: ReceiptOutcome, reportedId: string): Model {
  const { status, attempt, onTheWire, possibleDuplicates, carrierMessageId } = before;
  const about = possibleDuplicates === 0 || carrierMessageId === reportedId;
  let applies: boolean;
  if (outcome === 'delivered') {
    applies = status === 'sent' || status === 'unknown' || (status === 'queued' && attempt > 0);
  } else if (status === 'unknown') applies = outcome !== 'unknown';
  else if (status === 'sent') applies = about;
  else applies = status === 'queued' && onTheWire && possibleDuplicates === 0;
  if (!applies) return before;
  return {
    ...before,
    status: outcome,
    onTheWire: false,
    dueAtMs: null,
    carrierMessageId: carrierMessageId ?? reportedId,
  };
}

function modelOf(found: QueueRow): Model {
  const { status, attempt, onTheWire, unanswered, possibleDuplicates, carrierMessageId, dueAtMs } = found;
  return {
    status: status as MessageStatus,
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

function afterRematch(before: Model, kept: Kept): { model: Model; kept: Kept } {
  let model = before;
  const id = before.carrierMessageId;
  for (const each of kept) if (each.id === id) model = afterReceipt(model, each.outcome, each.id);
  return { model, kept: kept.filter((each) => each.id !== id) };
}

async function play(id: string, expiresAtMs: number, plain: boolean, events: Event[]): Promise<void> {
  let model = modelOf(await row(id));
  let kept: Kept = [];
  let { sequence } = await row(id);
  for (const event of events) {
    const before = model;
    const nowMs = clock.nowMs();
    switch (event.kind) {
      case 'claim': {
        const claimed = await claim();
        model = afterClaim(before, plain, expiresAtMs);
        const submitted = claimed.filter(({ action }) => action === 'submit');
        assert.equal(submitted.length, model.attempt - before.attempt);
        if (submitted.length > 0) assert.ok(expiresAtMs > nowMs, 'an expired text was submitted');
        break;
      }
      case 'result': {
        const attempt = before.attempt - event.back;
        const current = event.back === 0 && before.onTheWire && before.status === 'queued';
        const carrierMessageId = event.status === 'sent' ? carrierIdOf(id, attempt) : null;
        const dueAtMs = event.status === 'failed' ? null : nowMs + 1000;
        const error = event.status === 'failed' ? 'blocked_by_carrier' : null;
        await recordResults(
          db.database,
          [{ messageId: id, attempt, status: event.status, carrierMessageId, error, dueAtMs }],
          nowMs,
        );
        if (current) {
          model = { ...before, status: event.status, onTheWire: false, dueAtMs };
          model.carrierMessageId = carrierMessageId ?? before.carrierMessageId;
        }
        break;
      }
      case 'unanswered': {
        const attempt = before.attempt - event.back;
        await releaseInDoubt(db.database, [{ messageId: id, attempt, dueAtMs: nowMs + 1000 }]);
        if (event.back === 0 && before.onTheWire) {
          model = { ...before, dueAtMs: nowMs + 1000, unanswered: before.unanswered + 1 };
        }
        break;
      }
      case 'receipt': {
        const reportedId = carrierIdOf(id, event.attempt);
        await receipts.apply(carrier, [receipt(reportedId, event.outcome, { messageId: event.named ? id : null })]);
        if (event.named || before.carrierMessageId === reportedId) {
          model = afterReceipt(before, event.outcome, reportedId);
        } else if (!kept.some((each) => each.id === reportedId && each.outcome === event.outcome)) {
          kept.push({ id: reportedId, outcome: event.outcome });
        }
        break;
      }
      case 'cancel': {
        const canceled = await cancelMessage(db.database, 'app_test', plain ? 'sms' : 'verify', id, nowMs);
        const may = (before.status === 'queued' || before.status === 'scheduled') && !before.onTheWire;
        assert.equal(canceled !== undefined, may);
        if (may) model = { ...before, status: 'canceled', dueAtMs: null };
        break;
      }
      case 'time':
        clock.advance(event.ms);
        break;
      case 'rematch': {
        // Those that are looked for ever less often are due by now.
        await db.database.query('update unmatched_receipt set retry_at = received_at');
        await receipts.rematch();
        ({ model, kept } = afterRematch(before, kept));
        break;
      }
    }
    const found = await row(id);
    assert.deepEqual(modelOf(found), model, `after ${JSON.stringify(event)} on ${JSON.stringify(before)}`);
    const changed = found.status !== before.status;
    assert.equal(found.sequence, sequence + (changed ? 1 : 0), 'the sequence rises with every change, and only then');
    if (changed) assert.ok(mayBecome(before.status, model.status), `${before.status} became ${model.status}`);
    if (found.status !== 'queued') assert.equal(found.onTheWire, false);
    const waits = ['scheduled', 'queued', 'sent'].includes(found.status);
    assert.equal(found.dueAtMs !== null, waits, `${found.status} is due at ${found.dueAtMs}`);
    assert.equal(found.deliveredAtMs !== null, found.status === 'delivered');
    sequence = found.sequence;
  }
}

describe('whatever happens in whatever order', () => {
  for (const plain of [true, false]) {
    test(`a ${plain ? 'plain text' : 'verification\u2019s text'} never goes backwards`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anEvent, { minLength: 4, maxLength: 24, size: 'max' }),
          fc.boolean(),
          async (events, scheduled) => {
            await db.database.query('truncate unmatched_receipt');
            const dueAtMs = scheduled ? clock.nowMs() + leaseMs : clock.nowMs();
            const expiresAtMs = dueAtMs + 2 * 3_600_000;
            const [message] = await accept(1, {
              ...(!plain && { api: 'verify' as const, verificationId: 'ver_test', body: null }),
              status: scheduled ? 'scheduled' : 'queued',
              dueAtMs,
              expiresAtMs,
            });
            await play(message?.id ?? '', expiresAtMs, plain, events);
            await db.database.query('truncate message');
          },
        ),
        { numRuns: 60 },
      );
    });
  }

  test('many at once, each by its own events, do not disturb one another', async () => {
    const messages = await accept(40);
    const claimed = await claim();
    assert.equal(claimed.length, 40);
    await recordResults(
      db.database,
      messages.map(({ id }) => accepted(id, 1)),
      clock.nowMs(),
    );
    const outcomes: ReceiptOutcome[] = ['delivered', 'undelivered', 'expired', 'failed', 'unknown'];
    await receipts.apply(
      carrier,
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
