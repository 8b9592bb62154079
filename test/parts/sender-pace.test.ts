// Senders with a limit of their own: all nodes and carriers together keep it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createSenderPace, type SenderRate } from '../../src/delivery/carrier/sender-pace.ts';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import { createDeliveryWorker } from '../../src/delivery/worker/worker.ts';
import type { Message } from '../../src/messages/message.ts';
import { newId } from '../../src/platform/ids.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestLog } from '../support/log.ts';
import {
  acceptMessages,
  testApplicationId as applicationId,
  createRecordingCarrier,
  emptyTables,
  readRow,
  testVerificationId,
} from '../support/recording-carrier.ts';

let db: TestDatabase;
let clock: TestClock;
let rates: SenderRate[];
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(async () => {
  clock = createTestClock();
  rates = [{ applicationId, sender: 'ACME', perSecond: 5 }];
  await emptyTables(db.database);
  await db.database.query('truncate sender_pace');
});

const accept = (count: number, changes: Partial<Message> = {}, carrier = 'test') =>
  acceptMessages({ database: db.database, clock, carrier }, count, changes);
const code = { api: 'verify', verificationId: testVerificationId, body: null, lane: 'first' } as const;

/** A node with one carrier. */
async function createNode(name = 'test') {
  const { log } = createTestLog();
  const carrier = createRecordingCarrier({ name, repeatsMessageId: true });
  const pace = createSenderPace({ database: db.database, clock, log, readRates: async () => rates });
  await pace.refresh();
  const worker = createDeliveryWorker({
    ...{ database: db.database, clock, log, carrier: pace.pace(carrier), renderText: () => 'x' },
    receipts: createReceipts({ database: db.database, clock, onCount: () => {}, keysOf: () => [] }),
    findPending: async (ids) => new Set(ids),
    nextCarrier: () => undefined,
    ...{ alone: false, atMostOnce: false, onCount: () => {} },
  });
  return { carrier, pace, run: () => worker.runUntilIdle() };
}

test('the rate is never exceeded until all texts have left; a text that is held back counts no try', async () => {
  const node = await createNode();
  const messages = await accept(23);
  const sent: number[] = [];
  for (let second = 0; second < 5; second++) {
    await node.run();
    sent.push(node.carrier.submits.length);
    clock.advance(1000);
  }
  assert.deepEqual(sent, [5, 10, 15, 20, 23]);
  assert.ok(
    node.carrier.submits.every(({ attempt }) => attempt === 1),
    'each was tried once',
  );
  for (const { id } of messages) assert.equal((await readRow(db.database, id)).status, 'sent');
});

test('two nodes and two carriers keep one limit', async () => {
  const nodes = [await createNode(), await createNode(), await createNode('other')];
  await accept(40);
  await accept(20, {}, 'other');
  const count = () => nodes.reduce((sum, { carrier }) => sum + carrier.submits.length, 0);
  for (let second = 1; second <= 6; second++) {
    await Promise.all(nodes.map(({ run }) => run()));
    assert.ok(count() <= 5 * second, `${count()} after ${second} s`);
    clock.advance(1000);
  }
  for (let second = 0; second < 200 && count() < 60; second++) {
    await Promise.all(nodes.map(({ run }) => run()));
    clock.advance(1000);
  }
  assert.equal(count(), 60, 'all have left');
  const ids = nodes.flatMap(({ carrier }) => carrier.submits.map(({ messageId }) => messageId));
  assert.equal(new Set(ids).size, 60, 'each once');
});

test('other senders, and the same sender of another application, do not wait', async () => {
  const node = await createNode();
  await accept(20, { sender: 'OTHER' });
  await accept(20, { applicationId: newId('app', clock) });
  await accept(20);
  await node.run();
  const own = node.carrier.submits.filter((text) => text.applicationId === applicationId && text.from === 'ACME');
  assert.deepEqual([node.carrier.submits.length, own.length], [45, 5]);
});

test('codes go before bulk texts, and may borrow one second’s worth', async () => {
  const node = await createNode();
  await accept(20);
  await node.run();
  await accept(20, code);
  await node.run();
  const codes = () => node.carrier.submits.filter(({ isCode }) => isCode).length;
  assert.deepEqual([node.carrier.submits.length, codes()], [10, 5]);
  clock.advance(1000);
  await node.run();
  assert.equal(codes(), 10, 'the next five are codes again');
  assert.equal(node.carrier.submits.length, 15);
});

test('a number is the same with and without its plus; the route’s sender counts, not the caller’s', async () => {
  rates = [{ applicationId, sender: '+447400999999', perSecond: 2 }];
  const node = await createNode();
  await accept(5, { sender: '447400999999' });
  await accept(5, { sender: '+447400999999' });
  await accept(5, { sender: 'ACME', sentAs: '447400999999' });
  await node.run();
  assert.equal(node.carrier.submits.length, 2);
});

test('a limit that is lifted holds back none; a text that expires meanwhile is not sent', async () => {
  const node = await createNode();
  await accept(10);
  await accept(1, { expiresAtMs: clock.nowMs() + 500, lane: 'bulk' });
  await node.run();
  assert.equal(node.carrier.submits.length, 5);
  rates = [];
  await node.pace.refresh();
  clock.advance(60_000);
  await node.run();
  assert.equal(node.carrier.submits.length, 10);
});

test('without the database none leaves, and all leave later', async () => {
  const node = await createNode();
  await accept(3);
  await db.database.query('alter table sender_pace rename to sender_pace_away');
  try {
    await node.run();
    assert.equal(node.carrier.submits.length, 0);
  } finally {
    await db.database.query('alter table sender_pace_away rename to sender_pace');
  }
  clock.advance(1000);
  await node.run();
  assert.equal(node.carrier.submits.length, 3);
});
