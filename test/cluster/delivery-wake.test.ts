import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createDelivery, deliveryChannel } from '../../src/compose/delivery.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { type Listener, openListener } from '../../src/platform/database/listener.ts';
import { createNotifier, namesIn } from '../../src/platform/database/notifier.ts';
import { readConfig } from '../../src/settings/settings.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { openTestKeyRing } from '../support/key-ring.ts';
import { createTestLog } from '../support/log.ts';
import { acceptMessages, readRow } from '../support/recording-carrier.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

function counting(database: Database): { database: Database; sent: () => number } {
  let sent = 0;
  const query: Database['query'] = (statement, values) => {
    sent += 1;
    return database.query(statement, values);
  };
  return { database: { ...database, query }, sent: () => sent };
}

async function listening(): Promise<{ heard: () => number; payloads: string[]; listener: Listener }> {
  const payloads: string[] = [];
  const onNotified = (payload: string) => void payloads.push(payload);
  const listener = await openListener({ database: db.another(), channel: deliveryChannel, onNotified });
  return { heard: () => payloads.length, payloads, listener };
}

test('a thousand commits wake other nodes at most every 50 ms, and the last one wakes them', async () => {
  const { heard, listener } = await listening();
  const { database, sent } = counting(db.database);
  const { notify } = createNotifier({ database, channel: deliveryChannel });
  const startedMs = performance.now();
  for (let commit = 0; commit < 1000; commit++) {
    notify();
    if (commit % 100 === 0) await pause(10);
  }
  await eventually('all of them are heard, and it is quiet again', async () => {
    const before = sent();
    await pause(120);
    return sent() === before && heard() === before;
  });
  assert.ok(sent() >= 2, 'the last one wakes them');
  assert.ok(sent() <= 2 + (performance.now() - startedMs) / 50, `${sent()} notifications`);
  await listener.stop();
});

test('a wake names the carriers: those of a pause together, none for an empty list, all if they are too many', async () => {
  const { payloads, listener } = await listening();
  /** The wakes that several calls in one turn cause: the first is sent at once, the others after a pause. */
  async function told(count: number, ...calls: (string[] | undefined)[]) {
    payloads.length = 0;
    const { notify } = createNotifier({ database: db.database, channel: deliveryChannel });
    for (const names of calls) notify(names);
    await eventually('it is heard', () => payloads.length === count);
    return payloads.map(namesIn);
  }
  const [a, b] = ['a#1', 'b#2'];
  assert.deepEqual(await told(2, [], [a], [b], [a, b], []), [[a], [b, a]]);
  assert.deepEqual(await told(2, [a], [b], undefined), [[a], undefined]);
  // Of two octets each, so that characters alone would be too few.
  const many = Array.from({ length: 500 }, (_, number) => `${'é'.repeat(6)}#${100 + number}`);
  assert.deepEqual(await told(1, many), [undefined]);
  assert.deepEqual(await told(1, many.slice(0, 400)), [many.slice(0, 400)]);
  await listener.stop();
});

test('a listener listens again after it lost its connection', async () => {
  const { heard, listener } = await listening();
  const ended = await db.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where query = $1 and datname = current_database() and pid <> pg_backend_pid()`,
    [`listen ${deliveryChannel}`],
  );
  // The one of the test before may still be going.
  assert.ok(ended.count >= 1);
  const { notify } = createNotifier({ database: db.database, channel: deliveryChannel });
  await eventually('it hears again', () => {
    notify();
    return heard() > 0;
  });
  await listener.stop();
});

test('a worker of several nodes is woken by a node that only answers requests, of this version or an older one', async () => {
  const clock = createTestClock();
  const config = readConfig({ REDIS_URL: 'redis://127.0.0.1:1' });
  const keys = await openTestKeyRing(db.database, clock);
  const { log } = createTestLog();
  const delivery = createDelivery({
    config,
    database: db.another(),
    clock,
    keys,
    log,
    onCount: () => {},
    onCarrierCount: () => {},
    onMaintenance: () => {},
  });
  await delivery.start();
  const { notify } = createNotifier({ database: db.database, channel: deliveryChannel });
  for (const names of [['sandbox'], ['other', 'sandbox'], undefined]) {
    const [message] = await acceptMessages({ database: db.database, clock, carrier: 'sandbox' }, 1);
    notify(names);
    await eventually('it is delivered', async () => {
      clock.advance(10);
      return (await readRow(db.database, message?.id ?? '')).status === 'delivered';
    });
  }
  await delivery.stop();
});
