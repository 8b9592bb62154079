import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { expireWaiting, fillInExpiry } from '../../src/delivery/queue/expiry-store.ts';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import type { Message } from '../../src/messages/message.ts';
import { cancelMessages } from '../../src/messages/message-store.ts';
import { minuteMs } from '../../src/platform/clock.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { accepted, createDeliverySteps, endLeases, tryLater, unanswered } from '../support/delivery-steps.ts';
import { checkEvents, listen, watchStates } from '../support/event-witness.ts';
import {
  acceptMessages,
  carrierIdOf,
  emptyTables,
  nextCarrier,
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

const accept = (count: number, changes: Partial<Message> = {}) =>
  acceptMessages({ database: db.database, clock }, count, changes);

async function acceptOne(changes: Partial<Message> = {}): Promise<string> {
  const [message] = await accept(1, { expiresAtMs: clock.nowMs() + minuteMs, ...changes });
  return message?.id ?? '';
}

const ended: Record<string, number> = {};
function expire(limit = 1000): Promise<number> {
  return expireWaiting(db.database, {
    nowMs: clock.nowMs(),
    limit,
    onEnded: (status, by) => {
      ended[status] = (ended[status] ?? 0) + by;
    },
  });
}

async function endOf(id: string) {
  const { status, errorCode, location: place } = await readRow(db.database, id);
  return [status, errorCode, place];
}

describe('texts expire without a carrier', () => {
  test('in the queue: at their time, with their event, and not before', async () => {
    const id = await acceptOne();
    const valid = await acceptOne({ expiresAtMs: clock.nowMs() + 2 * minuteMs });
    clock.advance(minuteMs - 1);
    assert.equal(await expire(), 0);
    clock.advance(1);
    assert.equal(await expire(), 1);
    assert.deepEqual(await endOf(id), ['expired', 'expired', null]);
    assert.deepEqual(await endOf(valid), ['queued', null, 'queue']);
  });

  test('in the schedule: a text that is tried again, and one whose time to leave never came', async () => {
    const tried = await acceptOne();
    const steps = createDeliverySteps(db.database, clock);
    const claim = await steps.claim();
    if (claim !== undefined) await steps.record(claim, tryLater);
    const expiresAtMs = clock.nowMs() + minuteMs;
    const later = await acceptOne({ status: 'scheduled', sendAtMs: clock.nowMs() + 30_000, expiresAtMs });
    assert.equal((await readRow(db.database, tried)).location, 'schedule');
    clock.advance(minuteMs);
    assert.equal(await expire(), 2);
    for (const id of [tried, later]) assert.deepEqual(await endOf(id), ['expired', 'expired', null]);
  });

  test('one that may have been sent is unknown, not expired', async () => {
    const id = await acceptOne();
    const steps = createDeliverySteps(db.database, clock);
    const claim = await steps.claim();
    if (claim !== undefined) await steps.record(claim, unanswered);
    clock.advance(minuteMs);
    assert.equal(await expire(), 1);
    assert.deepEqual(await endOf(id), ['unknown', null, null]);
    assert.deepEqual([ended.expired, ended.unknown], [3, 1]);
  });

  test('a code that one carrier has sent in vain, and that waits for the next one, ends as the first one reported', async () => {
    const id = await acceptOne({ api: 'verify', verificationId: testVerificationId, body: null, lane: 'first' });
    await db.database.query(
      `update message set expires_at = expires_at + interval '2 minutes' where sender is not null`,
    );
    await db.database.query(`update delivery_queue set expires_at = expires_at + interval '2 minutes'`);
    const steps = createDeliverySteps(db.database, clock);
    const claim = await steps.claim();
    if (claim !== undefined) await steps.record(claim, accepted);
    const receipts = createReceipts({
      database: db.database,
      clock,
      resend: {
        findPending: async (_, ids) => new Set(ids),
        nextCarrier: () => nextCarrier('other'),
        onMoved: () => {},
      },
    });
    const carrierMessageId = carrierIdOf(id, 1);
    await receipts.apply({ key: 'test', account: 'test' }, [
      {
        carrierMessageId,
        keys: [carrierMessageId],
        numbers: [],
        messageId: null,
        outcome: 'undelivered',
        error: 'blocked_by_carrier',
      },
    ]);
    assert.deepEqual(await endOf(id), ['sent', null, 'queue']);
    clock.advance(3 * minuteMs);
    assert.equal(await expire(), 1);
    assert.deepEqual(await endOf(id), ['undelivered', 'blocked_by_carrier', null]);
  });

  test('a text that a worker holds is left to it; after the release of its claim it ends', async () => {
    const id = await acceptOne();
    const steps = createDeliverySteps(db.database, clock);
    await steps.claim();
    clock.advance(minuteMs);
    assert.equal(await expire(), 0);
    await endLeases(db.database);
    await steps.release();
    assert.equal(await expire(), 1);
    assert.deepEqual(await endOf(id), ['unknown', null, null]);
  });

  test('in pieces of the size that is asked for, until none is left', async () => {
    await accept(25, { expiresAtMs: clock.nowMs() + minuteMs });
    clock.advance(minuteMs);
    assert.deepEqual([await expire(10), await expire(10), await expire(10), await expire(10)], [10, 10, 5, 0]);
    for (const { status } of await readQueue(db.database)) assert.equal(status, 'expired');
  });

  test('claims, cancels and two nodes that expire: each text has one end', async () => {
    for (let round = 0; round < 10; round++) {
      const messages = await accept(40, { expiresAtMs: clock.nowMs() + minuteMs });
      clock.advance(minuteMs);
      const steps = createDeliverySteps(db.database, clock);
      const cancels = messages
        .slice(0, 10)
        .map(({ id, applicationId, api }) => cancelMessages(db.database, [{ id, applicationId, api }], clock.nowMs()));
      const [, , , canceled] = await Promise.all([expire(15), expire(15), steps.claim(20), Promise.all(cancels)]);
      await expire();
      const rows = await readQueue(
        db.database,
        messages.map(({ id }) => id),
      );
      assert.equal(
        rows.filter(({ status }) => status === 'canceled').length,
        canceled.filter(({ size }) => size > 0).length,
      );
      for (const { status, location: place } of rows) {
        assert.ok(status === 'canceled' || status === 'expired', status);
        assert.equal(place, null);
      }
    }
  });
});

describe('entries of an earlier version', () => {
  test('get their expiry, some at a time, and then expire like all others', async () => {
    const messages = await accept(5, { expiresAtMs: clock.nowMs() + minuteMs });
    const scheduled = { status: 'scheduled', sendAtMs: clock.nowMs(), expiresAtMs: clock.nowMs() + minuteMs } as const;
    await accept(2, scheduled);
    await db.database.query('update delivery_queue set expires_at = null');
    await db.database.query('update delivery_schedule set expires_at = null');
    clock.advance(minuteMs);
    assert.equal(await expire(), 0);
    assert.deepEqual([await fillInExpiry(db.database, 4), await fillInExpiry(db.database, 4)], [6, 1]);
    assert.equal(await fillInExpiry(db.database, 4), 0);
    assert.equal(await expire(), 7);
    assert.deepEqual(await endOf(messages[0]?.id ?? ''), ['expired', 'expired', null]);
  });

  test('one whose message is gone leaves the queue', async () => {
    await db.database.query(
      `insert into delivery_queue (carrier, lane, application_id, message_id)
       select 'test', 1, gen_random_uuid(), gen_random_uuid()`,
    );
    assert.equal(await fillInExpiry(db.database, 10), 1);
    assert.equal(await expire(), 1);
    assert.equal(await expire(), 0);
  });
});
