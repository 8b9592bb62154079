import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { LongText, PartState, SubmitResult } from '../../src/delivery/carrier/carrier.ts';
import { createReceipts, type Receipts } from '../../src/delivery/receipts/receipts.ts';
import { takeUnmatched } from '../../src/delivery/receipts/unmatched-store.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { accepted, createDeliverySteps, type DeliverySteps, unanswered } from '../support/delivery-steps.ts';
import { acceptMessages, emptyTables, readRow } from '../support/recording-carrier.ts';

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

/** Random, so that no index makes it small. */
const random = (characters: number) => randomBytes(characters).toString('hex').slice(0, characters);

const oddIds: [string, string][] = [
  ['with a NUL', 'a\0b'],
  ['of NULs only', '\0\0'],
  ['with half a character', 'a\ud83db'],
  ['that ends in half a character where it is cut', `${'a'.repeat(254)}\u{1f600}`],
  ['of 100 kB', random(100_000)],
  ['of 100 kB that begins with NULs', `${'\0'.repeat(100)}${random(100_000)}`],
  ['of 100 kB of three octets each', '\uffee'.repeat(33_000)],
  ['at the limit of an index', random(2704)],
  ['of 255 characters', random(255)],
  ['of control characters', '\u001b[2J\u0007'],
];

async function accept(count: number): Promise<string[]> {
  const messages = await acceptMessages({ database: db.database, clock }, count);
  return messages.map(({ id }) => id);
}

/** Takes two texts: the first gets the odd answer, the second one is innocent. */
async function takeTwo() {
  const [odd = '', innocent = ''] = await accept(2);
  const claim = (await steps.takeNext()) ?? assert.fail('nothing was claimed');
  const answerOdd = (answer: SubmitResult | undefined) => (text: Parameters<typeof accepted>[0]) =>
    text.message.id === odd ? answer : accepted(text);
  return { odd, innocent, claim, answerOdd };
}

const statusOf = async (id: string) => (await readRow(db.database, id)).status;
const told = { price: '0.01', currency: 'EUR', network: '23410', parts: 1 };

function longOf(id: string): LongText {
  const parts = [1, 2].map((part): PartState => ({ part, state: 'accepted', carrierMessageId: id, receiptKey: id }));
  return { total: 2, form: 'http', needed: 2, parts };
}

const answers: [string, (id: string) => SubmitResult][] = [
  ['of a text', (id) => ({ outcome: 'accepted', carrierMessageId: id })],
  ['of a text, with a key of its own', (id) => ({ outcome: 'accepted', carrierMessageId: 'plain', receiptKey: id })],
  ['of a text with a price', (id) => ({ outcome: 'accepted', carrierMessageId: id, told })],
  ['of the parts of a text', (id) => ({ outcome: 'accepted', carrierMessageId: id, long: longOf(id) })],
  ['of parts, one of them missing', (id) => ({ outcome: 'throttled', long: { ...longOf(id), total: 3, needed: 3 } })],
];

for (const [what, id] of oddIds) {
  describe(`an id ${what}`, () => {
    for (const [where, answer] of answers) {
      test(`${where}: costs no other text its result`, async () => {
        const { odd, innocent, claim, answerOdd } = await takeTwo();
        await steps.record(claim, answerOdd(answer(id)));
        assert.equal(await statusOf(innocent), 'sent');
        assert.equal(await statusOf(odd), answer(id).outcome === 'accepted' ? 'sent' : 'queued');
        assert.equal((await readRow(db.database, innocent)).location, null);
      });

      test(`${where}, in a late answer: settles its text`, async () => {
        const { odd, claim } = await takeTwo();
        await steps.record(claim, unanswered);
        await steps.recordLate({ ...claim, texts: claim.texts.slice(0, 1) }, () => answer(id));
        const { onTheWire } = await readRow(db.database, odd);
        assert.equal(onTheWire, false);
      });
    }

    test('in a receipt: finds its text, which was kept under the same id', async () => {
      const { odd, innocent, claim, answerOdd } = await takeTwo();
      await steps.record(claim, answerOdd({ outcome: 'accepted', carrierMessageId: id }));
      await receipts.apply(source, [
        { carrierMessageId: id, keys: [id], numbers: [], messageId: null, outcome: 'delivered', error: null },
        {
          carrierMessageId: `${innocent}/1`,
          keys: [`${innocent}/1`],
          numbers: [],
          messageId: null,
          outcome: 'delivered',
          error: null,
        },
      ]);
      assert.deepEqual([await statusOf(odd), await statusOf(innocent)], ['delivered', 'delivered']);
    });

    test('in a receipt for no text: waits, and an operator’s test finds it', async () => {
      await receipts.apply(source, [
        { carrierMessageId: id, keys: [id], numbers: [], messageId: null, outcome: 'failed', error: null },
      ]);
      const found = await db.database.transaction((tx) => takeUnmatched(tx, 'test', id));
      assert.notEqual(found, undefined);
    });
  });
}
