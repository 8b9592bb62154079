// A text that may have been sent twice ends by the receipt of the copy that we know, however the carrier spells its id.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { PartState, Receipt, SubmitResult } from '../../src/delivery/carrier/carrier.ts';
import { type IdForms, receiptKeyOf, receiptKeysOf } from '../../src/delivery/carrier/receipt-keys.ts';
import { createReceipts, type Receipts } from '../../src/delivery/receipts/receipts.ts';
import type { Message, ReceiptOutcome } from '../../src/messages/message.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createDeliverySteps, type DeliverySteps, leaseMs, unanswered } from '../support/delivery-steps.ts';
import { acceptMessages, emptyTables, nextCarrier, readRow, testVerificationId } from '../support/recording-carrier.ts';

const source = { key: 'test', account: 'test' };
let db: TestDatabase;
let clock: TestClock;
let receipts: Receipts;
let steps: DeliverySteps;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(async () => {
  clock = createTestClock();
  receipts = createReceipts({ database: db.database, clock });
  steps = createDeliverySteps(db.database, clock);
  await emptyTables(db.database);
});

async function accept(changes: Partial<Message> = {}): Promise<string> {
  const [message] = await acceptMessages({ database: db.database, clock }, 1, changes);
  return message?.id ?? '';
}
const take = async () => (await steps.takeNext()) ?? assert.fail('nothing was claimed');
const statusOf = async (id: string) => (await readRow(db.database, id)).status;

function acceptedAs(id: string, forms: IdForms): SubmitResult {
  return { outcome: 'accepted', carrierMessageId: id, receiptKey: receiptKeyOf(id, forms) };
}

function receiptOf(carrierMessageId: string, forms: IdForms, outcome: ReceiptOutcome = 'undelivered'): Receipt {
  const keys = receiptKeysOf(carrierMessageId, forms);
  return { carrierMessageId, keys, numbers: [], messageId: null, outcome, error: null };
}

/** A text whose first submit got no answer, and whose second one was accepted under this id. */
async function sentTwice(id: string, forms: IdForms, changes: Partial<Message> = {}): Promise<string> {
  const message = await accept(changes);
  await take();
  clock.advance(leaseMs);
  await steps.record(await take(), () => acceptedAs(id, forms));
  return message;
}

const hexToDec: IdForms = { response: 'hex', receipt: 'dec' };
const spellings: [string, IdForms, string, string][] = [
  ['hexadecimal answers, decimal receipts', hexToDec, '4D2', '1234'],
  ['hexadecimal answers with zeros, decimal receipts', hexToDec, '000004d2', '0000001234'],
  ['decimal answers, hexadecimal receipts', { response: 'dec', receipt: 'hex' }, '1234', '4d2'],
  ['spaces around the id of the answer', { response: 'exact', receipt: 'exact' }, ' a-1 ', 'a-1'],
];

describe('a text that was once in doubt', () => {
  for (const [what, forms, answered, reported] of spellings) {
    test(`ends by its receipt: ${what}`, async () => {
      const id = await sentTwice(answered, forms);
      await receipts.apply(source, [receiptOf(reported, forms)]);
      assert.equal(await statusOf(id), 'undelivered');
    });
  }

  test('does not end by bad news of its other copy, whose answer came late', async () => {
    const id = await accept();
    const first = await take();
    await steps.record(first, unanswered);
    clock.advance(60_000);
    const second = await take();
    await steps.recordLate(first, () => acceptedAs('111', hexToDec));
    await steps.record(second, () => acceptedAs('222', hexToDec));
    await receipts.apply(source, [receiptOf(String(0x111), hexToDec)]);
    assert.equal(await statusOf(id), 'sent');
    await receipts.apply(source, [receiptOf(String(0x222), hexToDec)]);
    assert.equal(await statusOf(id), 'undelivered');
  });

  test('with other ids that are the same number only in another spelling: is another copy', async () => {
    const forms: IdForms = { response: 'exact', receipt: 'exact' };
    const id = await sentTwice('100', forms);
    await receipts.apply(source, [{ ...receiptOf('256', forms), messageId: id }]);
    assert.equal(await statusOf(id), 'sent');
  });

  test('of several parts: ends by the receipt of any part', async () => {
    const part = (number: number, id: string): PartState => {
      return { part: number, state: 'accepted', carrierMessageId: id, receiptKey: receiptKeyOf(id, hexToDec) };
    };
    const id = await accept({ segmentCount: 2 });
    const long = { total: 2, form: 'gsm7/0 udh16', needed: 2 };
    const doubtful: PartState = { part: 2, state: 'in_doubt', carrierMessageId: null, receiptKey: null };
    await steps.record(await take(), () => ({
      outcome: 'in_doubt',
      long: { ...long, parts: [part(1, 'A1'), doubtful] },
    }));
    clock.advance(60_000);
    await steps.record(await take(), () => ({
      ...acceptedAs('A1', hexToDec),
      long: { ...long, parts: [part(1, 'A1'), part(2, 'A2')] },
    }));
    assert.equal((await readRow(db.database, id)).possibleDuplicates, 1);
    await receipts.apply(source, [receiptOf(String(0xa1), hexToDec, 'delivered')]);
    await receipts.apply(source, [receiptOf(String(0xa2), hexToDec)]);
    assert.equal(await statusOf(id), 'undelivered');
  });

  test('a code that did not arrive goes on to the next carrier', async () => {
    const moved: string[] = [];
    const resend = {
      findPending: async (_: unknown, ids: string[]) => new Set(ids),
      nextCarrier: () => nextCarrier('other'),
      onMoved: () => void moved.push('moved'),
    };
    receipts = createReceipts({ database: db.database, clock, resend });
    const id = await sentTwice('4D2', hexToDec, { api: 'verify', verificationId: testVerificationId, body: null });
    await receipts.apply(source, [{ ...receiptOf('1234', hexToDec), reported: 'stat:UNDELIV err:069' }]);
    assert.deepEqual(moved, ['moved']);
    const { rows: told } = await db.database.query<{ words: string }>(
      'select receipt_reported as words from text_attempt where receipt is not null',
    );
    assert.deepEqual(told, [{ words: 'stat:UNDELIV err:069' }]);
    const { rows } = await db.database.query<{ carrier: string }>('select carrier from delivery_queue');
    assert.deepEqual([rows, await statusOf(id)], [[{ carrier: 'other' }], 'sent']);
  });
});
