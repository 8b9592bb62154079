import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { SubmitResult } from '../../src/delivery/carrier/carrier.ts';
import { createClaims } from '../../src/delivery/queue/claim-store.ts';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import { createUnreported } from '../../src/delivery/receipts/unreported.ts';
import type { NextCarrier } from '../../src/delivery/routing/next-carrier.ts';
import {
  createDeliveryWorker,
  type DeliveryWorker,
  type DeliveryWorkerOptions,
} from '../../src/delivery/worker/worker.ts';
import type { Message } from '../../src/messages/message.ts';
import { lanes } from '../../src/messages/message-queue.ts';
import { statusCode } from '../../src/messages/message-row.ts';
import { hourMs } from '../../src/platform/clock.ts';
import type { Database, Statement } from '../../src/platform/database/database.ts';
import { unavailable } from '../../src/platform/errors.ts';
import { newId } from '../../src/platform/ids.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { accepted, createDeliverySteps, endLeases, unanswered } from '../support/delivery-steps.ts';
import { checkEvents, listen, watchStates } from '../support/event-witness.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import {
  acceptAll,
  acceptMessages,
  carrierIdOf,
  createRecordingCarrier,
  emptyTables,
  never,
  nextCarrier,
  type RecordingCarrier,
  type RecordingCarrierOptions,
  readQueue,
  readRow,
  testApplicationId,
  testVerificationId,
} from '../support/recording-carrier.ts';

let db: TestDatabase;
let clock: TestClock;
before(async () => {
  db = await createTestDatabase();
  await watchStates(db.database);
  await listen(db.database, [testApplicationId]);
});
after(() => checkEvents(db.database).finally(() => db.drop()));
beforeEach(async () => {
  clock = createTestClock();
  await emptyTables(db.database);
});

interface Delivering {
  worker: DeliveryWorker;
  carrier: RecordingCarrier;
  counts: Record<string, number>;
}

function createWorker(
  options: Partial<Omit<DeliveryWorkerOptions, 'carrier'>> & { carrier: RecordingCarrier },
): Delivering {
  const database = options.database ?? db.database;
  const counts: Record<string, number> = {};
  const worker = createDeliveryWorker({
    database,
    clock,
    log: createTestLog().log,
    receipts: createReceipts({ database, clock }),
    renderText: (message) => message.body ?? 'the code',
    findPending: async (ids) => new Set(ids),
    nextCarrier: () => undefined,
    alone: true,
    atMostOnce: false,
    onCount(name, by) {
      counts[name] = (counts[name] ?? 0) + by;
    },
    ...options,
  });
  return { worker, carrier: options.carrier, counts };
}

function withCarrier(
  options: RecordingCarrierOptions = {},
  more: Partial<Omit<DeliveryWorkerOptions, 'carrier'>> = {},
): Delivering {
  return createWorker({ carrier: createRecordingCarrier(options), ...more });
}

const accept = (count = 1, changes: Partial<Message> = {}, carrier = 'test') =>
  acceptMessages({ database: db.database, clock, carrier }, count, changes);
async function acceptOne(changes: Partial<Message> = {}): Promise<Message> {
  const [message] = await accept(1, changes);
  return message as Message;
}
const row = (id: string) => readRow(db.database, id);
const ofVerification = { api: 'verify', verificationId: testVerificationId, body: null } as const;
const idsOf = ({ submits }: RecordingCarrier) => submits.map(({ messageId }) => messageId);

/** Each as often as the other has it, in whatever order. */
function assertSame(actual: string[], expected: string[]): void {
  const sorted = (ids: string[]) => ids.toSorted((a, b) => (a < b ? -1 : 1));
  assert.deepEqual(sorted(actual), sorted(expected));
}
const isClaim = (statement: Statement | string) => typeof statement !== 'string' && /^claim-/.test(statement.name);
const isResult = (statement: unknown) => String(statement).startsWith('with open');
const isSchedulePoll = (statement: Statement | string) =>
  typeof statement !== 'string' && statement.name === 'next-due-of-carriers';
const always = (answer: SubmitResult) => (texts: unknown[]) => texts.map(() => answer);

describe('the hours of a route', () => {
  test('a text that is due outside them waits as it was, and leaves when they begin', async () => {
    const opensMs = clock.nowMs() + 2 * hourMs;
    const opensAtMs = () => (clock.nowMs() < opensMs ? opensMs : null);
    const { worker, carrier } = withCarrier({}, { opensAtMs });
    const { id } = await acceptOne({ sendAtMs: clock.nowMs() + hourMs, status: 'scheduled' });
    clock.advance(hourMs);
    await worker.runUntilIdle();
    const { status, location: place, attempt, dueAtMs } = await row(id);
    assert.deepEqual([status, place, attempt, dueAtMs], ['queued', 'schedule', 0, opensMs]);
    assert.deepEqual(idsOf(carrier), []);
    clock.advance(hourMs);
    await worker.runUntilIdle();
    assert.equal((await row(id)).status, 'sent');
  });

  test('a text that expires before they begin ends as expired', async () => {
    const { worker, carrier } = withCarrier({}, { opensAtMs: () => clock.nowMs() + 48 * hourMs });
    const { id, expiresAtMs } = await acceptOne();
    await worker.runUntilIdle();
    clock.advance(expiresAtMs - clock.nowMs());
    await worker.runUntilIdle();
    assert.equal((await row(id)).status, 'expired');
    assert.deepEqual(idsOf(carrier), []);
  });
});

describe('a carrier that answers', () => {
  test('accepted: sent, with the carrier\u2019s id, once', async () => {
    const { worker, carrier, counts } = withCarrier();
    const { id } = await acceptOne();
    await worker.runUntilIdle();
    await worker.runUntilIdle();
    assert.deepEqual(
      carrier.submits.map(({ messageId, attempt, text, to }) => ({ messageId, attempt, text, to })),
      [{ messageId: id, attempt: 1, text: 'Hello', to: '+447700900123' }],
    );
    const found = await row(id);
    assert.deepEqual(
      [found.status, found.carrierMessageId, found.sentAtMs, found.onTheWire, found.sequence],
      ['sent', carrierIdOf(id, 1), clock.nowMs(), false, 1],
    );
    assert.deepEqual(counts, { submitted: 1 });
  });

  test('never: failed, with its reason, and not tried again', async () => {
    const { worker, carrier, counts } = withCarrier();
    carrier.answer = always({ outcome: 'never', error: 'blocked_by_carrier' });
    const { id } = await acceptOne();
    await worker.runUntilIdle();
    clock.advance(100 * hourMs);
    await worker.runUntilIdle();
    const found = await row(id);
    assert.deepEqual([found.status, found.errorCode, found.dueAtMs], ['failed', 'blocked_by_carrier', null]);
    assert.deepEqual(counts, { submitted: 1, failed: 1 });
  });

  test('retry: waits that grow, with chance in them, never past the validity; then it expires unsent', async () => {
    const { worker, carrier, counts } = withCarrier();
    carrier.answer = always({ outcome: 'retry', error: 'unreachable' });
    const { id, expiresAtMs } = await acceptOne({ expiresAtMs: clock.nowMs() + 2 * hourMs });
    const waits: number[] = [];
    for (let tries = 0; clock.nowMs() < expiresAtMs; tries++) {
      await worker.runUntilIdle();
      const { status, dueAtMs, onTheWire, possibleDuplicates, sequence } = await row(id);
      assert.deepEqual([status, onTheWire, possibleDuplicates, sequence], ['queued', false, 0, 0]);
      const waitMs = (dueAtMs ?? 0) - clock.nowMs();
      const wholeMs = Math.min(300_000, 1000 * 2 ** tries);
      if (dueAtMs !== expiresAtMs) assert.ok(waitMs >= wholeMs / 2 && waitMs <= wholeMs, `${waitMs} of ${wholeMs}`);
      waits.push(waitMs);
      clock.advance(waitMs - 1);
      await worker.runUntilIdle();
      assert.equal(carrier.submits.length, tries + 1, 'tried too early');
      clock.advance(1);
    }
    assert.ok(new Set(waits).size > waits.length / 2, 'no chance in it');
    assert.ok(waits.length > 9 + 22 && waits.length < 9 + 45, `${waits.length} tries in two hours`);
    await worker.runUntilIdle();
    const found = await row(id);
    assert.deepEqual([found.status, found.errorCode, found.dueAtMs], ['expired', 'expired', null]);
    assert.equal(carrier.submits.length, waits.length);
    assert.equal(counts.expired, 1);
  });

  for (const afterMs of [10_000, 3_600_000]) {
    test(`retry after ${afterMs} ms is never sooner`, async () => {
      const { worker, carrier } = withCarrier();
      carrier.answer = always({ outcome: 'retry', error: 'carrier_unavailable', afterMs });
      const messages = await accept(50);
      await worker.runUntilIdle();
      for (const { dueAtMs } of await readQueue(db.database)) {
        const waitMs = (dueAtMs ?? 0) - clock.nowMs();
        assert.ok(waitMs >= afterMs && waitMs < afterMs + 1100, String(waitMs));
      }
      assert.equal(messages.length, carrier.submits.length);
    });
  }

  test('odd answers of a carrier harm no other text: endless waits, ids with NUL, half a character or 5,000 of them, unknown words', async () => {
    const { worker, carrier } = withCarrier();
    const messages = await accept(8);
    const odd: SubmitResult[] = [
      { outcome: 'accepted', carrierMessageId: 'a\0b' },
      {
        outcome: 'accepted',
        carrierMessageId: Array.from({ length: 5000 }, (_, i) => String.fromCharCode(33 + ((i * 7919) % 90))).join(''),
      },
      { outcome: 'retry', error: 'unreachable', afterMs: Number.NaN },
      { outcome: 'retry', error: 'unreachable', afterMs: Number.POSITIVE_INFINITY },
      { outcome: 'retry', error: 'unreachable', afterMs: -5 },
      { outcome: 'perhaps' } as unknown as SubmitResult,
      { outcome: 'accepted', carrierMessageId: 'half \ud83d' },
      { outcome: 'accepted', carrierMessageId: 'fine' },
    ];
    carrier.answer = () => odd;
    await worker.runUntilIdle();
    const order = carrier.submits.map(({ messageId }) => messageId);
    const rows = await Promise.all(order.map(row));
    assert.deepEqual(
      rows.map(({ status, onTheWire }) => [status, onTheWire]),
      [
        ['sent', false],
        ['sent', false],
        ['queued', false],
        ['queued', false],
        ['queued', false],
        ['queued', true],
        ['sent', false],
        ['sent', false],
      ],
    );
    assert.equal(rows[0]?.carrierMessageId, 'ab');
    assert.equal(rows[1]?.carrierMessageId?.length, 255);
    assert.equal(rows[3]?.dueAtMs, messages[0]?.expiresAtMs);
  });

  test('throttled: the carrier works, so neither the pauses grow nor do its submits shrink', async () => {
    const { worker, carrier } = withCarrier({ capacity: 10 });
    carrier.answer = always({ outcome: 'throttled' });
    await accept(20);
    for (let times = 1; times <= 8; times++) {
      await worker.runUntilIdle();
      for (const { status, dueAtMs, attempt, onTheWire } of await readQueue(db.database)) {
        assert.deepEqual([status, dueAtMs, attempt, onTheWire], ['queued', clock.nowMs() + 1000, times, false]);
      }
      clock.advance(1000);
    }
    carrier.answer = always({ outcome: 'throttled', afterMs: 7000 });
    await worker.runUntilIdle();
    for (const { dueAtMs } of await readQueue(db.database)) assert.equal(dueAtMs, clock.nowMs() + 7000);
    assert.deepEqual(new Set(carrier.batches), new Set([10]));
  });

  test('in doubt, for some texts of a batch: the others are sent, and only those go again', async () => {
    const { worker, carrier, counts } = withCarrier();
    carrier.answer = (texts) =>
      acceptAll(texts).map((answer, index): SubmitResult => (index % 3 === 0 ? { outcome: 'in_doubt' } : answer));
    await accept(9);
    await worker.runUntilIdle();
    const doubtful = carrier.submits.filter((_, index) => index % 3 === 0).map(({ messageId }) => messageId);
    for (const { id, status, onTheWire, unanswered, carrierMessageId } of await readQueue(db.database)) {
      assert.deepEqual(
        [status, onTheWire, unanswered, carrierMessageId],
        doubtful.includes(id) ? ['queued', true, 1, null] : ['sent', false, 0, carrierIdOf(id, 1)],
      );
    }
    carrier.answer = acceptAll;
    clock.advance(1000);
    await worker.runUntilIdle();
    assertSame(idsOf(carrier).slice(9), doubtful);
    for (const id of doubtful) {
      const { status, attempt, possibleDuplicates } = await row(id);
      assert.deepEqual([status, attempt, possibleDuplicates], ['sent', 2, 1]);
    }
    assert.deepEqual(counts, { submitted: 12, in_doubt: 3, possible_duplicates: 3 });
  });

  test('a text that is settled while it is in the queue is not submitted', async () => {
    const { worker, carrier, counts } = withCarrier();
    const messages = await accept(3);
    const [settled] = messages;
    await db.database.query('update message set status = $1 where id = (select min(id::text)::uuid from message)', [
      statusCode('unknown'),
    ]);
    // This change was the test's own, so it has no event.
    await db.database.query('delete from witness where place = (select max(place) from witness)');
    const before = await row(settled?.id ?? '');
    await worker.runUntilIdle();
    assertSame(
      idsOf(carrier),
      messages.slice(1).map(({ id }) => id),
    );
    assert.deepEqual(await row(settled?.id ?? ''), { ...before, location: null });
    assert.deepEqual(counts, { submitted: 2 });
  });

  test('a text that cannot be rendered waits by itself, and was not sent', async () => {
    const { worker, carrier } = withCarrier(
      {},
      {
        renderText(message) {
          if (message.body === 'broken') throw new Error('no such key');
          return message.body ?? '';
        },
      },
    );
    const broken = await acceptOne({ body: 'broken' });
    const whole = await accept(5);
    await worker.runUntilIdle();
    assertSame(
      idsOf(carrier),
      whole.map(({ id }) => id),
    );
    const found = await row(broken.id);
    assert.deepEqual([found.status, found.onTheWire, found.possibleDuplicates], ['queued', false, 0]);
    assert.ok((found.dueAtMs ?? 0) > clock.nowMs());
  });
});

describe('a carrier that does not answer', () => {
  const ways: Record<string, (carrier: RecordingCarrier) => void> = {
    'throws at once': (carrier) => {
      carrier.answer = () => {
        throw new Error('no connection');
      };
    },
    'fails later': (carrier) => {
      carrier.answer = () => Promise.reject(new Error('connection reset'));
    },
    'hangs past its timeout': (carrier) => {
      carrier.answer = never;
    },
    'answers for unknown texts': (carrier) => {
      carrier.answer = () => [];
    },
  };
  for (const [way, fail] of Object.entries(ways)) {
    test(`${way}: a plain text goes once more, marked, after a while; then it is unknown`, async () => {
      const { worker, carrier, counts } = withCarrier({ submitTimeoutMs: 50 });
      fail(carrier);
      const { id } = await acceptOne();
      await worker.runUntilIdle();
      const first = await row(id);
      assert.deepEqual(
        [first.status, first.attempt, first.onTheWire, first.unanswered, first.possibleDuplicates],
        ['queued', 1, true, 1, 0],
      );
      const waitMs = (first.dueAtMs ?? 0) - clock.nowMs();
      assert.ok(waitMs >= 500 && waitMs <= 1000, `again after ${waitMs} ms`);
      clock.advance(waitMs);
      await worker.runUntilIdle();
      const second = await row(id);
      assert.deepEqual(
        [second.status, second.attempt, second.unanswered, second.possibleDuplicates],
        ['queued', 2, 2, 1],
      );
      clock.advance(hourMs);
      await worker.runUntilIdle();
      const third = await row(id);
      assert.deepEqual([third.status, third.onTheWire, third.dueAtMs], ['unknown', false, null]);
      assert.equal(carrier.submits.length, 2);
      assert.deepEqual(counts, { submitted: 2, in_doubt: 2, possible_duplicates: 1, unknown: 1 });
    });
  }

  test('a verification\u2019s text goes again while it is valid, ever more slowly, and never after', async () => {
    const { worker, carrier } = withCarrier();
    carrier.answer = () => Promise.reject(new Error('connection reset'));
    const { id, expiresAtMs } = await acceptOne({ ...ofVerification, expiresAtMs: clock.nowMs() + 600_000 });
    while (clock.nowMs() < expiresAtMs) {
      await worker.runUntilIdle();
      clock.advance(((await row(id)).dueAtMs ?? 0) - clock.nowMs());
    }
    await worker.runUntilIdle();
    const found = await row(id);
    assert.equal(found.status, 'unknown');
    assert.ok(carrier.submits.length >= 9 && carrier.submits.length <= 12, `${carrier.submits.length} submits`);
    assert.equal(found.possibleDuplicates, carrier.submits.length - 1);
  });

  test('at_most_once: a plain text is never sent again, a verification\u2019s is', async () => {
    const { worker, carrier } = withCarrier({}, { atMostOnce: true });
    carrier.answer = () => Promise.reject(new Error('connection reset'));
    const plain = await acceptOne();
    const verification = await acceptOne(ofVerification);
    await worker.runUntilIdle();
    clock.advance(1000);
    await worker.runUntilIdle();
    assertSame(idsOf(carrier), [plain.id, verification.id, verification.id]);
    assert.equal((await row(plain.id)).status, 'unknown');
  });

  test('only those without an answer are in doubt', async () => {
    const { worker, carrier } = withCarrier();
    carrier.answer = (texts) => acceptAll(texts).slice(0, 3);
    await accept(5);
    await worker.runUntilIdle();
    const rows = await Promise.all(carrier.submits.map(({ messageId }) => row(messageId)));
    assert.deepEqual(
      rows.map(({ status }) => status),
      ['sent', 'sent', 'sent', 'queued', 'queued'],
    );
    assert.deepEqual(
      rows.map(({ onTheWire }) => onTheWire),
      [false, false, false, true, true],
    );
  });

  test('an answer that comes late settles what was not sent again', async () => {
    const { worker, carrier } = withCarrier({ submitTimeoutMs: 30 });
    let answerNow = () => {};
    carrier.answer = (texts) => new Promise((resolve) => (answerNow = () => resolve(acceptAll(texts))));
    const { id } = await acceptOne();
    await worker.runUntilIdle();
    assert.equal((await row(id)).onTheWire, true);
    answerNow();
    await eventually('the late answer is written', async () => (await row(id)).status === 'sent');
    clock.advance(60_000);
    await worker.runUntilIdle();
    assert.equal(carrier.submits.length, 1);
    assert.deepEqual([(await row(id)).carrierMessageId, (await row(id)).possibleDuplicates], [carrierIdOf(id, 1), 0]);
  });

  test('an answer that comes after the text was sent again changes nothing', async () => {
    const { worker, carrier } = withCarrier({ submitTimeoutMs: 30 });
    const answers: (() => void)[] = [];
    carrier.answer = (texts) => new Promise((resolve) => answers.push(() => resolve(acceptAll(texts))));
    const { id } = await acceptOne();
    await worker.runUntilIdle();
    clock.advance(1000);
    await worker.runUntilIdle();
    const before = await row(id);
    assert.deepEqual([before.attempt, before.onTheWire], [2, true]);
    answers[0]?.();
    // The other answer is written after the first one was read.
    answers[1]?.();
    await eventually('the second answer is written', async () => (await row(id)).status === 'sent');
    assert.equal((await row(id)).carrierMessageId, carrierIdOf(id, 2));
  });

  describe('a carrier that answers late that it did not take the text', () => {
    /** A text in doubt, and the answer that comes now. */
    async function inDoubt(
      changes: Partial<Message>,
      late: SubmitResult,
      more: Partial<Omit<DeliveryWorkerOptions, 'carrier'>> = {},
    ) {
      const delivering = withCarrier({ submitTimeoutMs: 30 }, more);
      const { worker, carrier } = delivering;
      let answerNow = () => {};
      carrier.answer = (texts) => new Promise((resolve) => (answerNow = () => resolve(texts.map(() => late))));
      const { id } = await acceptOne(changes);
      await worker.runUntilIdle();
      assert.deepEqual([(await row(id)).onTheWire, carrier.submits.length], [true, 1]);
      return { ...delivering, id, answerNow: () => answerNow() };
    }
    const isInNoDoubt = (id: string) => eventually('it is in no doubt', async () => !(await row(id)).onTheWire);

    for (const place of ['schedule', 'queue'] as const) {
      test(`throttled: the next claim sends it, and it is no copy; it is in the ${place}`, async () => {
        const { worker, carrier, id, answerNow } = await inDoubt({}, { outcome: 'throttled' });
        if (place === 'queue') {
          clock.advance(60_000);
          await createDeliverySteps(db.database, clock).queueDue();
        }
        assert.equal((await row(id)).location, place);
        answerNow();
        await isInNoDoubt(id);
        assert.equal(carrier.submits.length, 1);
        carrier.answer = acceptAll;
        clock.advance(60_000);
        await worker.runUntilIdle();
        const { status, attempt, possibleDuplicates } = await row(id);
        assert.deepEqual([status, attempt, possibleDuplicates], ['sent', 2, 0]);
      });
    }

    test('a late answer "not sent" leaves the text as it was', async () => {
      const { worker, carrier, id, answerNow } = await inDoubt({}, { outcome: 'not_sent' });
      answerNow();
      await isInNoDoubt(id);
      const { attempt, unanswered } = await row(id);
      assert.deepEqual([attempt, unanswered], [0, 0]);
      carrier.answer = acceptAll;
      await worker.runUntilIdle();
      assert.deepEqual([(await row(id)).attempt, (await row(id)).possibleDuplicates], [1, 0]);
    });

    test('refused: a code goes on to the next carrier, and not back to this one', async () => {
      let next: NextCarrier | undefined;
      let moved = 0;
      const refusal: SubmitResult = { outcome: 'retry', error: 'blocked_by_carrier', elsewhere: true };
      const { worker, carrier, counts, id, answerNow } = await inDoubt(ofVerification, refusal, {
        nextCarrier: () => next,
        onMoved: () => moved++,
      });
      next = nextCarrier('other');
      answerNow();
      await eventually('it has moved', () => moved === 1);
      clock.advance(60_000);
      await worker.runUntilIdle();
      assert.equal(carrier.submits.length, 1);
      const { rows } = await db.database.query(
        `select q.carrier, q.attempt, q.in_doubt as "inDoubt", q.moves, m.carrier as shown, a.outcome, a.moved_to as "movedTo"
         from delivery_queue q join message m on m.id = q.message_id join text_attempt a on a.message_id = m.id`,
      );
      assert.deepEqual(rows, [
        { carrier: 'other', attempt: 1, inDoubt: false, moves: 1, shown: 'other', outcome: 1, movedTo: 'other' },
      ]);
      assert.equal(counts.moved, 1);
      const { worker: second, carrier: other } = withCarrier({ name: 'other' });
      await second.runUntilIdle();
      assert.deepEqual([idsOf(other), (await row(id)).possibleDuplicates], [[id], 0]);
    });

    test('refused after the code has gone on: nothing changes', async () => {
      const refusal: SubmitResult = { outcome: 'retry', error: 'blocked_by_carrier', elsewhere: true };
      const { id, answerNow } = await inDoubt(ofVerification, refusal, { nextCarrier: () => nextCarrier('other') });
      const before = await row(id);
      answerNow();
      await eventually('the answer is kept', async () => {
        const { rows } = await db.database.query<{ outcome: number }>('select outcome from text_attempt');
        return rows[0]?.outcome === 1;
      });
      assert.deepEqual(await row(id), before);
    });
  });

  test('one that is away puts a few texts in doubt, not the queue, and gets it all when it is back', async () => {
    const { worker, carrier } = withCarrier({ capacity: 5, submitTimeoutMs: 30 });
    carrier.answer = never;
    await accept(200);
    await worker.start();
    await eventually('it was tried some times', () => carrier.batches.length >= 4);
    assert.deepEqual(
      carrier.batches.slice(2),
      carrier.batches.slice(2).map(() => 1),
    );
    assert.ok(carrier.submits.length <= 2 * 5 + 10, `${carrier.submits.length} texts were risked`);
    carrier.answer = acceptAll;
    await eventually('what is not in doubt has gone out', async () => {
      const rows = await readQueue(db.database);
      return rows.filter(({ status }) => status === 'sent').length >= 200 - carrier.batches.length - 10;
    });
    await worker.stop();
    assert.equal(Math.max(...carrier.batches), 5);
  });

  test('one that says it is unavailable is not walked through the whole queue', async () => {
    const { worker, carrier } = withCarrier({ capacity: 5 });
    carrier.answer = always({ outcome: 'retry', error: 'carrier_unavailable' });
    await accept(200);
    await worker.start();
    await eventually('it was tried some times', () => carrier.batches.length >= 4);
    assert.ok(carrier.submits.length <= 2 * 5 + 10, `${carrier.submits.length} texts were risked`);
    await worker.stop();
  });
});

describe('leases', () => {
  /** A worker that dies in the middle of its submit: neither an answer nor the lack of one is ever written. */
  async function submitAndDie(): Promise<void> {
    const carrier = createRecordingCarrier({ submitTimeoutMs: 1000 });
    carrier.answer = never;
    let query = db.database.query;
    const database: Database = { ...db.database, query: (statement, values) => query(statement, values) };
    const { worker } = createWorker({ carrier, database, alone: false });
    void worker.runUntilIdle().catch(() => {});
    await eventually('it is on the wire', () => carrier.submits.length === 1);
    query = () => Promise.reject(new Error('dead'));
  }

  test('what a worker that is gone held goes out again when its lease is over, marked, and not before', async () => {
    const { id } = await acceptOne();
    await submitAndDie();
    const { worker, carrier, counts } = withCarrier({ submitTimeoutMs: 1000 }, { alone: false });
    await worker.runUntilIdle();
    assert.equal(carrier.submits.length, 0);
    await endLeases(db.database);
    await worker.runUntilIdle();
    assert.deepEqual(
      carrier.submits.map(({ messageId, attempt }) => [messageId, attempt]),
      [[id, 2]],
    );
    assert.deepEqual(counts, { submitted: 1, possible_duplicates: 1 });
    const found = await row(id);
    assert.deepEqual([found.status, found.possibleDuplicates], ['sent', 1]);
  });

  test('a worker that was frozen past its lease changes nothing when it thaws', async () => {
    const carrier = createRecordingCarrier({ submitTimeoutMs: 30_000 });
    let thaw = () => {};
    carrier.answer = (texts) => new Promise((resolve) => (thaw = () => resolve(acceptAll(texts))));
    const { id } = await acceptOne();
    const frozen = createWorker({ carrier, alone: false });
    const working = frozen.worker.runUntilIdle();
    await eventually('it is on the wire', () => carrier.submits.length === 1);
    await endLeases(db.database);
    const other = withCarrier({}, { alone: false });
    await other.worker.runUntilIdle();
    const before = await row(id);
    assert.deepEqual([before.status, before.attempt], ['sent', 2]);
    thaw();
    await working;
    assert.deepEqual(await row(id), before);
  });

  test('a result for a claim that was released changes nothing', async () => {
    const steps = createDeliverySteps(db.database, clock);
    const messages = await accept(3);
    const claim = await steps.claim();
    assert.equal(claim?.texts.length, 3);
    await endLeases(db.database);
    assert.equal(await steps.release(), 3);
    const before = await readQueue(db.database);
    assert.deepEqual(
      before.map(({ id, status, location: place, onTheWire, attempt }) => [id, status, place, onTheWire, attempt]),
      messages.map(({ id }) => [id, 'queued', 'schedule', true, 1]),
    );
    if (claim !== undefined) await steps.record(claim, accepted);
    assert.deepEqual(await readQueue(db.database), before);
  });

  test('the only node there is does not wait for the leases of its own past', async () => {
    const carrier = createRecordingCarrier({ submitTimeoutMs: 30 });
    const { id } = await acceptOne();
    await createDeliverySteps(db.database, clock).claim();
    assert.equal((await row(id)).location, 'claim');
    const { worker } = createWorker({ carrier });
    await worker.start();
    await eventually('it goes out again', async () => (await row(id)).status === 'sent');
    await worker.stop();
    assert.deepEqual([(await row(id)).attempt, (await row(id)).possibleDuplicates], [2, 1]);
  });

  test('a text that had expired before a dead worker claimed it was not sent: it expires, and is in no doubt', async () => {
    const { id } = await acceptOne({ expiresAtMs: clock.nowMs() + 1000 });
    clock.advance(1000);
    const claim = createClaims(db.database);
    assert.ok(
      await claim({ carrier: 'test', nowMs: clock.nowMs(), leaseMs: 1000, limits: { first: 10, bulk: 10 } }),
      'nothing was claimed',
    );
    await endLeases(db.database);
    const { worker, carrier } = withCarrier({}, { alone: false });
    await worker.runUntilIdle();
    const { status, errorCode, attempt } = await row(id);
    assert.deepEqual([status, errorCode, attempt, carrier.submits.length], ['expired', 'expired', 0, 0]);
  });

  test('a text is not given up for a crash or two, but after five: it may be what kills the worker', async () => {
    const { id } = await acceptOne();
    for (let submits = 1; submits <= 6; submits++) {
      await submitAndDie();
      assert.deepEqual([(await row(id)).attempt, (await row(id)).possibleDuplicates], [submits, submits - 1]);
      await endLeases(db.database);
    }
    const { worker, carrier } = withCarrier();
    await worker.runUntilIdle();
    assert.equal((await row(id)).status, 'unknown');
    assert.equal(carrier.submits.length, 0);
  });

  test('a claim that took longer than its submit may wait is handed back unsent, and is in no doubt', async () => {
    let slowMs = 1000;
    let claims = 0;
    const database: Database = {
      ...db.database,
      async query(statement, values) {
        const rows = await db.database.query<never>(statement, values);
        if (!isClaim(statement)) return rows;
        clock.advance(slowMs);
        if (rows.count > 0) claims++;
        return rows;
      },
    };
    const { worker, carrier } = withCarrier({ submitTimeoutMs: 1000 }, { database });
    const messages = await accept(3);
    const working = worker.runUntilIdle();
    await eventually('it is handed back', () => claims >= 2);
    assert.equal(carrier.submits.length, 0);
    slowMs = 0;
    await working;
    assert.equal(carrier.submits.length, messages.length);
    for (const { possibleDuplicates, status, attempt } of await readQueue(db.database)) {
      assert.deepEqual([possibleDuplicates, status, attempt], [0, 'sent', 1]);
    }
  });

  test('two workers on one database never submit the same attempt', async () => {
    const pools = [db.database, db.another()];
    const workers = pools.map((database) => withCarrier({ capacity: 7 }, { database, alone: false }));
    const messages = await accept(500);
    await Promise.all(workers.flatMap(({ worker }) => [worker.runUntilIdle(), worker.runUntilIdle()]));
    assertSame(
      workers.flatMap(({ carrier }) => idsOf(carrier)),
      messages.map(({ id }) => id),
    );
    for (const { carrier } of workers) assert.ok(carrier.submits.length > 0);
    for (const { status, attempt } of await readQueue(db.database)) assert.deepEqual([status, attempt], ['sent', 1]);
  });
});

describe('time', () => {
  test('a text is not sent before its time, and counts as queued from then on', async () => {
    const { worker, carrier } = withCarrier();
    const sendAtMs = clock.nowMs() + hourMs;
    const { id } = await acceptOne({ status: 'scheduled', sendAtMs, expiresAtMs: sendAtMs + 60_000 });
    clock.advance(hourMs - 1);
    await worker.runUntilIdle();
    assert.deepEqual([carrier.submits.length, (await row(id)).status], [0, 'scheduled']);
    clock.advance(1);
    carrier.answer = always({ outcome: 'retry', error: 'unreachable' });
    await worker.runUntilIdle();
    const found = await row(id);
    assert.deepEqual([carrier.submits.length, found.status, found.sequence], [1, 'queued', 0]);
  });

  test('an expired text is never submitted, be it queued, scheduled or in doubt', async () => {
    const { worker, carrier, counts } = withCarrier();
    const expiresAtMs = clock.nowMs() + 60_000;
    const inDoubt = await acceptOne({ expiresAtMs });
    const steps = createDeliverySteps(db.database, clock);
    const claim = await steps.claim();
    if (claim !== undefined) await steps.record(claim, unanswered);
    assert.equal((await row(inDoubt.id)).onTheWire, true);
    const queued = await acceptOne({ expiresAtMs });
    const scheduled = await acceptOne({ status: 'scheduled', sendAtMs: clock.nowMs() + 30_000, expiresAtMs });
    clock.advance(60_000);
    await worker.runUntilIdle();
    assert.equal(carrier.submits.length, 0);
    const statuses = await Promise.all([queued, scheduled, inDoubt].map(async ({ id }) => (await row(id)).status));
    assert.deepEqual(statuses, ['expired', 'expired', 'unknown']);
    assert.deepEqual(counts, { expired: 2, unknown: 1 });
  });

  test('no receipt in 72 h: unknown; and a receipt that comes after all is still believed', async () => {
    const { worker, carrier } = withCarrier();
    const { id } = await acceptOne();
    const delivered = await acceptOne();
    await worker.start();
    await eventually('both are sent', async () =>
      (await readQueue(db.database)).every(({ status }) => status === 'sent'),
    );
    await carrier.report([{ carrierMessageId: carrierIdOf(delivered.id, 1), outcome: 'delivered' }]);
    clock.advance(72 * hourMs - 1);
    await endUnreported();
    assert.equal((await row(id)).status, 'sent');
    clock.advance(2);
    await endUnreported();
    const ended = await row(id);
    assert.deepEqual([ended.status, ended.sequence, ended.updatedAtMs], ['unknown', 2, clock.nowMs()]);
    assert.equal((await row(delivered.id)).status, 'delivered');
    assert.equal(carrier.submits.length, 2);
    await carrier.report([{ carrierMessageId: carrierIdOf(id, 1), outcome: 'delivered' }]);
    await worker.stop();
    assert.deepEqual([(await row(id)).status, (await row(id)).deliveredAtMs], ['delivered', clock.nowMs()]);
  });

  test('the 72 h begin when a text is sent: also for one scheduled ahead, or one that was tried for long', async () => {
    const { worker, carrier } = withCarrier();
    const sendAtMs = clock.nowMs() + 7 * 24 * hourMs;
    const scheduled = await acceptOne({ status: 'scheduled', sendAtMs, expiresAtMs: sendAtMs + hourMs });
    const retried = await acceptOne();
    carrier.answer = always({ outcome: 'retry', error: 'unreachable', afterMs: hourMs / 2 });
    await worker.runUntilIdle();
    carrier.answer = acceptAll;
    clock.advance((await dueAtMsOf(retried)) - clock.nowMs());
    await worker.runUntilIdle();
    assert.equal((await row(retried.id)).sentAtMs, clock.nowMs());
    await assertEndsAfter72h(retried.id);
    clock.set(sendAtMs);
    await endUnreported();
    assert.equal((await row(scheduled.id)).status, 'scheduled');
    await worker.runUntilIdle();
    assert.equal((await row(scheduled.id)).sentAtMs, sendAtMs);
    await assertEndsAfter72h(scheduled.id);
  });

  test('the carrier\u2019s own ids are kept for twice that time', async () => {
    const { worker } = withCarrier();
    const other = createWorker({ carrier: createRecordingCarrier({ name: 'other', repeatsMessageId: true }) });
    await accept(3);
    await accept(3, {}, 'other');
    await worker.runUntilIdle();
    await other.worker.runUntilIdle();
    const kept = async () => (await db.database.query('select from sent_text')).count;
    const { deleteCarrierIds } = createUnreported(db.database, clock);
    assert.equal(await kept(), 3, 'a carrier that repeats our ids needs none');
    clock.advance(144 * hourMs);
    assert.deepEqual([await deleteCarrierIds(), await kept()], [0, 3]);
    clock.advance(1);
    assert.deepEqual([await deleteCarrierIds(), await kept()], [3, 0]);
  });

  const dueAtMsOf = async ({ id }: Message) => (await row(id)).dueAtMs ?? 0;

  /** As maintenance does: every minute, until there is nothing to do. */
  async function endUnreported(): Promise<void> {
    const { endSome } = createUnreported(db.database, clock);
    while ((await endSome()) > 0);
  }

  /** Checks it every half hour; it was sent just now. */
  async function assertEndsAfter72h(id: string): Promise<void> {
    for (let halves = 1; halves < 2 * 72; halves++) {
      clock.advance(hourMs / 2);
      await endUnreported();
      assert.equal((await row(id)).status, 'sent', `after ${halves / 2} hours`);
    }
    clock.advance(hourMs / 2);
    await endUnreported();
    assert.equal((await row(id)).status, 'unknown');
  }
});

describe('turns', () => {
  const otherApplication = (olderByMs: number) =>
    newId('app', { nowMs: () => clock.nowMs() - olderByMs, steadyMs: () => 0 });

  for (const limit of [1, 5, 100]) {
    for (const [which, olderByMs] of [
      ['older', 1_000_000],
      ['newer', -1_000_000],
    ] as const) {
      test(`5,000 texts of one application delay the text of an ${which} one by one claim, at ${limit} a claim`, async () => {
        const steps = createDeliverySteps(db.database, clock);
        await accept(5000);
        for (let claims = 0; claims < 3; claims++) assert.equal((await steps.claim(limit))?.texts.length, limit);
        const single = await acceptOne({ applicationId: otherApplication(olderByMs) });
        const next = [await steps.claim(limit), await steps.claim(limit)];
        const ids = next.flatMap((claim) => claim?.texts.map(({ message }) => message.id) ?? []);
        assert.ok(ids.includes(single.id), 'it waits');
      });
    }
  }

  for (const [limit, claims] of [
    [10, 10],
    [33, 4],
    [100, 4],
  ] as const) {
    test(`a hundred applications, ${limit} texts a claim: each has had its turn after ${claims} claims`, async () => {
      for (const lane of [{}, ofVerification]) {
        await emptyTables(db.database);
        const steps = createDeliverySteps(db.database, clock);
        for (let place = 0; place < 100; place++) {
          await accept(10, { ...lane, applicationId: otherApplication(place * 1000) });
        }
        const served = new Set<string>();
        for (let turn = 0; turn < claims; turn++) {
          const claim = await steps.claim(limit);
          for (const { message } of claim?.texts ?? []) served.add(message.applicationId);
        }
        assert.equal(served.size, 100);
      }
    });
  }

  test('verifications go first, and every fifth claim is left to the others', async () => {
    const steps = createDeliverySteps(db.database, clock);
    await accept(50);
    await accept(50, ofVerification);
    const taken: number[][] = [];
    for (let claims = 0; claims < 15; claims++) {
      const claim = await steps.claim(3);
      taken.push([...new Set(claim?.texts.map(({ entry }) => entry.lane))]);
    }
    const { first, bulk } = lanes;
    const five = [[first], [first], [first], [first], [bulk]];
    assert.deepEqual(taken, [...five, ...five, ...five]);
  });

  test('the lane that has texts gets the claims that the other does not need', async () => {
    const { worker, carrier } = withCarrier({ capacity: 1 });
    await accept(7);
    await worker.runUntilIdle();
    await accept(7, ofVerification);
    await worker.runUntilIdle();
    assert.deepEqual(
      carrier.submits.map(({ lane }) => lane),
      [...Array.from({ length: 7 }, () => 'bulk'), ...Array.from({ length: 7 }, () => 'first')],
    );
  });

  test('a carrier never holds more texts than it said it had room for, although two batches are under way', async () => {
    const { worker, carrier } = withCarrier();
    carrier.capacity = () => {
      const free = 10 - carrier.outstanding();
      return { first: free, bulk: free };
    };
    let most = 0;
    carrier.answer = async (texts) => {
      most = Math.max(most, carrier.outstanding());
      await new Promise(setImmediate);
      return acceptAll(texts);
    };
    const messages = await accept(200);
    worker.start();
    await eventually('all are sent', () => carrier.submits.length >= messages.length);
    await worker.stop();
    assertSame(
      idsOf(carrier),
      messages.map(({ id }) => id),
    );
    assert.ok(most > 0 && most <= 10, `${most} at once`);
  });

  test('a carrier without room gets nothing and nothing is claimed; it is served as soon as it says that it has room', async () => {
    let claims = 0;
    const database: Database = {
      ...db.database,
      query(statement, values) {
        if (isClaim(statement)) claims++;
        return db.database.query(statement, values);
      },
    };
    const { worker, carrier } = withCarrier({ capacity: 0 }, { database });
    let polls = 0;
    const { capacity } = carrier;
    carrier.capacity = () => {
      polls++;
      return capacity();
    };
    const { id } = await acceptOne();
    await worker.start();
    worker.wake();
    // Without room there is nothing to wait for but a wake: both loops sleep after each poll.
    await eventually('it has polled', () => polls >= 2);
    assert.deepEqual([claims, (await row(id)).location], [0, 'queue']);
    const before = polls;
    carrier.makeRoom(1);
    await eventually('it was woken', () => polls > before);
    await eventually('it is sent', async () => (await row(id)).status === 'sent');
    await worker.stop();
    assert.equal(carrier.submits.length, 1);
  });
});

describe('loops', () => {
  test('a carrier that hangs holds up no other', async () => {
    const hanging = withCarrier({ name: 'hanging', submitTimeoutMs: 30_000 });
    const quick = withCarrier({ name: 'quick' });
    const answers: (() => void)[] = [];
    hanging.carrier.answer = (texts) => new Promise((resolve) => answers.push(() => resolve(acceptAll(texts))));
    const hung = await accept(300, {}, 'hanging');
    await hanging.worker.start();
    await quick.worker.start();
    await eventually('it hangs', () => hanging.carrier.outstanding() === 200);
    await accept(300, {}, 'quick');
    quick.worker.wake();
    // Long before the 30 s are over that the other one may hang.
    await eventually('the other has everything', () => quick.carrier.submits.length === 300);
    // Memory is bounded: two batches, and no more, however many wait.
    assert.equal(hanging.carrier.submits.length, 200);
    const held = await readQueue(
      db.database,
      hung.map(({ id }) => id),
    );
    assert.equal(held.filter(({ onTheWire }) => onTheWire).length, 200);
    const stopped = [quick.worker.stop(), hanging.worker.stop()];
    for (const answer of answers) answer();
    await Promise.all(stopped);
  });

  test('it sleeps until it is woken, and stops only when its submit is written down', async () => {
    const { worker, carrier } = withCarrier();
    let answerNow = () => {};
    carrier.answer = (texts) => new Promise((resolve) => (answerNow = () => resolve(acceptAll(texts))));
    await worker.start();
    const { id } = await acceptOne();
    worker.wake();
    await eventually('it is on the wire', () => carrier.submits.length === 1);
    let ended = false;
    const stopping = worker.stop().then(() => {
      ended = true;
    });
    await accept(3);
    worker.wake();
    assert.equal(ended, false);
    answerNow();
    await stopping;
    assert.equal((await row(id)).status, 'sent');
    assert.equal(carrier.submits.length, 1, 'it went on after it was stopped');
  });

  test('results the database did not take are written when it is back: nothing is sent twice', async () => {
    let tries = 0;
    let polls = 0;
    const database: Database = {
      ...db.database,
      query(statement, values) {
        if (isSchedulePoll(statement) && tries > 0) polls++;
        // Meanwhile the lease runs out, and the worker polls for claims of dead workers more than once.
        if (!isResult(statement) || polls >= 3) return db.database.query(statement, values);
        tries++;
        clock.advance(5000);
        return Promise.reject(unavailable('away'));
      },
    };
    const { worker, carrier } = withCarrier({ capacity: 5, submitTimeoutMs: 1000 }, { database });
    const messages = await accept(5);
    await worker.start();
    await eventually('all are sent', async () =>
      (await readQueue(db.database)).every(({ status }) => status === 'sent'),
    );
    await worker.stop();
    assert.equal(carrier.submits.length, messages.length);
    assert.ok(tries > 1, 'it was away');
  });

  test('a worker stops while the database is away', async () => {
    const database: Database = {
      ...db.database,
      query(statement, values) {
        if (isResult(statement)) return Promise.reject(unavailable('away'));
        return db.database.query(statement, values);
      },
    };
    const { worker, carrier } = withCarrier({}, { database });
    const { id } = await acceptOne();
    await worker.start();
    await eventually('it is on the wire', () => carrier.submits.length === 1);
    await worker.stop();
    assert.equal((await row(id)).onTheWire, true);
  });
});
