// Texts of high priority on their way: they travel in the first lane with the codes, and are plain texts otherwise.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Claim } from '../../src/delivery/attempts/queued-text.ts';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import { createDeliveryWorker } from '../../src/delivery/worker/worker.ts';
import type { Message } from '../../src/messages/message.ts';
import { listMessages } from '../../src/messages/message-list.ts';
import { cancelMessages } from '../../src/messages/message-store.ts';
import { newId } from '../../src/platform/ids.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createDeliverySteps, unanswered } from '../support/delivery-steps.ts';
import { createTestLog } from '../support/log.ts';
import {
  acceptMessages,
  createRecordingCarrier,
  emptyTables,
  nextCarrier,
  type RecordingCarrierOptions,
  readRow,
  testApplicationId,
  testVerificationId,
} from '../support/recording-carrier.ts';

let db: TestDatabase;
let clock: TestClock;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(async () => {
  clock = createTestClock();
  await emptyTables(db.database);
});

const high = { lane: 'first' } as const;
const ofVerification = { api: 'verify', verificationId: testVerificationId, body: null } as const;
const accept = (count: number, changes: Partial<Message> = {}) =>
  acceptMessages({ database: db.database, clock, carrier: 'test' }, count, changes);
async function acceptOne(changes: Partial<Message> = {}): Promise<string> {
  const [message] = await accept(1, changes);
  return (message ?? assert.fail('nothing was accepted')).id;
}
const row = (id: string) => readRow(db.database, id);
const idsOf = (claim: Claim | undefined) => claim?.texts.map(({ message }) => message.id);

describe('the first lane', () => {
  for (const [whose, applicationId] of [
    ['the same application', testApplicationId],
    ['another application', newId('app', { nowMs: () => 1, steadyMs: () => 0 })],
  ] as const) {
    test(`a text of high priority overtakes a thousand bulk texts of ${whose}`, async () => {
      const steps = createDeliverySteps(db.database, clock);
      await accept(1000, { applicationId });
      assert.equal((await steps.claim(10))?.texts.length, 10);
      const urgent = await acceptOne(high);
      assert.deepEqual(idsOf(await steps.claim(10)), [urgent]);
    });
  }

  test('it comes from the schedule to the first lane, and goes back to it when it is tried again', async () => {
    const steps = createDeliverySteps(db.database, clock);
    const urgent = await acceptOne({ ...high, status: 'scheduled', sendAtMs: clock.nowMs() + 1000 });
    await accept(1000);
    clock.advance(1000);
    const claim = await steps.takeNext(10);
    assert.deepEqual(idsOf(claim), [urgent]);
    await steps.record(claim ?? assert.fail('nothing was claimed'), () => ({ outcome: 'throttled' }));
    clock.advance(1000);
    assert.deepEqual(idsOf(await steps.takeNext(10)), [urgent]);
  });

  test('a thousand of them of one application delay the code of another by one claim', async () => {
    const steps = createDeliverySteps(db.database, clock);
    await accept(1000, high);
    assert.equal((await steps.claim(10))?.texts.length, 10);
    const applicationId = newId('app', { nowMs: () => clock.nowMs() + 1_000_000, steadyMs: () => 0 });
    const code = await acceptOne({ ...ofVerification, applicationId });
    const next = [await steps.claim(10), await steps.claim(10)].flatMap((claim) => idsOf(claim) ?? []);
    assert.ok(next.includes(code), 'the code waits');
  });
});

describe('a text of high priority is a plain text', () => {
  function createWorker(options: RecordingCarrierOptions = {}) {
    const carrier = createRecordingCarrier(options);
    const { database } = db;
    const worker = createDeliveryWorker({
      database,
      clock,
      log: createTestLog().log,
      carrier,
      receipts: createReceipts({ database, clock }),
      renderText: ({ body }) => body ?? 'the code',
      findPending: async (ids) => new Set(ids),
      nextCarrier: () => nextCarrier('second'),
      alone: true,
      atMostOnce: false,
      onCount: () => {},
    });
    return { carrier, worker };
  }

  test('the carrier of a text of high priority learns that it is no code', async () => {
    const { carrier, worker } = createWorker();
    await acceptOne(high);
    await worker.runUntilIdle();
    await acceptOne(ofVerification);
    await worker.runUntilIdle();
    await acceptOne();
    await worker.runUntilIdle();
    assert.deepEqual(
      carrier.submits.map(({ lane, isCode }) => [lane, isCode]),
      [
        ['first', false],
        ['first', true],
        ['bulk', false],
      ],
    );
  });

  test('in doubt it follows the carrier\u2019s rule, and never goes to another carrier', async () => {
    const { carrier, worker } = createWorker({ onDoubt: { resend: false, afterMs: 60_000 } });
    carrier.answer = (texts) => texts.map(() => ({ outcome: 'in_doubt' }));
    const urgent = await acceptOne(high);
    await worker.runUntilIdle();
    assert.equal((await row(urgent)).dueAtMs, clock.nowMs() + 60_000);
    clock.advance(60_000);
    await worker.runUntilIdle();
    assert.equal((await row(urgent)).status, 'unknown');
    assert.equal(carrier.submits.length, 1);
  });

  test('a cancel finds it in the queue', async () => {
    const id = await acceptOne(high);
    const key = { applicationId: testApplicationId, api: 'sms', id } as const;
    assert.equal((await cancelMessages(db.database, [key], clock.nowMs())).get(key.id)?.status, 'canceled');
    assert.equal((await row(id)).location, null);
  });

  test('a list by status finds it in the queue, beside bulk texts and without codes', async () => {
    const ids = [await acceptOne(), await acceptOne(high), await acceptOne(), await acceptOne(high)];
    await accept(5, ofVerification);
    const page = { limit: 10, after: undefined, nowMs: clock.nowMs() };
    const { rows } = await listMessages(db.database, testApplicationId, 'sms', { status: 'queued' }, page);
    assert.deepEqual(
      rows.map(({ id }) => id),
      ids.toReversed(),
    );
  });

  test('a receipt that comes before it is tried again finds it in the queue', async () => {
    const steps = createDeliverySteps(db.database, clock);
    const receipts = createReceipts({ database: db.database, clock });
    const id = await acceptOne(high);
    const claim = await steps.takeNext();
    await steps.record(claim ?? assert.fail('nothing was claimed'), unanswered);
    clock.advance(10_000);
    assert.equal(await steps.queueDue(), 1);
    assert.equal((await row(id)).location, 'queue');
    await receipts.apply({ key: 'test', account: 'test' }, [
      { carrierMessageId: '1', keys: ['1'], numbers: [], messageId: id, outcome: 'delivered', error: null },
    ]);
    const { status, location: place } = await row(id);
    assert.deepEqual([status, place], ['delivered', null]);
  });
});
