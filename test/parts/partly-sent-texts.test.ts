import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Claim, ScheduledText } from '../../src/delivery/attempts/queued-text.ts';
import type { LongText } from '../../src/delivery/carrier/carrier.ts';
import { moveTexts, readQueued } from '../../src/delivery/queue/mover-store.ts';
import { findParts } from '../../src/delivery/queue/part-store.ts';
import { createResultWriter, toWritten } from '../../src/delivery/queue/result-writer.ts';
import { lanes } from '../../src/messages/message-queue.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createWakeableSleep } from '../../src/platform/work/wakeable-sleep.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createDeliverySteps, type DeliverySteps } from '../support/delivery-steps.ts';
import { createTestLog } from '../support/log.ts';
import { acceptMessages, emptyTables, nextCarrier } from '../support/recording-carrier.ts';

// A carrier has the first part of a text, and wants the second one later: no other carrier may get the text.
let db: TestDatabase;
let clock: TestClock;
let steps: DeliverySteps;
let id: string;

before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(async () => {
  clock = createTestClock();
  steps = createDeliverySteps(db.database, clock, 'a');
  await emptyTables(db.database);
  const [message] = await acceptMessages({ database: db.database, clock, carrier: 'a' }, 1);
  id = message?.id ?? '';
});

const firstPart = (carrierMessageId: string): LongText => ({
  total: 2,
  form: 'form',
  needed: 2,
  parts: [{ part: 1, state: 'accepted', carrierMessageId, receiptKey: carrierMessageId }],
});

const readWaiting = () =>
  readQueued(db.database, { carrier: 'a', lane: lanes.bulk, after: undefined, limit: 10 }).then(({ texts }) => texts);

test('a text stays with its carrier when a part was sent after the mover had read it', async () => {
  const [text] = await readWaiting();
  assert.equal(text?.mayHaveLeft, false);
  const claim = await steps.claim();
  assert.ok(claim !== undefined && text !== undefined, 'nothing was claimed');
  await steps.record(claim, () => ({ outcome: 'throttled', afterMs: 60_000, long: firstPart('one') }));
  assert.equal(await moveTexts(db.database, 'a', [{ text, next: nextCarrier('b') }], clock.nowMs()), 0);
  const { rows } = await db.database.query('select carrier from delivery_schedule');
  assert.deepEqual(rows, [{ carrier: 'a' }]);
});

test('a result that Postgres refuses loses the ids of the parts, and not the parts', async () => {
  const claim = await steps.claim();
  assert.ok(claim !== undefined, 'nothing was claimed');
  const { log } = createTestLog();
  const writer = createResultWriter({ database: db.database, log, sleep: createWakeableSleep() });
  const results = { carrier: 'a', account: 'a', ended: [], again: [againOf(claim)], nowMs: clock.nowMs() };
  await writer.write(toWritten(claim), results, []);
  const parts = await findParts(db.database, [{ ...againOf(claim).entry }]);
  const part = { part: 1, state: 'accepted', carrierMessageId: null, receiptKey: null };
  assert.deepEqual(parts.get(uuidOf(id)), { form: 'form', parts: [part] });
});

function againOf({ texts }: Claim): ScheduledText {
  const [text] = texts;
  if (text === undefined) throw new Error('the claim is empty');
  const entry = { ...text.entry, attempt: 1 };
  return { entry, carrier: 'a', dueAtMs: clock.nowMs() + 60_000, long: firstPart('o\0ne') as ScheduledText['long'] };
}
