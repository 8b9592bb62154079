// What a worker does for carriers with binds: parts, lanes, other carriers, codes that are no longer needed.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { LongText, PartState, Receipt, SubmitResult } from '../../src/delivery/carrier/carrier.ts';
import { createClosedCarrier } from '../../src/delivery/carrier/closed.ts';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import { createUnreported } from '../../src/delivery/receipts/unreported.ts';
import { createDeliveryWorker, type DeliveryWorkerOptions } from '../../src/delivery/worker/worker.ts';
import type { Message } from '../../src/messages/message.ts';
import { hourMs } from '../../src/platform/clock.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { checkEvents, listen, watchStates } from '../support/event-witness.ts';
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
  await watchStates(db.database);
  await listen(db.database, [testApplicationId]);
});
after(() => checkEvents(db.database).finally(() => db.drop()));
beforeEach(async () => {
  clock = createTestClock();
  await emptyTables(db.database);
});

function createWorker(options: RecordingCarrierOptions = {}, more: Partial<DeliveryWorkerOptions> = {}) {
  const carrier = createRecordingCarrier(options);
  const receipts = createReceipts({ database: db.database, clock });
  const worker = createDeliveryWorker({
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
    ...more,
  });
  return { carrier, worker, receipts };
}

const ofVerification = { api: 'verify', verificationId: testVerificationId, body: null } as const;
async function accept(changes: Partial<Message> = {}, carrier = 'test'): Promise<string> {
  const [message] = await acceptMessages({ database: db.database, clock, carrier }, 1, changes);
  return (message ?? assert.fail()).id;
}
const row = (id: string) => readRow(db.database, id);
const carrierOf = async (id: string) => {
  const { rows } = await db.database.query<{ carrier: string; at: string }>(
    `select m.carrier, coalesce(q.carrier, s.carrier) as at from message m
     left join delivery_queue q on q.message_id = m.id left join delivery_schedule s on s.message_id = m.id
     where m.id = $1`,
    [uuidOf(id)],
  );
  return rows[0];
};

const always = (result: SubmitResult) => (texts: unknown[]) => texts.map(() => result);

describe('parts of a long text', () => {
  const threeParts = { segmentCount: 3 };
  const has = (...parts: number[]): PartState[] =>
    parts.map((part) => ({ part, state: 'accepted', carrierMessageId: `id-${part}`, receiptKey: `id-${part}` }));
  const long = (parts: PartState[], needed = 3): LongText => ({ total: 3, form: 'gsm7/0 udh16', needed, parts });
  const accepted = (needed = 3): SubmitResult => ({
    outcome: 'accepted',
    carrierMessageId: 'id-1',
    receiptKey: 'id-1',
    long: long(has(1, 2, 3), needed),
  });
  const report = (part: number, outcome: 'delivered' | 'undelivered' = 'delivered') => ({
    carrierMessageId: `id-${part}`,
    keys: [`id-${part}`],
    outcome,
  });

  test('what the carrier has is known to the next attempt, also after a crash', async () => {
    const { carrier, worker } = createWorker();
    carrier.answer = always({ outcome: 'throttled', long: long(has(1, 3)) });
    const id = await accept(threeParts);
    await worker.runUntilIdle();
    clock.advance(1000);
    // Another process: it knows only what is on disk.
    const next = createWorker();
    next.carrier.answer = always(accepted());
    await next.worker.runUntilIdle();
    const [again] = next.carrier.submits;
    assert.deepEqual(
      again?.parts.map(({ part, state }) => [part, state]),
      [
        [1, 'accepted'],
        [3, 'accepted'],
      ],
    );
    assert.equal(again?.form, 'gsm7/0 udh16');
    assert.equal((await row(id)).status, 'sent');
  });

  test('only the missing parts are sent again, also if the text is billed as one segment and this carrier cuts it', async () => {
    const { carrier, worker } = createWorker();
    carrier.answer = always({ outcome: 'throttled', long: long(has(2)) });
    await accept({ segmentCount: 1 });
    await worker.runUntilIdle();
    clock.advance(1000);
    await worker.runUntilIdle();
    assert.equal(carrier.submits[1]?.parts.length, 1);
  });

  test('only the missing parts are sent again, also if they did not leave at all', async () => {
    const { carrier, worker } = createWorker();
    carrier.answer = always({ outcome: 'not_sent', long: long(has(2)) });
    await accept(threeParts);
    await worker.start();
    while (carrier.submits.length < 2) await new Promise((done) => setTimeout(done, 5));
    await worker.stop();
    assert.deepEqual(
      carrier.submits[1]?.parts.map(({ part }) => part),
      [2],
    );
  });

  test('delivered when all are; one that is not spoils the text', async () => {
    for (const last of ['delivered', 'undelivered'] as const) {
      await emptyTables(db.database);
      const { carrier, worker } = createWorker();
      carrier.answer = always(accepted());
      const id = await accept(threeParts);
      await worker.start();
      while ((await row(id)).status !== 'sent') await new Promise((done) => setTimeout(done, 5));
      await carrier.report([report(2), report(1), report(1)]);
      assert.equal((await row(id)).status, 'sent');
      await carrier.report([report(3, last)]);
      assert.equal((await row(id)).status, last);
      await worker.stop();
    }
  });

  test('receipts for different parts at the same time, on two nodes: none is lost', async () => {
    for (let times = 0; times < 10; times++) {
      await emptyTables(db.database);
      const { carrier, worker, receipts } = createWorker();
      const other = createReceipts({ database: db.another({ poolSize: 2 }), clock });
      carrier.answer = always(accepted());
      const id = await accept(threeParts);
      await worker.runUntilIdle();
      const source = { key: 'test', account: 'test' };
      const whole = (part: number) => ({ ...report(part), numbers: [], messageId: null, error: null });
      await Promise.all([1, 2, 3].map((part) => (part === 2 ? other : receipts).apply(source, [whole(part)])));
      assert.equal((await row(id)).status, 'delivered');
    }
  });

  test('receipts for two parts of three leave a text sent, and unknown after 72 h', async () => {
    const { carrier, worker, receipts } = createWorker();
    carrier.answer = always(accepted());
    const id = await accept(threeParts);
    await worker.runUntilIdle();
    const two = [1, 3].map((part) => ({ ...report(part), numbers: [], messageId: null, error: null }));
    await receipts.apply({ key: 'test', account: 'test' }, two);
    assert.equal((await row(id)).status, 'sent');
    clock.advance(73 * hourMs);
    const unreported = createUnreported(db.database, clock);
    for (let pieces = 0; pieces < 5; pieces++) await unreported.endSome();
    assert.equal((await row(id)).status, 'unknown');
  });

  test('one receipt is enough where the carrier gives one', async () => {
    const { carrier, worker, receipts } = createWorker();
    carrier.answer = always(accepted(1));
    const id = await accept(threeParts);
    await worker.runUntilIdle();
    const source = { key: 'test', account: 'test' };
    await receipts.apply(source, [{ ...report(3), numbers: [], messageId: null, error: null }]);
    assert.equal((await row(id)).status, 'delivered');
  });
});

describe('another carrier', () => {
  const elsewhere: SubmitResult = { outcome: 'retry', error: 'sender_rejected', elsewhere: true };

  test('takes at once what this one will not take, and only once', async () => {
    const woken: (readonly string[])[] = [];
    const onMoved = (carriers: readonly string[]) => void woken.push(carriers);
    const first = createWorker({}, { nextCarrier: () => nextCarrier('second'), onMoved });
    const second = createWorker({ name: 'second' }, { nextCarrier: () => nextCarrier('test') });
    first.carrier.answer = always(elsewhere);
    second.carrier.answer = always(elsewhere);
    const id = await accept();
    await accept();
    await first.worker.runUntilIdle();
    assert.deepEqual(woken, [['second']]);
    assert.deepEqual(await carrierOf(id), { carrier: 'second', at: 'second' });
    await second.worker.runUntilIdle();
    const found = await row(id);
    assert.deepEqual([found.status, found.errorCode], ['failed', 'sender_rejected']);
  });

  test('a code in doubt goes on to it at once; a plain text never does', async () => {
    const { carrier, worker } = createWorker({}, { nextCarrier: () => nextCarrier('second') });
    carrier.answer = always({ outcome: 'in_doubt' });
    const code = await accept(ofVerification);
    const plain = await accept();
    await worker.runUntilIdle();
    assert.deepEqual(await carrierOf(code), { carrier: 'second', at: 'second' });
    assert.deepEqual(await carrierOf(plain), { carrier: 'test', at: 'test' });
  });

  test('a text stays with a carrier that has a part of it', async () => {
    const { carrier, worker } = createWorker({}, { nextCarrier: () => nextCarrier('second') });
    const parts: PartState[] = [{ part: 1, state: 'accepted', carrierMessageId: 'a', receiptKey: 'a' }];
    carrier.answer = always({
      ...elsewhere,
      error: 'carrier_unavailable',
      long: { total: 2, form: '', needed: 2, parts },
    });
    const id = await accept({ segmentCount: 2 });
    await worker.runUntilIdle();
    assert.deepEqual(await carrierOf(id), { carrier: 'test', at: 'test' });
  });

  test('a text stays with a deleted carrier that has a part of it: two halves do not make a text', async () => {
    const { carrier, worker } = createWorker();
    const parts: PartState[] = [{ part: 1, state: 'accepted', carrierMessageId: 'a', receiptKey: 'a' }];
    carrier.answer = always({ outcome: 'throttled', long: { total: 2, form: '', needed: 2, parts } });
    const id = await accept({ segmentCount: 2 });
    await worker.runUntilIdle();
    clock.advance(1000);
    const closed = createWorker({}, { carrier: createClosedCarrier('test'), nextCarrier: () => nextCarrier('second') });
    await closed.worker.runUntilIdle();
    assert.deepEqual(await carrierOf(id), { carrier: 'test', at: 'test' });
  });

  test('gets the texts of one that was deleted; those in doubt end, the others expire without one', async () => {
    const { carrier, worker } = createWorker({ onDoubt: { resend: true, afterMs: 0 } });
    carrier.answer = always({ outcome: 'in_doubt' });
    const doubtful = await accept();
    await worker.runUntilIdle();
    clock.advance(1000);
    const waiting = await accept();
    let next: ReturnType<typeof nextCarrier> | undefined;
    const closed = createWorker({}, { carrier: createClosedCarrier('test'), nextCarrier: () => next });
    await closed.worker.runUntilIdle();
    assert.equal((await row(doubtful)).status, 'unknown');
    assert.deepEqual(await carrierOf(waiting), { carrier: 'test', at: 'test' });
    next = nextCarrier('second');
    clock.advance(2000);
    await closed.worker.runUntilIdle();
    assert.deepEqual(await carrierOf(waiting), { carrier: 'second', at: 'second' });
  });
});

describe('texts in doubt', () => {
  test('a plain text waits for a late answer or a receipt as long as the carrier wants, and is sent again once', async () => {
    const { carrier, worker } = createWorker({ onDoubt: { resend: true, afterMs: 300_000 } });
    carrier.answer = always({ outcome: 'in_doubt' });
    const id = await accept();
    await worker.runUntilIdle();
    clock.advance(299_999);
    await worker.runUntilIdle();
    assert.equal(carrier.submits.length, 1);
    clock.advance(1);
    await worker.runUntilIdle();
    clock.advance(300_000);
    await worker.runUntilIdle();
    assert.equal(carrier.submits.length, 2);
    assert.equal((await row(id)).status, 'unknown');
  });
});

describe('codes', () => {
  test('no code leaves once its verification is over: canceled, or unknown if it may have left before', async () => {
    let pending = true;
    const findPending = async (ids: string[]) => new Set(pending ? ids : []);
    const { carrier, worker } = createWorker({}, { findPending });
    carrier.answer = always({ outcome: 'in_doubt' });
    const doubtful = await accept(ofVerification);
    await worker.runUntilIdle();
    const waiting = await accept(ofVerification);
    const plain = await accept();
    pending = false;
    clock.advance(10_000);
    await worker.runUntilIdle();
    assert.deepEqual(
      carrier.submits.map(({ messageId }) => messageId),
      [doubtful, plain],
    );
    assert.deepEqual([(await row(doubtful)).status, (await row(waiting)).status], ['unknown', 'canceled']);
  });

  test('have room where other texts have none', async () => {
    const { carrier, worker } = createWorker();
    carrier.capacity = () => ({ first: 2, bulk: 0 });
    const plain = await accept();
    const code = await accept(ofVerification);
    await worker.runUntilIdle();
    assert.deepEqual(
      carrier.submits.map(({ messageId }) => messageId),
      [code],
    );
    assert.equal((await row(plain)).status, 'queued');
  });
});

describe('receipts', () => {
  const source = { key: 'test', account: 'test' };
  const receipt: Omit<Receipt, 'numbers'> = {
    carrierMessageId: '7',
    keys: ['7'],
    messageId: null,
    outcome: 'delivered',
    error: null,
  };

  test('of several texts with the same id the number decides; if that is the same too, none is settled', async () => {
    const { carrier, worker, receipts } = createWorker();
    carrier.answer = always({ outcome: 'accepted', carrierMessageId: '7' });
    const one = await accept({ to: '+447700900001' });
    const two = await accept({ to: '+447700900002' });
    const [three, four] = [await accept(), await accept()];
    await worker.runUntilIdle();
    await receipts.apply(source, [{ ...receipt, numbers: ['447700900002'] }]);
    await receipts.apply(source, [{ ...receipt, numbers: ['447700900123'] }]);
    await receipts.apply(source, [{ ...receipt, numbers: [] }]);
    const statuses = await Promise.all([one, two, three, four].map(async (id) => (await row(id)).status));
    assert.deepEqual(statuses, ['sent', 'delivered', 'sent', 'sent']);
  });

  test('name the phone first or our sender first, and a number that is neither settles nothing', async () => {
    const { carrier, worker, receipts } = createWorker();
    const settles = async (...numbers: string[]) => {
      carrier.answer = always({ outcome: 'accepted', carrierMessageId: '7' });
      const id = await accept({ to: '+447700900001', sender: '+447700900999' });
      await worker.runUntilIdle();
      await receipts.apply(source, [{ ...receipt, numbers }]);
      const { status } = await row(id);
      await emptyTables(db.database);
      return status === 'delivered';
    };
    assert.equal(await settles('447700900001', '447700900999'), true);
    assert.equal(await settles('447700900999', '447700900001'), true);
    assert.equal(await settles('07700900001'), true);
    assert.equal(await settles(), true);
    assert.equal(await settles('447700900999', '447700900002'), false);
  });

  test('of another account settle nothing', async () => {
    const { worker, carrier, receipts } = createWorker();
    carrier.answer = always({ outcome: 'accepted', carrierMessageId: '7' });
    const id = await accept();
    await worker.runUntilIdle();
    await receipts.apply({ key: 'test', account: 'another' }, [{ ...receipt, numbers: [] }]);
    assert.equal((await row(id)).status, 'sent');
  });

  test('where a carrier gives none, sent is the end', async () => {
    await db.database.query(
      `insert into carrier (id, name, kind, settings, created_at, updated_at)
       values (41, 'quiet', 'smpp', '{"receipts": "none"}', $1, $1)`,
      [new Date(clock.nowMs()).toISOString()],
    );
    const { worker } = createWorker({ name: 'quiet#41' });
    const id = await accept({}, 'quiet#41');
    await worker.runUntilIdle();
    clock.advance(73 * hourMs);
    const unreported = createUnreported(db.database, clock);
    for (let pieces = 0; pieces < 5; pieces++) await unreported.endSome();
    assert.equal((await row(id)).status, 'sent');
    const { rows } = await db.database.query('select from unsettled_text');
    assert.equal(rows.length, 0);
  });
});
