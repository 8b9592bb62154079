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
function createNode() {
  let offMs = 0;
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + offMs };
  const database = db.another();
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
    isClockRight: watch.isRight,
    onCount: () => {},
  });
  return {
    carrier,
    watch,
    lines,
    start: () => worker.start(),
    turn(ms: number) {
      offMs = ms;
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
