import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { ScheduledText } from '../../src/delivery/attempts/queued-text.ts';
import { createClaims, giveBackClaim, newToken } from '../../src/delivery/queue/claim-store.ts';
import { releaseClaims } from '../../src/delivery/queue/release-store.ts';
import { recordClaim } from '../../src/delivery/queue/result-store.ts';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import { createDeliveryWorker, type DeliveryWorkerOptions } from '../../src/delivery/worker/worker.ts';
import type { Message } from '../../src/messages/message.ts';
import { hourMs, minuteMs } from '../../src/platform/clock.ts';
import type { Database, Statement } from '../../src/platform/database/database.ts';
import { unavailable } from '../../src/platform/errors.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createDeliverySteps, endLeases } from '../support/delivery-steps.ts';
import { checkEvents, listen, watchStates } from '../support/event-witness.ts';
import { createTestLog } from '../support/log.ts';
import {
  acceptAll,
  acceptMessages,
  createRecordingCarrier,
  emptyTables,
  readQueue,
  readRow,
  testApplicationId,
  testVerificationId,
} from '../support/recording-carrier.ts';

const carrier = 'test';
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
  acceptMessages({ database: db.database, clock, carrier }, count, changes);

function createWorker(options: Partial<DeliveryWorkerOptions> = {}) {
  const recording = createRecordingCarrier();
  const { log, lines } = createTestLog();
  const database = options.database ?? db.database;
  const worker = createDeliveryWorker({
    database,
    clock,
    log,
    carrier: recording,
    receipts: createReceipts({ database, clock }),
    renderText: (message) => message.body ?? 'the code',
    findPending: async (ids) => new Set(ids),
    nextCarrier: () => undefined,
    alone: false,
    atMostOnce: true,
    onCount: () => {},
    ...options,
  });
  return { worker, carrier: recording, logLines: lines };
}

/** Postgres does the statement, and its answer is lost. */
function losingAnswers(loses: (statement: Statement | string) => boolean): Database {
  return {
    ...db.database,
    async query(statement, values) {
      const answer = await db.database.query<never>(statement, values);
      if (loses(statement)) throw unavailable('the answer was lost');
      return answer;
    },
  };
}

const isClaim = (statement: Statement | string) => typeof statement !== 'string' && /^claim-/.test(statement.name);
const isRead = (statement: Statement | string) =>
  typeof statement !== 'string' && statement.name === 'select-texts-to-send';

/** Fails the first `count` times. */
function firstTimes(count: number, fits: (statement: Statement | string) => boolean) {
  let left = count;
  return (statement: Statement | string) => fits(statement) && left-- > 0;
}

async function expectSentOnce(count: number, submits: number): Promise<void> {
  assert.equal(submits, count);
  const rows = await readQueue(db.database);
  assert.equal(rows.length, count);
  for (const { status, attempt, possibleDuplicates, location: place } of rows) {
    assert.deepEqual([status, attempt, possibleDuplicates, place], ['sent', 1, 0, null]);
  }
}

describe('what was never submitted is never in doubt', () => {
  for (const [what, fits, lost] of [
    ['the answer of the claim is lost', isClaim, true],
    ['the read after the claim fails', isRead, false],
  ] as const) {
    test(`${what}: the texts go out once, at once, and unmarked`, async () => {
      await accept(5);
      const fails = firstTimes(1, fits);
      const failing: Database = {
        ...db.database,
        query: (statement, values) =>
          fails(statement) ? Promise.reject(unavailable('away')) : db.database.query(statement, values),
      };
      const database = lost ? losingAnswers(fails) : failing;
      const { worker, carrier } = createWorker({ database });
      await worker.runUntilIdle().catch(() => {});
      assert.equal(carrier.submits.length, 0);
      await worker.runUntilIdle();
      await expectSentOnce(5, carrier.submits.length);
    });
  }

  test('when the read of verifications fails after the claim, the claim is given back as well', async () => {
    await accept(2, { api: 'verify', verificationId: testVerificationId, body: null });
    let failures = 1;
    const { worker, carrier } = createWorker({
      findPending: async (ids) => {
        if (failures-- > 0) throw unavailable('away');
        return new Set(ids);
      },
    });
    await worker.runUntilIdle().catch(() => {});
    await worker.runUntilIdle();
    await expectSentOnce(2, carrier.submits.length);
  });

  test('the database stays away while the claim is given back: it is tried again', async () => {
    await accept(3);
    const isGiveBack = (statement: Statement | string) =>
      String(statement).includes('delete from delivery_claim where token');
    const claims = firstTimes(1, isClaim);
    const givesBack = firstTimes(2, isGiveBack);
    const { worker, carrier } = createWorker({
      database: losingAnswers((statement) => claims(statement) || givesBack(statement)),
    });
    for (let tries = 0; tries < 4; tries++) await worker.runUntilIdle().catch(() => {});
    await expectSentOnce(3, carrier.submits.length);
  });

  test('a claim that commits after its worker gave up on its answer is found', async () => {
    await accept(3);
    const claimNext = createClaims(db.database);
    let late: (() => Promise<unknown>) | undefined;
    const database: Database = {
      ...db.database,
      query(statement, values) {
        if (!isClaim(statement) || late !== undefined) return db.database.query(statement, values);
        late = () => db.database.query(statement, values);
        return Promise.reject(unavailable('no answer yet'));
      },
    };
    const { worker, carrier } = createWorker({ database });
    await worker.runUntilIdle().catch(() => {});
    await late?.();
    assert.equal(
      await claimNext({ carrier: 'test', nowMs: clock.nowMs(), leaseMs: 1000, limits: { first: 9, bulk: 9 } }),
      undefined,
    );
    clock.advance(1000);
    await worker.runUntilIdle();
    await expectSentOnce(3, carrier.submits.length);
  });

  test('an entry is given back as it was, and one that a receipt has settled is not', async () => {
    const [queued, doubtful, settled] = await accept(3);
    if (queued === undefined || doubtful === undefined || settled === undefined) throw new Error('no message');
    await db.database.query(
      `update delivery_queue set attempt = 3, unanswered = 1, possible_duplicates = 2, in_doubt = true, moves = 1
       where message_id = $1`,
      [uuidOf(doubtful.id)],
    );
    const before = await readQueue(db.database);
    const token = newToken();
    const limits = { first: 10, bulk: 10 };
    await createClaims(db.database)({ carrier, token, nowMs: clock.nowMs(), leaseMs: 60_000, limits });
    const receipt = { carrierMessageId: 'x', keys: [], numbers: [], messageId: settled.id, error: null };
    await createReceipts({ database: db.database, clock }).apply({ key: carrier, account: carrier }, [
      { ...receipt, outcome: 'delivered' },
    ]);
    assert.equal(await giveBackClaim(db.database, token), true);
    assert.equal(await giveBackClaim(db.database, token), false);
    const now = await readQueue(db.database);
    assert.deepEqual(
      now.filter(({ id }) => id !== settled.id),
      before.filter(({ id }) => id !== settled.id),
    );
    assert.equal(now.find(({ id }) => id === settled.id)?.location, null);
    const { rows } = await db.database.query<{ moves: number; expiresAtMs: number }>(
      'select moves, expires_at as "expiresAtMs" from delivery_queue where message_id = $1',
      [uuidOf(doubtful.id)],
    );
    assert.deepEqual(rows, [{ moves: 1, expiresAtMs: doubtful.expiresAtMs }]);
  });
});

describe('a result is applied once', () => {
  test('a statement whose answer was lost changes nothing when it is repeated, although the claim is still open', async () => {
    const steps = createDeliverySteps(db.database, clock);
    await accept(2);
    const claim = await steps.claim();
    const [first, second] = claim?.texts ?? [];
    if (claim === undefined || first === undefined || second === undefined) throw new Error('nothing was claimed');
    const entry = { ...first.entry, attempt: 1 };
    const again: ScheduledText[] = [{ entry, carrier, dueAtMs: clock.nowMs(), long: undefined }];
    const results = { carrier, account: carrier, ended: [], again, nowMs: clock.nowMs() };
    const record = () => recordClaim(db.database, claim, results, [second.entry]);
    await record();
    // The first text is due again, and another claim has it when the statement is repeated.
    await steps.queueDue();
    const other = await createDeliverySteps(db.database, clock).claim();
    assert.deepEqual(
      other?.texts.map(({ message }) => message.id),
      [first.message.id],
    );
    await record();
    // It throws if a message is in two places.
    const rows = await readQueue(db.database);
    assert.equal(rows.length, 2);
    for (const { location: place } of rows) assert.equal(place, 'claim');
  });

  test('a worker whose answers are lost sends each text once', async () => {
    await accept(20);
    const isResult = (statement: Statement | string) => String(statement).startsWith('with open');
    let results = 0;
    const database = losingAnswers((statement) => isResult(statement) && results++ % 2 === 0);
    const { worker, carrier } = createWorker({ database });
    await worker.runUntilIdle();
    await expectSentOnce(20, carrier.submits.length);
  });
});

describe('leases go by the clock of Postgres', () => {
  test('a node whose clock is an hour ahead, or behind, releases no claim of a live worker', async () => {
    await accept(3);
    await createDeliverySteps(db.database, clock).claim();
    for (const ms of [hourMs, -2 * hourMs]) {
      clock.advance(ms);
      const released = await releaseClaims(db.database, {
        carrier,
        nowMs: clock.nowMs(),
        atMostOnce: false,
        all: false,
      });
      assert.equal(released, 0);
    }
    await endLeases(db.database);
    assert.equal(await releaseClaims(db.database, { carrier, nowMs: clock.nowMs(), atMostOnce: false, all: false }), 3);
  });

  test('a text that its worker found expired is not in doubt, although the clocks of two nodes differ', async () => {
    const [message] = await accept(1, { expiresAtMs: clock.nowMs() + 1000 });
    if (message === undefined) throw new Error('no message');
    clock.advance(1000);
    // The worker dies before it has written that the text is expired.
    await createClaims(db.database)({ carrier, nowMs: clock.nowMs(), leaseMs: 1, limits: { first: 9, bulk: 9 } });
    await endLeases(db.database);
    clock.advance(-1500);
    await releaseClaims(db.database, { carrier, nowMs: clock.nowMs(), atMostOnce: true, all: false });
    const { onTheWire, attempt } = await readRow(db.database, message.id);
    assert.deepEqual([onTheWire, attempt], [false, 0]);
  });

  test('a node with a wrong clock takes nothing, and goes on when it is right', async () => {
    await accept(3);
    let isRight = false;
    const { worker, carrier } = createWorker({ isClockRight: () => isRight });
    worker.start();
    try {
      const [scheduled] = await accept(1, { status: 'scheduled', sendAtMs: clock.nowMs() + minuteMs });
      clock.advance(hourMs);
      await new Promise((done) => setTimeout(done, 50));
      assert.equal(carrier.submits.length, 0);
      assert.equal((await readRow(db.database, scheduled?.id ?? '')).location, 'schedule');
      isRight = true;
      worker.wake();
      while (carrier.submits.length < 4) await new Promise((done) => setTimeout(done, 10));
    } finally {
      await worker.stop();
    }
  });
});

describe('one bad result', () => {
  const bad = 'refused by the database';
  before(async () => {
    await db.database.query(`create function refuse_row() returns trigger language plpgsql as $$ begin
        if new.carrier_message_id = '${bad}' or new.reference = '${bad}' and new.status <> old.status then
          raise exception 'this row is bad' using errcode = '22000';
        end if;
        return new;
      end $$`);
    await db.database.query(
      'create trigger refuse_row before update on message for each row execute function refuse_row()',
    );
  });
  after(() => db.database.query('drop function refuse_row cascade'));

  test('an id that Postgres refuses costs that id, and no other result', async () => {
    const messages = await accept(9);
    const { worker, carrier, logLines } = createWorker();
    carrier.answer = (texts) =>
      texts.map(({ messageId }, place) => ({
        outcome: 'accepted',
        carrierMessageId: messageId === messages[4]?.id ? bad : `id ${place}`,
      }));
    await worker.runUntilIdle();
    await expectSentOnce(9, carrier.submits.length);
    const without = (await readQueue(db.database)).filter(({ carrierMessageId }) => carrierMessageId === null);
    assert.deepEqual(
      without.map(({ id }) => id),
      [messages[4]?.id],
    );
    assert.ok(logLines.some((line) => line.includes('without the carrier') && line.includes(messages[4]?.id ?? '-')));
  });

  test('a record that cannot be changed stays in the claim, and the others are recorded', async () => {
    const [stuck] = await accept(1, { reference: bad });
    await accept(6);
    const { worker, carrier } = createWorker();
    carrier.answer = acceptAll;
    await worker.runUntilIdle();
    const rows = await readQueue(db.database);
    assert.equal(carrier.submits.length, 7);
    assert.deepEqual(
      rows.filter(({ status }) => status !== 'sent').map(({ id, location: place }) => [id, place]),
      [[stuck?.id, 'claim']],
    );
    assert.equal(rows.filter(({ location: place }) => place === null).length, 6);
    await db.database.query('truncate delivery_claim');
  });
});
