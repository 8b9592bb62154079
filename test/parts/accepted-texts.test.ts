import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { createClaims } from '../../src/delivery/queue/claim-store.ts';
import { createAcceptedTexts, packTexts } from '../../src/messages/accepted-texts.ts';
import type { Message } from '../../src/messages/message.ts';
import { lanes } from '../../src/messages/message-queue.ts';
import { findTextsToSend, type TextToSend } from '../../src/messages/text/text-to-send.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { acceptMessages, emptyTables, testVerificationId } from '../support/recording-carrier.ts';

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

const accept = (count: number, changes: Partial<Message> = {}) =>
  acceptMessages({ database: db.database, clock }, count, changes);

async function read({ id }: Message): Promise<TextToSend | undefined> {
  return (await findTextsToSend(db.database, [uuidOf(id)])).get(uuidOf(id));
}

/** What a node knows of these messages when it has accepted them. */
function knownOf(messages: Message[]) {
  const texts = createAcceptedTexts(clock);
  texts.add(packTexts(messages));
  return texts;
}

async function claim(accepted = createAcceptedTexts(clock)): Promise<TextToSend[]> {
  const claimNext = createClaims(db.database, accepted);
  const limits = { first: 100, bulk: 100 };
  const taken = await claimNext({ carrier: 'test', nowMs: clock.nowMs(), leaseMs: 60_000, limits });
  return (taken?.texts ?? []).map(({ message }) => message);
}

describe('texts that were just accepted', () => {
  test('are known as the database has them', async () => {
    const text = fc.record({
      body: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }).filter((body) => !body.includes('\0')),
      to: fc.constantFrom('+447700900123', '+491701234567'),
      sender: fc.constantFrom('ACME', '+447700900999', '12345'),
      sentAs: fc.constantFrom(null, 'OTHER'),
      api: fc.constantFrom('sms' as const, 'messaging' as const),
      segmentCount: fc.integer({ min: 1, max: 10 }),
      trace: fc.constantFrom(undefined, '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7'),
      statusCallback: fc.constantFrom(undefined, 'https://example.com/status'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 5 }), async (given) => {
        const messages: Message[] = [];
        for (const changes of given) messages.push(...(await accept(1, changes)));
        const texts = knownOf(messages);
        for (const message of messages) {
          const known = texts.take(message.id);
          if (known !== undefined) assert.deepEqual(known, await read(message));
          else assert.ok(['\x1e', '\x1f'].some((mark) => message.body?.includes(mark)));
        }
      }),
      { numRuns: 50 },
    );
  });

  test('are not read again by the claim that takes them', async () => {
    const messages = await accept(3);
    const texts = knownOf(messages);
    // Only a claim that reads the records sees this.
    await db.database.query(`update message set body = 'from the database'`);
    assert.deepEqual(
      (await claim(texts)).map(({ body }) => body),
      ['Hello', 'Hello', 'Hello'],
    );
  });

  test('are read when the node does not know them', async () => {
    const [known, ...others] = await accept(3);
    assert.ok(known);
    await db.database.query(`update message set body = 'from the database'`);
    const claimed = await claim(knownOf([known]));
    assert.deepEqual(
      new Map(claimed.map(({ id, body }) => [id, body])),
      new Map([[known.id, 'Hello'], ...others.map(({ id }) => [id, 'from the database'] as const)]),
    );
  });

  for (const [what, change] of [
    ['was tried', 'attempt = 1'],
    ['came from another carrier', 'moves = 1'],
  ]) {
    test(`are read if one ${what}`, async () => {
      const messages = await accept(1);
      await db.database.query(`update message set body = 'from the database'`);
      await db.database.query(`update delivery_queue set ${change}`);
      assert.deepEqual(
        (await claim(knownOf(messages))).map(({ body }) => body),
        ['from the database'],
      );
    });
  }

  test('are canceled as before: a canceled text is not claimed', async () => {
    const messages = await accept(2);
    await db.database.query('delete from delivery_queue where message_id = $1', [uuidOf(messages[0]?.id ?? '')]);
    assert.deepEqual(
      (await claim(knownOf(messages))).map(({ id }) => id),
      [messages[1]?.id],
    );
  });

  const none: [what: string, changes: Partial<Message>][] = [
    ['a scheduled text', { status: 'scheduled', sendAtMs: Date.UTC(2030, 0) }],
    ['a text that waits for the hours of its route', { deferredUntilMs: Date.UTC(2030, 0) }],
    ['the text of a verification', { api: 'verify', verificationId: testVerificationId, body: null, template: {} }],
    ['a failed text', { status: 'failed', errorCode: 'blocked_by_recipient' }],
    ['a text with a mark in it', { body: 'one\x1ftwo' }],
    ['a text with the other mark in it', { body: 'one\x1etwo' }],
    [
      'a text that was routed around a carrier',
      { routing: { version: 1, rule: 0, given: { failed: ['a'] } as never } },
    ],
  ];
  for (const [what, changes] of none) {
    test(`do not include ${what}`, async () => {
      const [message] = await accept(1);
      assert.ok(message);
      assert.equal(packTexts([{ ...message, ...changes }]), '');
      assert.notEqual(packTexts([message]), '');
    });
  }

  test('are given once', async () => {
    const [message] = await accept(1);
    assert.ok(message);
    const texts = knownOf([message]);
    assert.equal(texts.take(message.id)?.id, message.id);
    assert.equal(texts.take(message.id), undefined);
  });

  test('are forgotten after 20 s, and when many came after them', async () => {
    const [message, ...others] = await accept(2);
    assert.ok(message);
    const late = knownOf([message]);
    clock.advance(20_000);
    assert.equal(late.take(message.id), undefined);

    const texts = knownOf([message]);
    const long = packTexts(others.map((other) => ({ ...other, body: 'x'.repeat(4_000_000) })));
    texts.add(long);
    texts.add(long);
    assert.equal(texts.take(message.id)?.id, message.id, 'the older ones are still known');
    const crowded = knownOf([message]);
    for (let i = 0; i < 3; i++) crowded.add(long);
    assert.equal(crowded.take(message.id), undefined);
  });

  test('leave lanes and turns as they were', async () => {
    const messages = [...(await accept(1)), ...(await accept(1, { lane: 'first' }))];
    const claimNext = createClaims(db.database, knownOf(messages));
    const options = { carrier: 'test', nowMs: clock.nowMs(), leaseMs: 60_000, limits: { first: 100, bulk: 100 } };
    const lanesTaken: number[] = [];
    for (let i = 0; i < 2; i++) {
      const taken = await claimNext(options);
      lanesTaken.push(...(taken?.texts ?? []).map(({ entry }) => entry.lane));
    }
    assert.deepEqual(lanesTaken, [lanes.first, lanes.bulk]);
  });
});
