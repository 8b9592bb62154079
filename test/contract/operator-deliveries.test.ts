// Texts that are stuck or in doubt, for operators, with what to do about each.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type BindState, writeBinds } from '../../src/delivery/carrier/bind-store.ts';
import { carrierKey, findCarrier } from '../../src/delivery/carrier/store.ts';
import { statusCode } from '../../src/messages/message-row.ts';
import { minuteMs, toTimestamp } from '../../src/platform/clock.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import type { DeliveryGroupRecord, DeliveryRecord } from '../../src/portal/operator/delivery-api.ts';
import type { QueueRecord } from '../../src/portal/operator/queue-api.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { signUp, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { acceptMessages } from '../support/recording-carrier.ts';
import { createSender, type Page, type Refusal, type Sender } from '../support/texts.ts';

let app: TestApp;
let operator: TestDeveloper;
let sender: Sender;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  operator = await createOperator(app);
  sender = await createSender(app);
});
after(() => app.close());
beforeEach(() =>
  app.db.database.query(
    'truncate carrier, carrier_bind, carrier_log, carrier_test, message, delivery_queue, delivery_schedule, delivery_claim',
  ),
);

const path = '/portal/v1/operator/deliveries';
const carriersPath = '/portal/v1/operator/carriers';

async function list(query = ''): Promise<Page<DeliveryRecord>> {
  const { status, body } = await operator.send<Page<DeliveryRecord>>('GET', `${path}${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

async function connect(name: string): Promise<string> {
  const settings = { host: '127.0.0.1', port: 2775, system_id: 'me', password: 'secret' };
  const { status } = await operator.send('POST', carriersPath, { name, kind: 'smpp', settings });
  assert.equal(status, 201);
  const row = await findCarrier(app.db.database, name);
  return carrierKey(row ?? assert.fail('the carrier is there'));
}

async function writeState(name: string, state: BindState['state'], error: string | null): Promise<void> {
  const row = (await findCarrier(app.db.database, name)) ?? assert.fail('the carrier is there');
  const bind = { slot: 0, state, mode: 'transceiver', host: null, sinceMs: 0, error, nextTryAtMs: null } as const;
  await writeBinds(app.db.database, { carrierId: row.id, node: 'nod_a', binds: [bind] }, app.clock.nowMs());
  await eventually(`${name} to be ${state}`, async () => {
    const { binds = [] } = app.app.carriers().find((each) => each.name === name) ?? {};
    return binds.some((each) => each.state === state);
  });
}

async function readQueue(): Promise<QueueRecord[]> {
  const { status, body } = await operator.send<Page<QueueRecord>>('GET', '/portal/v1/operator/queue');
  assert.equal(status, 200, JSON.stringify(body));
  return body.data;
}

const accept = (carrier: string, count = 1) =>
  acceptMessages({ database: app.db.database, clock: app.clock, carrier }, count);
const timeOf = (ms: number | null | undefined) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', hour: 'numeric', minute: '2-digit' }).format(ms ?? 0);
const reasons = ({ data }: Page<DeliveryRecord>) => data.map(({ reason }) => reason);

describe('stuck', () => {
  test('a text that waits over a minute, with its carrier, its age and three digits of its number', async () => {
    const { body } = await sender.sms();
    app.clock.advance(minuteMs);
    assert.deepEqual((await list()).data, [], 'not yet');
    app.clock.advance(1);
    const { data, next_cursor } = await list();
    assert.equal(next_cursor, null);
    assert.deepEqual(data, [
      {
        message_id: body.id,
        application_id: sender.id,
        api: 'sms',
        carrier: 'sandbox',
        number_ends: '123',
        state: 'stuck',
        attempts: 0,
        since: body.created_at,
        due: null,
        expires_at: body.expires_at,
        reason: 'Waiting for its turn: sandbox is at its rate limit.',
        advice: 'Raise per_second or window if the provider allows it, or add another carrier to the route.',
      },
    ]);
  });

  test('a scheduled text is stuck when its time has passed by a minute, not before', async () => {
    const sendAt = new Date(app.clock.nowMs() + 10 * minuteMs).toISOString();
    await sender.sms({ send_at: sendAt });
    app.clock.advance(10 * minuteMs);
    assert.deepEqual((await list()).data, []);
    // A worker has put it into the queue.
    await app.db.database.query(
      `with gone as (delete from delivery_schedule returning carrier, lane, application_id, message_id)
       insert into delivery_queue (carrier, lane, application_id, message_id) select * from gone`,
    );
    app.clock.advance(minuteMs);
    assert.deepEqual((await list()).data, [], 'it was accepted long ago, and due a minute ago');
    app.clock.advance(1000);
    assert.equal((await list()).data[0]?.since, sendAt);
  });

  test('what to do depends on the carrier', async () => {
    await accept(await connect('acme'));
    await accept('gone#77');
    app.clock.advance(2 * minuteMs);
    await writeState('acme', 'waiting', 'The carrier refused the password.');
    const { downSinceMs: downAtMs } = app.app.carriers().find(({ name }) => name === 'acme') ?? {};
    assert.deepEqual(reasons(await list()), [
      `Waiting for acme, down since ${timeOf(downAtMs)} UTC. The carrier refused the password.`,
      'gone is deleted. Waiting for another carrier.',
    ]);
    await operator.send('POST', `${carriersPath}/acme/pause`);
    await eventually('the pause to be known', () => app.app.carriers()[0]?.paused);
    const [paused] = (await list('?carrier=acme')).data;
    assert.deepEqual([paused?.reason, paused?.advice], ['Waiting for acme, which is paused.', 'Resume acme.']);
    await operator.send('POST', `${carriersPath}/acme/resume`);
    await eventually('the resume to be known', () => app.app.carriers()[0]?.paused === false);
    await writeState('acme', 'bound', null);
    await app.db.database.query('update delivery_queue set attempt = 3');
    assert.match(reasons(await list('?carrier=acme'))[0] ?? '', /^acme could not take it \(3 attempts so far\)/);
    assert.deepEqual(reasons(await list('?carrier=unknown')), []);
  });

  test('equal reasons are counted together, whatever the number of attempts', async () => {
    await accept(await connect('acme'), 3);
    await accept('gone#77', 2);
    app.clock.advance(2 * minuteMs);
    await writeState('acme', 'bound', null);
    await app.db.database.query(
      `update delivery_queue set attempt = 1 + mod(abs(hashtext(message_id::text)), 5) where carrier like 'acme%'`,
    );
    const { status, body } = await operator.send<{ data: DeliveryGroupRecord[]; truncated: boolean }>(
      'GET',
      `${path}/groups`,
    );
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      body.data.map(({ carrier, reason, texts }) => [carrier, reason, texts]),
      [
        ['acme', 'acme could not take it. It is tried again.', 3],
        ['gone', 'gone is deleted. Waiting for another carrier.', 2],
      ],
    );
    assert.equal(body.truncated, false);
  });

  test('pages go on where the last one ended', async () => {
    const ids = (await accept('acme#1', 5)).map(({ id }) => id);
    app.clock.advance(2 * minuteMs);
    // Of a carrier that had the same name before, and a text for later.
    await accept('acme#2');
    await sender.sms({ send_at: new Date(app.clock.nowMs() + 10 * minuteMs).toISOString() });
    const queues = await readQueue();
    const acme = queues.find(({ carrier }) => carrier === 'acme');
    assert.deepEqual([acme?.waiting, acme?.stuck, acme?.oldest_seconds], [6, 5, 120]);
    assert.deepEqual(acme?.ages, { under_10_seconds: 1, under_1_minute: 0, under_10_minutes: 5, older: 0 });
    assert.equal(
      queues.reduce((sum, { scheduled }) => sum + scheduled, 0),
      1,
      'the text for later waits for its time',
    );
    const seen: string[] = [];
    for (let query = '?limit=2'; ; ) {
      const { data, next_cursor } = await list(query);
      seen.push(...data.map(({ message_id }) => message_id));
      if (next_cursor === null) break;
      query = `?limit=2&cursor=${next_cursor}`;
    }
    assert.deepEqual(seen, ids);
  });
});

describe('in doubt', () => {
  test('texts that may have been sent: those that wait, and those on the wire for over a minute', async () => {
    const [waits, onWire, plain] = await accept('acme#1', 3);
    const { database } = app.db;
    await database.query('update delivery_queue set in_doubt = true, attempt = 1 where message_id = $1', [
      uuidOf(waits?.id ?? ''),
    ]);
    await database.query(
      `with gone as (delete from delivery_queue where message_id = $1 returning *)
       insert into delivery_claim (carrier, claimed_at, leased_until, lanes, application_ids, message_ids, attempts,
         unanswered, possible_duplicates, in_doubt, moves)
       select carrier, $2, $2, array[lane], array[application_id], array[message_id], array[0], array[0], array[0],
         array[false], array[0] from gone`,
      [uuidOf(onWire?.id ?? ''), new Date(app.clock.nowMs()).toISOString()],
    );
    app.clock.advance(2 * minuteMs);
    const { data } = await list('?state=in_doubt');
    assert.deepEqual(
      data.map(({ message_id, state, reason }) => [message_id, state, reason]),
      [
        [waits?.id, 'in_doubt', 'acme did not answer. The text may have arrived.'],
        [onWire?.id, 'in_doubt', 'Waiting for the answer of acme.'],
      ],
    );
    assert.ok(
      (await list()).data.some(({ message_id }) => message_id === plain?.id),
      'the third is stuck',
    );
    assert.deepEqual(await readQueue(), [
      {
        ...{ carrier: 'acme', waiting: 2, retrying: 1, scheduled: 0, sending: 1, stuck: 3, in_doubt: 2 },
        oldest_seconds: 120,
        ages: { under_10_seconds: 0, under_1_minute: 0, under_10_minutes: 2, older: 0 },
      },
    ]);
  });
});

test('400 names what is wrong; only for operators', async () => {
  for (const [query, field] of [
    ['?state=lost', 'state'],
    [`?carrier=${'a'.repeat(33)}`, 'carrier'],
    ['?limit=0', 'limit'],
    ['?cursor=x', 'cursor'],
  ]) {
    const { status, body } = await operator.send<Refusal>('GET', `${path}${query}`);
    assert.equal(status, 400, query);
    assert.equal(body.details[0]?.field, field);
  }
  const developer = await signUp(app);
  assert.equal((await developer.send('GET', '/portal/v1/operator/queue')).status, 404);
  assert.equal((await developer.send('GET', path)).status, 404);
});

describe('stories say why a text waits', () => {
  interface Story {
    correlation_id: string;
    waiting: string | null;
    timeline: { event: string; detail: string }[];
  }
  async function story(id: string): Promise<Story> {
    const { status, body } = await sender.developer.send<Story>(
      'GET',
      `/portal/v1/applications/${sender.id}/messages/${id}`,
    );
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }

  test('in the record and in the trace of its request, without the name of the carrier', async () => {
    await connect('acme');
    await eventually('the carrier is known', () => app.app.carriers().length > 0);
    await operator.send('POST', `${carriersPath}/acme/pause`);
    await eventually('the pause to be known', () => app.app.carriers()[0]?.paused);
    const { id } = (await sender.sms()).body;
    const { waiting, timeline, correlation_id } = await story(id);
    assert.equal(waiting, 'The operator has paused sending.');
    assert.deepEqual(timeline.at(-1)?.event, 'waiting');
    const trace = await sender.developer.send<Story>('GET', `/portal/v1/requests/${correlation_id}`);
    assert.equal(
      trace.body.timeline.find(({ event }) => event === 'waiting')?.detail,
      'The operator has paused sending.',
    );
    await app.db.database.query('update message set status = $1', [statusCode('sent')]);
    await app.db.database.query('delete from delivery_queue');
    const sent = await story(id);
    assert.deepEqual([sent.waiting, sent.timeline.some(({ event }) => event === 'waiting')], [null, false]);
  });

  test('a text for later, and one that waits for the hours of its route', async () => {
    const at = app.clock.nowMs() + 60 * minuteMs;
    const { id } = (await sender.sms({ send_at: new Date(at).toISOString() })).body;
    assert.equal((await story(id)).waiting, `Scheduled for ${timeOf(at)} UTC.`);
    await app.db.database.query('update message set send_at = null, deferred_until = $1', [toTimestamp(at)]);
    assert.equal((await story(id)).waiting, `Waiting for ${timeOf(at)} UTC, when the hours of its route begin.`);
  });
});
