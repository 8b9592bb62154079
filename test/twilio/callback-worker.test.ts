// The worker of status callbacks and its store: two nodes, crashes, many applications, addresses, and what ends a call.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { reportChanges } from '../../src/messages/message-events.ts';
import { createMessageRetention } from '../../src/messages/message-retention.ts';
import { statusCode } from '../../src/messages/message-row.ts';
import { dayMs, toTimestamp } from '../../src/platform/clock.ts';
import { createWebhookGuard } from '../../src/platform/http-out/address-guard.ts';
import { createGuardedClient } from '../../src/platform/http-out/client.ts';
import { fromUuid, uuidOf } from '../../src/platform/ids.ts';
import { deleteArrivalsOf } from '../../src/sandbox/handsets.ts';
import { claimCalls, findReady } from '../../src/twilio/callbacks/store.ts';
import { type CallbackWorker, createCallbackWorker } from '../../src/twilio/callbacks/worker.ts';
import { idOf } from '../../src/twilio/sid.ts';
import { createTwilioTokens } from '../../src/twilio/token.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { createTwilioCaller, type TwilioCaller } from './caller.ts';
import { createStatusReceiver, type StatusReceiver, stall } from './status-receiver.ts';

/** Its texts stay where they are, and it makes no call itself. */
let app: TestApp;
let acme: TwilioCaller;
let receiver: StatusReceiver;
let workers: CallbackWorker[];
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  acme = await createTwilioCaller(app);
});
after(() => app.close());
beforeEach(async () => {
  receiver = await createStatusReceiver();
  workers = [];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await receiver.close();
  await app.db.database.query('delete from status_call');
});

const { log } = createTestLog();
function startWorker({ most = 64, environment = 'sandbox' as const, timeoutMs = 15_000 }: StartOptions = {}) {
  const guard = createWebhookGuard(environment);
  const worker = createCallbackWorker({
    ...{ database: app.db.another(), clock: app.clock, log, most },
    client: createGuardedClient({ guard, clock: app.clock, timeoutMs }),
    tokens: createTwilioTokens(app.keys),
  });
  workers.push(worker);
  worker.start();
  return worker;
}
interface StartOptions {
  most?: number;
  environment?: 'sandbox' | 'production';
  timeoutMs?: number;
}

/** A text that has an address, as the uuid of its row. */
async function addText(caller = acme, form: Record<string, string> = {}): Promise<string> {
  const { body } = await caller.post<{ sid: string }>(`${caller.messages}.json`, {
    ...{ To: caller.newNumber(), From: 'ACME', Body: 'Hello', StatusCallback: receiver.url },
    ...form,
  });
  return uuidOf(idOf('SM', body.sid) ?? '');
}

/** As if the text had changed that often. */
async function addCalls(count: number, { caller = acme, url = receiver.url } = {}): Promise<string> {
  const messageId = await addText(caller);
  await app.db.database.query(
    `insert into status_call (application_id, message_id, sequence, url, status, due_at)
     select $1, $2, n, $3, ${statusCode('sent')}, $4 from generate_series(1, $5) n`,
    [uuidOf(caller.id), messageId, url, toTimestamp(app.clock.nowMs()), count],
  );
  for (const worker of workers) worker.wake();
  return messageId;
}

interface CallRow {
  sequence: number;
  attempts: number;
  isFree: boolean;
  waitsMs: number;
}
async function readCalls(messageId: string): Promise<CallRow[]> {
  const { rows } = await app.db.database.query<CallRow>(
    `select sequence, attempts, leased_until is null as "isFree",
       extract(epoch from due_at - $2::timestamptz)::float8 * 1000 as "waitsMs"
     from status_call where message_id = $1 order by sequence`,
    [messageId, toTimestamp(app.clock.nowMs())],
  );
  return rows;
}
const keysOf = (messageId: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ messageId: fromUuid('msg', messageId), sequence: n + 1 }));

describe('several workers', () => {
  test('two at once make each call once', async () => {
    const messageId = await addCalls(120);
    startWorker();
    startWorker();
    await eventually('all were made', async () => (await readCalls(messageId)).length === 0);
    const tokens = receiver.requests.map(({ headers }) => headers['i-twilio-idempotency-token']);
    assert.deepEqual([tokens.length, new Set(tokens).size], [120, 120]);
  });

  test('claims at the same moment: each call goes to one; none that another has put off', async () => {
    const messageId = await addCalls(40);
    const { database } = app.db;
    const nowMs = app.clock.nowMs();
    const claimed = await Promise.all([1, 2, 3, 4].map(() => claimCalls(database, keysOf(messageId, 40), nowMs)));
    const sequences = claimed.flat().map(({ sequence }) => sequence);
    assert.deepEqual([sequences.length, new Set(sequences).size], [40, 40]);
    await database.query(`update status_call set leased_until = null, due_at = due_at + interval '5 seconds'`);
    assert.deepEqual(await claimCalls(database, keysOf(messageId, 40), nowMs), []);
    assert.equal((await claimCalls(database, keysOf(messageId, 40), nowMs + 5000)).length, 40);
  });

  test('a call of a node that died is made when its lease has ended', async () => {
    const messageId = await addCalls(1);
    const { database } = app.db;
    assert.equal((await claimCalls(database, keysOf(messageId, 1), app.clock.nowMs())).length, 1);
    startWorker();
    const made = await addCalls(1);
    await eventually('another call is made meanwhile', async () => (await readCalls(made)).length === 0);
    assert.equal((await readCalls(messageId)).length, 1);
    await database.query(`update status_call set leased_until = now() - interval '1 second'`);
    await eventually('it is made', async () => (await readCalls(messageId)).length === 0);
    assert.equal(receiver.requests.length, 2);
  });

  test('a worker that stops gives back what is under way, and it does not count as an attempt', async () => {
    receiver.respond = stall;
    const messageId = await addCalls(1);
    const worker = startWorker();
    await eventually('the call', () => receiver.requests.length === 1);
    await worker.stop();
    assert.deepEqual(await readCalls(messageId), [{ sequence: 1, attempts: 0, isFree: true, waitsMs: 0 }]);
  });
});

describe('an endpoint', () => {
  test('that does not answer in time has failed once', async () => {
    receiver.respond = stall;
    const messageId = await addCalls(1);
    startWorker({ timeoutMs: 100 });
    const call = await eventually('it is put off', async () => {
      const [found] = await readCalls(messageId);
      return found?.attempts === 1 && found.isFree && found;
    });
    assert.ok(call.waitsMs >= 4500 && call.waitsMs <= 5500, String(call.waitsMs));
  });

  test('in production is not called on this machine, by its address or by a name that leads here', async () => {
    const { port } = new URL(receiver.url);
    const messages = await Promise.all(
      [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`].map((url) => addCalls(1, { url })),
    );
    startWorker({ environment: 'production' });
    for (const messageId of messages)
      await eventually('it has failed', async () => {
        const [call] = await readCalls(messageId);
        return call?.attempts === 1 && call.isFree;
      });
    assert.deepEqual(receiver.requests, []);
  });

  test('that stalls holds up no other account', async () => {
    const other = await createTwilioCaller(app);
    const stalled = await createStatusReceiver(stall);
    try {
      await addCalls(100, { url: stalled.url });
      startWorker({ most: 16 });
      await eventually('it stalls', () => stalled.requests.length > 0);
      for (let calls = 0; calls < 3; calls++) {
        const messageId = await addCalls(5, { caller: other });
        await eventually('calls of the other account', async () => (await readCalls(messageId)).length === 0);
      }
      assert.ok(stalled.requests.length <= 16, `${stalled.requests.length} calls of one account`);
    } finally {
      await Promise.all(workers.splice(0).map((worker) => worker.stop()));
      await stalled.close();
    }
  });
});

describe('a search', () => {
  test('sees every application in turns, at most 50 at a time and 20 calls of each', async () => {
    const { database } = app.db;
    const nowMs = app.clock.nowMs();
    await database.query(
      `insert into status_call (application_id, message_id, sequence, url, status, due_at)
       select md5(a::text)::uuid, md5(a || ' ' || n)::uuid, n, 'https://h' || a || '.example:8443/a?b', 2,
         $1::timestamptz - n * interval '1 second'
       from generate_series(1, 120) a cross join generate_series(1, 23) n`,
      [toTimestamp(nowMs)],
    );
    // Neither due, nor free.
    await database.query(`update status_call set due_at = due_at + interval '1 hour' where sequence = 23`);
    await database.query(`update status_call set leased_until = now() + interval '30 seconds' where sequence = 22`);
    const found = new Map<string, number[]>();
    const sizes: number[] = [];
    let after: string | undefined;
    do {
      const { calls, next } = await findReady(database, after, nowMs);
      sizes.push(new Set(calls.map(({ applicationId }) => applicationId)).size);
      for (const { applicationId, sequence, host } of calls) {
        assert.match(host, /^h\d+\.example:8443$/);
        found.set(applicationId, [...(found.get(applicationId) ?? []), sequence]);
      }
      after = next;
    } while (after !== undefined);
    assert.deepEqual(sizes, [50, 50, 20]);
    assert.equal(found.size, 120);
    const oldestFirst = Array.from({ length: 20 }, (_, n) => 21 - n);
    for (const sequences of found.values()) assert.deepEqual(sequences, oldestFirst);
  });

  test('without calls finds nothing, from anywhere', async () => {
    const none = { calls: [], next: undefined };
    assert.deepEqual(await findReady(app.db.database, undefined, app.clock.nowMs()), none);
    assert.deepEqual(await findReady(app.db.database, uuidOf(acme.id), app.clock.nowMs()), none);
  });
});

describe('what is kept', () => {
  const addressOf = async (messageId: string) => {
    const { rows } = await app.db.database.query<{ url: string | null }>(
      'select status_callback as url from message where id = $1',
      [messageId],
    );
    return rows[0]?.url;
  };
  const retention = () =>
    createMessageRetention({ database: app.db.database, clock: app.clock, days: 30, deleteArrivalsOf });

  test('a number that is forgotten takes the address and the calls of its texts along', async () => {
    const To = acme.newNumber();
    const messageId = await addText(acme, { To });
    const kept = await addText();
    await app.db.database.query(
      `insert into status_call (application_id, message_id, sequence, url, status, due_at)
       select $1, id, 1, $2, 2, $3 from unnest($4::uuid[]) id`,
      [uuidOf(acme.id), receiver.url, toTimestamp(app.clock.nowMs()), [messageId, kept]],
    );
    assert.equal(await addressOf(messageId), receiver.url);
    assert.equal(await retention().forget(To), 1);
    assert.equal(await addressOf(messageId), null);
    assert.deepEqual(await readCalls(messageId), []);
    assert.equal((await readCalls(kept)).length, 1);
  });

  test('the address goes with the number and the text, and old calls go', async () => {
    const own = await createTestApp();
    try {
      const caller = await createTwilioCaller(own);
      const { body } = await caller.post<{ sid: string }>(`${caller.messages}.json`, {
        ...{ To: caller.newNumber(), From: 'ACME', Body: 'Hello', StatusCallback: 'http://127.0.0.1:9/' },
      });
      const count = async (table: string, condition: string) =>
        (await own.db.database.query(`select from ${table} where ${condition}`)).count;
      await eventually('a failed attempt', () => count('status_call', 'attempts > 0 and leased_until is null'));
      await own.delivery.stop();
      own.clock.advance(13 * dayMs);
      await own.delivery.maintenance.runAll();
      assert.equal(await count('status_call', 'true'), 1);
      own.clock.advance(2 * dayMs);
      await own.delivery.maintenance.runAll();
      assert.deepEqual(
        [await count('status_call', 'true'), await count('message', 'status_callback is not null')],
        [0, 1],
      );
      own.clock.advance(30 * dayMs);
      await own.delivery.maintenance.runAll();
      assert.equal(await count('message', 'status_callback is not null'), 0, body.sid);
    } finally {
      await own.close();
    }
  });

  test('a change to unknown is reported only if it is the first', async () => {
    const [first, second, queued] = [await addText(), await addText(), await addText()];
    await app.db.database.query(
      `with changed as (
         select m.id, m.application_id as "applicationId", m.api, c.status::smallint as status, c.sequence, m.updated_at,
           m.error_code, m.status_callback
         from message m join unnest($1::uuid[], $2::integer[], $3::integer[]) c(id, status, sequence) on c.id = m.id),
       ${reportChanges('changed')} select`,
      [
        [first, second, queued],
        [statusCode('unknown'), statusCode('unknown'), statusCode('queued')],
        [1, 2, 1],
      ],
    );
    assert.equal((await readCalls(first)).length, 1);
    assert.deepEqual([await readCalls(second), await readCalls(queued)], [[], []]);
    startWorker();
    const request = await eventually('the call', () => receiver.requests[0]);
    assert.equal(request.form.MessageStatus, 'sent');
  });
});
