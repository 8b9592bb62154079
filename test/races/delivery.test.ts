import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Claim } from '../../src/delivery/attempts/queued-text.ts';
import type { Receipt } from '../../src/delivery/carrier/carrier.ts';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import type { Message } from '../../src/messages/message.ts';
import { createMessageService } from '../../src/messages/message-service.ts';
import { cancelMessages } from '../../src/messages/message-store.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { sqlStateOf } from '../../src/platform/database/errors.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type Answer,
  accepted,
  attemptOf,
  createDeliverySteps,
  type DeliverySteps,
  leaseMs,
  tryLater,
  unanswered,
} from '../support/delivery-steps.ts';
import { checkEvents, listen, watchStates } from '../support/event-witness.ts';
import {
  acceptMessages,
  carrierIdOf,
  emptyTables,
  readQueue,
  testApplicationId,
} from '../support/recording-carrier.ts';
import { routeTo } from '../support/routes.ts';

const carrier = 'test';
const source = { key: carrier, account: carrier };
let db: TestDatabase;
let clock: TestClock;
/** The worker's own pool, as in the service: it never waits for a connection behind the requests. */
let workers: Database;
let steps: DeliverySteps;
before(async () => {
  db = await createTestDatabase();
  await watchStates(db.database);
  await listen(db.database, [testApplicationId]);
  workers = db.another();
});
after(() => checkEvents(db.database).finally(() => db.drop()));
beforeEach(async () => {
  clock = createTestClock();
  steps = createDeliverySteps(workers, clock, carrier);
  await emptyTables(db.database);
});

async function accept(count: number, changes: Partial<Message> = {}): Promise<string[]> {
  const messages = await acceptMessages({ database: db.database, clock, carrier }, count, changes);
  return messages.map(({ id }) => id);
}

/** Claims until all is claimed, as several workers at once would. */
async function claimAll(callers: number, limit: number): Promise<Claim[]> {
  const claims: Claim[] = [];
  async function work(): Promise<void> {
    const { queueDue, claim } = createDeliverySteps(workers, clock, carrier);
    for (;;) {
      await queueDue();
      const found = await claim(limit);
      if (found !== undefined) claims.push(found);
      const { count } = await workers.query(
        'select from delivery_queue union all select from delivery_schedule where due_at <= $1',
        [new Date(clock.nowMs()).toISOString()],
      );
      if (count === 0) return;
    }
  }
  await Promise.all(Array.from({ length: callers }, work));
  return claims;
}

function idsOf(claims: Claim[]): string[] {
  return claims.flatMap(({ texts }) => texts.map(({ message }) => message.id));
}

/** Texts in doubt that are due: their first submit had no answer. */
async function acceptInDoubt(count: number, limit: number): Promise<{ ids: string[]; claims: Claim[] }> {
  const ids = await accept(count);
  const claims = await claimAll(1, limit);
  for (const claim of claims) await steps.record(claim, unanswered);
  clock.advance(1000);
  return { ids, claims };
}

function deliveredOf(ids: string[]): Receipt[] {
  return ids.map((id) => ({
    carrierMessageId: carrierIdOf(id, 1),
    keys: [carrierIdOf(id, 1)],
    numbers: [],
    messageId: id,
    outcome: 'delivered',
    error: null,
  }));
}

/** Hands over receipts in several batches at once. */
function applyInParts(receipts: Receipt[], size: number): Promise<void>[] {
  const { apply } = createReceipts({ database: db.database, clock });
  const parts = Array.from({ length: Math.ceil(receipts.length / size) }, (_, part) =>
    receipts.slice(part * size, (part + 1) * size),
  );
  return parts.map((part) => apply(source, part));
}

/** Tries again what had no message, until all is found. */
async function rematchAll(): Promise<void> {
  const { rematch } = createReceipts({ database: db.database, clock });
  clock.advance(1000);
  while ((await rematch()) > 0) clock.advance(1000);
}

function shuffled<Item>(items: Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

const cancel = (id: string) =>
  cancelMessages(db.database, [{ applicationId: testApplicationId, api: 'sms', id }], clock.nowMs()).then((all) =>
    all.get(id),
  );

describe('at the same moment', () => {
  test('eight claims: every message in exactly one of them', async () => {
    const ids = await accept(600);
    const claims = await claimAll(8, 17);
    assert.deepEqual(idsOf(claims).toSorted(byText), ids.toSorted(byText));
    for (const { texts } of claims) for (const text of texts) assert.equal(attemptOf(text), 1);
  });

  test('a claim and a cancel: canceled or sent, never both, never neither', async () => {
    const ids = await accept(300);
    const canceled = new Set<string>();
    const cancels = shuffled(ids).map(async (id) => {
      if ((await cancel(id)) !== undefined) canceled.add(id);
    });
    const [claims] = await Promise.all([claimAll(3, 5), ...cancels]);
    const claimed = idsOf(claims);
    const taken = new Set(claimed);
    assert.equal(taken.size, claimed.length);
    for (const id of ids) assert.notEqual(taken.has(id), canceled.has(id), `${id} is both or neither`);
    for (const { id, status, location: place } of await readQueue(db.database)) {
      assert.deepEqual([status, place], canceled.has(id) ? ['canceled', null] : ['queued', 'claim']);
    }
    assert.ok(taken.size > 0 && canceled.size > 0, `${taken.size} were taken, ${canceled.size} canceled`);
  });

  test('a cancel of a scheduled text while it becomes due: canceled or queued, never both, never neither', async () => {
    const service = createMessageService({ database: db.database, clock, routeText: routeTo(carrier), wake: () => {} });
    const ids = await accept(200, { status: 'scheduled', sendAtMs: clock.nowMs() + 1000 });
    clock.advance(1000);
    const canceled = new Set<string>();
    const cancels = shuffled(ids).map(async (id) => {
      const found = await service.cancel(testApplicationId, 'sms', id).catch(() => undefined);
      if (found !== undefined) canceled.add(id);
    });
    await Promise.all([...Array.from({ length: 3 }, () => steps.queueDue()), ...cancels]);
    while ((await steps.queueDue()) > 0);
    for (const { id, status, location: place } of await readQueue(db.database)) {
      assert.deepEqual([status, place], canceled.has(id) ? ['canceled', null] : ['queued', 'queue']);
    }
  });

  test('an answer and a cancel of what was put off: never canceled once it was sent', async () => {
    const ids = await accept(100);
    const [claim] = await claimAll(1, 100);
    assert.ok(claim !== undefined, 'nothing was claimed');
    const sent = new Set(ids.filter((_, index) => index % 2 === 0));
    const answer: Answer = (text) => (sent.has(text.message.id) ? accepted : tryLater)(text);
    const canceled = new Set<string>();
    await Promise.all([
      steps.record(claim, answer),
      ...shuffled(ids).map(async (id) => {
        if ((await cancel(id)) !== undefined) canceled.add(id);
      }),
    ]);
    for (const id of canceled) assert.ok(!sent.has(id), `${id} was sent and canceled`);
    for (const { id, status } of await readQueue(db.database)) {
      assert.equal(status, sent.has(id) ? 'sent' : canceled.has(id) ? 'canceled' : 'queued');
    }
  });

  test('answers, receipts of both kinds, and a retry of the unmatched at once: all end delivered, none fails', async () => {
    const receipts = createReceipts({ database: db.database, clock });
    for (let round = 0; round < 6; round++) {
      const ids = await accept(120);
      const [claim] = await claimAll(1, 120);
      assert.ok(claim !== undefined, 'nothing was claimed');
      const named = deliveredOf(shuffled(ids));
      const unnamed = shuffled(named).map((receipt) => ({ ...receipt, messageId: null }));
      await Promise.all([
        recordUntilDone(claim, accepted),
        receipts.apply(source, unnamed),
        receipts.apply(source, named),
        receipts.apply(source, shuffled(unnamed)),
        receipts.rematch(),
      ]);
      await rematchAll();
      const rows = await readQueue(db.database, ids);
      assert.deepEqual(
        new Set(rows.map(({ status, location: place }) => `${status} ${place}`)),
        new Set(['delivered null']),
      );
    }
  });

  test('one answer that arrives from two sides is written once', async () => {
    await accept(100);
    const [claim] = await claimAll(1, 100);
    assert.ok(claim !== undefined, 'nothing was claimed');
    const sides = Array.from({ length: 4 }, () => ({ ...claim, texts: shuffled(claim.texts) }));
    await Promise.all(sides.map((side) => steps.record(side, accepted)));
    for (const { status, sequence, location: place } of await readQueue(db.database)) {
      assert.deepEqual([status, sequence, place], ['sent', 1, null]);
    }
  });

  test('an answer that comes while the text is claimed again: one of the two holds, whole', async () => {
    const { claims: first } = await acceptInDoubt(200, 20);
    const [again] = await Promise.all([
      claimAll(3, 20),
      ...first.map((claim) => steps.recordLate(claim, accepted).catch(ignoreDeadlock)),
    ]);
    const resent = new Set(idsOf(again));
    for (const row of await readQueue(db.database)) {
      const { id, status, attempt, possibleDuplicates, carrierMessageId, location: place } = row;
      const expected = resent.has(id) ? ['queued', 2, 1, null, 'claim'] : ['sent', 1, 0, carrierIdOf(id, 1), null];
      assert.deepEqual([status, attempt, possibleDuplicates, carrierMessageId, place], expected);
    }
  });

  test('a receipt of a text in doubt while it is claimed again: delivered, and marked if it was sent twice', async () => {
    for (let round = 0; round < 4; round++) {
      const { ids } = await acceptInDoubt(200, 100);
      const [again] = await Promise.all([claimAll(3, 10), ...applyInParts(deliveredOf(shuffled(ids)), 10)]);
      const resent = new Set(idsOf(again));
      await rematchAll();
      for (const { id, status, attempt, possibleDuplicates, location: place } of await readQueue(db.database, ids)) {
        const expected = resent.has(id) ? ['delivered', 2, 1, 'claim'] : ['delivered', 1, 0, null];
        assert.deepEqual([status, attempt, possibleDuplicates, place], expected);
      }
      for (const claim of again) await steps.record(claim, accepted);
    }
    assert.equal((await readQueue(db.database)).filter(({ location: place }) => place !== null).length, 0);
  });

  for (const [what, answer] of [
    ['is put off', tryLater],
    ['has no answer', unanswered],
  ] as const) {
    test(`a receipt of a text while it ${what}: delivered, and not sent again`, async () => {
      for (let round = 0; round < 4; round++) {
        const ids = await accept(200);
        const claims = await claimAll(1, 20);
        await Promise.all([
          ...claims.map((claim) => recordUntilDone(claim, answer)),
          ...applyInParts(deliveredOf(shuffled(ids)), 20),
        ]);
        await rematchAll();
        for (const { status, location: place } of await readQueue(db.database, ids)) {
          assert.deepEqual([status, place], ['delivered', null]);
        }
      }
    });
  }

  test('a receipt of a text while the claim of its dead worker is released: delivered, and not sent again', async () => {
    for (let round = 0; round < 4; round++) {
      const ids = await accept(200);
      await claimAll(1, 20);
      clock.advance(leaseMs);
      await Promise.all([steps.release(), ...applyInParts(deliveredOf(shuffled(ids)), 20)]);
      await rematchAll();
      for (const { status, location: place } of await readQueue(db.database, ids)) {
        assert.deepEqual([status, place], ['delivered', null]);
      }
    }
  });

  test('eight workers release the claims of a dead one: each text goes back once', async () => {
    const ids = await accept(300);
    await claimAll(1, 30);
    clock.advance(leaseMs);
    const released = await Promise.all(Array.from({ length: 8 }, () => steps.release()));
    assert.equal(
      released.reduce((sum, count) => sum + count, 0),
      300,
    );
    for (const { status, location: place, attempt, onTheWire } of await readQueue(db.database, ids)) {
      assert.deepEqual([status, place, attempt, onTheWire], ['queued', 'schedule', 1, true]);
    }
  });

  test('the answers of a thawed worker and the release of its claims: one of the two holds, for whole claims', async () => {
    await accept(200);
    const claims = await claimAll(1, 20);
    clock.advance(leaseMs);
    const [, ...released] = await Promise.all([
      Promise.all(claims.map((claim) => steps.record(claim, accepted))),
      steps.release(),
      steps.release(),
    ]);
    const rows = new Map((await readQueue(db.database)).map((row) => [row.id, `${row.status} ${row.location}`]));
    let back = 0;
    for (const claim of claims) {
      const states = new Set(idsOf([claim]).map((id) => rows.get(id)));
      assert.equal(states.size, 1, 'half a claim');
      assert.ok(states.has('sent null') || states.has('queued schedule'), [...states].join());
      if (states.has('queued schedule')) back += claim.texts.length;
    }
    assert.equal(
      released.reduce((sum, count) => sum + count, 0),
      back,
    );
  });
});

const byText = (a: string, b: string) => (a < b ? -1 : 1);

/** As a worker does: it writes its results again until the database takes them. */
async function recordUntilDone(claim: Claim, answer: Answer): Promise<void> {
  for (;;) {
    const error = await steps.record(claim, answer).then(() => undefined, toError);
    if (error === undefined) return;
    ignoreDeadlock(error);
  }
}

const toError = (reason: unknown) => reason as Error;

/** Postgres ends one of two transactions that wait for each other; its texts stay as they were. */
function ignoreDeadlock(error: unknown): void {
  if (sqlStateOf(error) !== '40P01') throw error;
}
