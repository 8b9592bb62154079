import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import { createDeliveryWorker } from '../../src/delivery/worker/worker.ts';
import { type Clock, hourMs, minuteMs, systemClock } from '../../src/platform/clock.ts';
import { watchClock } from '../../src/platform/database/clock-check.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { acceptAll, acceptMessages, createRecordingCarrier, readQueue, readRow } from '../support/recording-carrier.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

/** A node of its own: its clock, its pool, its connection to the carrier. */
function createNode(of = db) {
  let offMs = 0;
  let afterCheck = () => {};
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + offMs };
  const database = of.another();
  const { log, lines } = createTestLog();
  const watch = watchClock(database, clock, log);
  const carrier = createRecordingCarrier({ capacity: 40, submitTimeoutMs: 5000 });
  // Slow, so that claims are open while the other node polls for expired leases.
  carrier.answer = async (texts) => {
    await new Promise((done) => setTimeout(done, 100));
    return acceptAll(texts);
  };
  const worker = createDeliveryWorker({
    database,
    clock,
    log,
    carrier,
    receipts: createReceipts({ database, clock }),
    renderText: (message) => message.body ?? 'the code',
    findPending: async (ids) => new Set(ids),
    nextCarrier: () => undefined,
    alone: false,
    atMostOnce: false,
    isClockRight() {
      const isRight = watch.isRight();
      afterCheck();
      return isRight;
    },
    onCount: () => {},
  });
  return {
    carrier,
    watch,
    lines,
    start: () => worker.start(),
    state: () => worker.state,
    turn(ms: number) {
      offMs = ms;
    },
    /** Turns it between this check of the clock and what follows. */
    turnAfterCheck(index: number, ms: number) {
      let checks = 0;
      return new Promise<void>((done) => {
        afterCheck = () => {
          if (checks++ !== index) return;
          offMs = ms;
          done();
        };
      });
    },
    async stop() {
      await worker.stop();
      watch.stop();
    },
  };
}

describe('one node’s clock is turned under load', () => {
  test('nothing is sent twice or early, the node stops at once, and goes on when its clock is right', async () => {
    const [steady, turned] = [createNode(), createNode()];
    const load = { database: db.database, clock: systemClock };
    let accepted = 0;
    const accept = async (count: number) => {
      accepted += count;
      await acceptMessages(load, count);
    };
    const [later] = await acceptMessages(load, 1, {
      status: 'scheduled',
      sendAtMs: systemClock.nowMs() + 30 * minuteMs,
    });
    steady.start();
    turned.start();
    try {
      for (let round = 0; round < inShort(1, 10); round++) {
        for (const ms of [hourMs, -hourMs]) {
          await accept(120);
          turned.turn(ms);
          assert.equal(turned.watch.isRight(), false, 'it knows before it has asked the database');
          await turned.watch.compare();
          assert.equal(turned.watch.isRight(), false);
          const sent = () => steady.carrier.submits.length + turned.carrier.submits.length === accepted;
          // A claim that was under way when the clock was turned goes on.
          await eventually('what waited is sent', sent, { withinMs: 120_000 });
          const before = turned.carrier.submits.length;
          await accept(200);
          await eventually('the other node sends all', sent, { withinMs: 120_000 });
          assert.equal(turned.carrier.submits.length, before, 'it takes nothing');
          turned.turn(0);
          await turned.watch.compare();
          assert.equal(turned.watch.isRight(), true);
          const had = turned.carrier.submits.length;
          await eventually('it works again', async () => {
            await accept(20);
            return turned.carrier.submits.length > had;
          });
        }
      }
      await eventually('all is recorded', async () => {
        const rows = await readQueue(db.database);
        return rows.filter(({ status }) => status === 'sent').length === accepted;
      });
    } finally {
      await Promise.all([steady.stop(), turned.stop()]);
    }
    const submits = [...steady.carrier.submits, ...turned.carrier.submits].map(({ messageId }) => messageId);
    assert.equal(submits.length, accepted);
    assert.equal(new Set(submits).size, accepted);
    for (const { possibleDuplicates } of await readQueue(db.database)) assert.equal(possibleDuplicates, 0);
    assert.equal((await readRow(db.database, later?.id ?? '')).status, 'scheduled');
    assert.ok(turned.lines.some((line) => line.includes('delivers nothing until they agree')));
  });
});

test('a clock that is turned right after any check of it queues no text early, and expires none', async () => {
  const own = await createTestDatabase();
  const load = { database: own.database, clock: systemClock };
  const [later] = await acceptMessages(load, 1, { status: 'scheduled', sendAtMs: systemClock.nowMs() + 30 * minuteMs });
  for (let check = 0; check < 12; check++) {
    const node = createNode(own);
    const turned = node.turnAfterCheck(check, hourMs);
    const [text] = await acceptMessages(load, 1);
    node.start();
    await turned;
    await eventually('the worker stands still', () => node.state() === 'clock_wrong');
    await node.stop();
    assert.equal((await readRow(own.database, later?.id ?? '')).status, 'scheduled', `check ${check}`);
    assert.match((await readRow(own.database, text?.id ?? '')).status, /queued|sent/, `check ${check}`);
  }
  await own.drop();
});
