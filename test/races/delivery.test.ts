import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import {
  type AttemptResult,
  type ClaimedMessage,
  claimDue,
  recordResults,
  releaseInDoubt,
} from '../../src/delivery/delivery-store.ts';
import { createReceipts } from '../../src/delivery/receipts.ts';
import { cancelMessage } from '../../src/messages/message-store.ts';
import type { Database } from '../../src/platform/database.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { acceptMessages, carrierIdOf, readQueue } from '../support/recording-carrier.ts';

const carrier = 'test';
const leaseMs = 10_000;
let db: TestDatabase;
let clock: TestClock;
/** The worker's own pool, as in the service: it never waits for a connection behind the requests. */
let workers: Database;
before(async () => {
  db = await createTestDatabase();
  workers = db.another();
});
after(() => db.drop());
beforeEach(async () => {
  clock = createTestClock();
  await db.database.query('truncate message, unmatched_receipt');
});

async function accept(count: number): Promise<string[]> {
  const messages = await acceptMessages({ database: db.database, clock, carrier }, count);
  return messages.map(({ id }) => id);
}

const claim = (limit: number) =>
  claimDue(workers, { carrier, nowMs: clock.nowMs(), leaseMs, limit, atMostOnce: false });

/** Claims until all is claimed, as several workers at once would. */
async function claimAll(callers: number, limit: number): Promise<ClaimedMessage[]> {
  const claimed: ClaimedMessage[] = [];
  async function work(): Promise<void> {
    for (;;) {
      const found = await claim(limit);
      claimed.push(...found);
      const { count } = await workers.query('select from message where due_at <= $1 limit 1', [
        new Date(clock.nowMs()).toISOString(),
      ]);
      if (count === 0) return;
    }
  }
  await Promise.all(Array.from({ length: callers }, work));
  return claimed;
}

function acceptedBy({ id, attempt }: { id: string; attempt: number }): AttemptResult {
  return {
    messageId: id,
    attempt,
    status: 'sent',
    carrierMessageId: carrierIdOf(id, attempt),
    error: null,
    dueAtMs: clock.nowMs() + 1000,
  };
}

function shuffled<Item>(items: Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

describe('at the same moment', () => {
  test('eight claims: every message in exactly one of them', async () => {
    const ids = await accept(600);
    const claimed = await claimAll(8, 17);
    assert.equal(claimed.length, 600);
    assert.deepEqual(new Set(claimed.map(({ id }) => id)), new Set(ids));
    for (const { attempt, action } of claimed) assert.deepEqual([attempt, action], [1, 'submit']);
  });

  test('a claim and a cancel: canceled or sent, never both, never neither', async () => {
    const ids = await accept(300);
    const canceled = new Set<string>();
    const cancels = shuffled(ids).map(async (id) => {
      const found = await cancelMessage(db.database, 'app_test', 'sms', id, clock.nowMs());
      if (found !== undefined) canceled.add(id);
    });
    const [claimed] = await Promise.all([claimAll(3, 5), ...cancels]);
    const taken = new Set(claimed.map(({ id }) => id));
    assert.equal(taken.size, claimed.length);
    for (const id of ids) assert.notEqual(taken.has(id), canceled.has(id), `${id} is both or neither`);
    for (const { id, status, onTheWire } of await readQueue(db.database)) {
      assert.deepEqual([status, onTheWire], canceled.has(id) ? ['canceled', false] : ['queued', true]);
    }
    assert.ok(taken.size > 0 && canceled.size > 0, `${taken.size} were taken, ${canceled.size} canceled`);
  });

  test('an answer and a cancel of what was put off: never canceled once it was sent', async () => {
    const ids = await accept(100);
    const claimed = await claimAll(1, 100);
    const results = claimed.map(
      (each, index): AttemptResult =>
        index % 2 === 0
          ? acceptedBy(each)
          : { ...acceptedBy(each), status: 'queued', carrierMessageId: null, dueAtMs: clock.nowMs() },
    );
    const sent = new Set(results.filter(({ status }) => status === 'sent').map(({ messageId }) => messageId));
    const canceled = new Set<string>();
    await Promise.all([
      recordResults(workers, results, clock.nowMs()),
      ...shuffled(ids).map(async (id) => {
        const found = await cancelMessage(db.database, 'app_test', 'sms', id, clock.nowMs());
        if (found !== undefined) canceled.add(id);
      }),
    ]);
    for (const id of canceled) assert.ok(!sent.has(id), `${id} was sent and canceled`);
    for (const { id, status } of await readQueue(db.database)) {
      assert.equal(status, sent.has(id) ? 'sent' : canceled.has(id) ? 'canceled' : 'queued');
    }
  });

  test('answers, receipts of both kinds, and a second look at the unmatched: all end delivered, nobody fails', async () => {
    const receipts = createReceipts(db.database, clock);
    for (let round = 0; round < 6; round++) {
      const ids = await accept(120);
      const claimed = await claimAll(1, 120);
      const named = shuffled(ids).map((id) => ({
        carrierMessageId: carrierIdOf(id, 1),
        messageId: id,
        outcome: 'delivered' as const,
        error: null,
      }));
      const unnamed = shuffled(named).map((receipt) => ({ ...receipt, messageId: null }));
      await Promise.all([
        recordResults(db.database, shuffled(claimed).map(acceptedBy), clock.nowMs()),
        receipts.apply(carrier, unnamed),
        receipts.apply(carrier, named),
        receipts.apply(carrier, shuffled(unnamed)),
        receipts.rematch(),
      ]);
      clock.advance(1000);
      while ((await receipts.rematch()) > 0) clock.advance(1000);
      const rows = await readQueue(db.database, ids);
      assert.deepEqual(new Set(rows.map(({ status }) => status)), new Set(['delivered']));
    }
  });

  test('the same answers from two sides: written once', async () => {
    await accept(100);
    const results = (await claimAll(1, 100)).map(acceptedBy);
    await Promise.all(Array.from({ length: 4 }, () => recordResults(db.database, shuffled(results), clock.nowMs())));
    for (const { status, sequence } of await readQueue(db.database)) assert.deepEqual([status, sequence], ['sent', 2]);
  });

  test('an answer that comes while the text is claimed again: one of the two holds, whole', async () => {
    await accept(200);
    const first = await claimAll(1, 200);
    await releaseInDoubt(
      db.database,
      first.map(({ id, attempt }) => ({ messageId: id, attempt, dueAtMs: clock.nowMs() })),
    );
    const size = 20;
    const batches = Array.from({ length: 10 }, (_, index) => first.slice(index * size, (index + 1) * size));
    const [again] = await Promise.all([
      claimAll(3, 20),
      ...batches.map((batch) => recordResults(db.database, batch.map(acceptedBy), clock.nowMs())),
    ]);
    const resent = new Set(again.map(({ id }) => id));
    for (const { id, status, attempt, possibleDuplicates, carrierMessageId } of await readQueue(db.database)) {
      const expected = resent.has(id) ? ['queued', 2, 1, null] : ['sent', 1, 0, carrierIdOf(id, 1)];
      assert.deepEqual([status, attempt, possibleDuplicates, carrierMessageId], expected);
    }
  });
});
