// Section 12 of the contract: every entry of a record into a listed state has one event, which holds what a read showed.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createAssembleEvents } from '../../src/compose/event-records.ts';
import { createInbound } from '../../src/compose/inbound.ts';
import { createClaims } from '../../src/delivery/queue/claim-store.ts';
import type { EmittedEvent } from '../../src/events/event.ts';
import { createEventIds } from '../../src/events/event-id.ts';
import { readEvents } from '../../src/events/event-store.ts';
import { createHorizon } from '../../src/events/horizon.ts';
import { createListeners } from '../../src/events/listeners.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { run } from '../support/commands.ts';
import { endLeases } from '../support/delivery-steps.ts';
import { send } from '../support/developer.ts';
import { checkEvents, eventsOf, watchStates } from '../support/event-witness.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, dumpAll, type Page, type Sender } from '../support/texts.ts';
import type { InboxText, VerificationBody } from '../support/verify-caller.ts';

const testNumber = (last: string) => `+150055501${last}`;

/** An app with an application that listens, one that does not, and a witness of all changes. */
async function createWorld(options: { delivery?: 'held' } = {}) {
  const app = await createTestApp({ ...options, env: { HELIOGRAPH_TOKEN_SECONDS: '86400' } });
  await watchStates(app.db.database);
  const [acme, deaf] = [await createSender(app), await createSender(app)];
  await createListeners({ database: app.db.database, clock: app.clock }).readFeed(acme.id);
  const tell = createAssembleEvents(createEventIds(app.keys));
  const horizon = createHorizon(app.db.database);
  /** The contents of a record's events, oldest first. */
  async function toldOf(subject: string): Promise<EmittedEvent[]> {
    const { rows } = await app.db.database.query<{ last: string }>('select max(position)::text as last from event');
    const upTo = Number(rows[0]?.last ?? 0);
    await eventually('the horizon to pass the events', async () => (await horizon.read()) >= upTo);
    const span = { applicationId: acme.id, after: 0, upTo };
    const { events } = await readEvents(app.db.database, span, { subject }, 100);
    return tell(app.db.database, events);
  }
  const close = async () => {
    try {
      await checkEvents(app.db.database);
      const { count } = await app.db.database.query('select from event where application_id = $1', [uuidOf(deaf.id)]);
      assert.equal(count, 0, 'an application that does not listen has no events');
    } finally {
      await app.close();
    }
  };
  return { app, acme, deaf, toldOf, close };
}

type World = Awaited<ReturnType<typeof createWorld>>;

/** Checks the envelope of the newest event of a record, and that it holds what a read shows now. */
async function expectTold(world: World, subject: string, types: string[], shown: object, api: string): Promise<void> {
  const told = await world.toldOf(subject);
  assert.deepEqual(
    told.map(({ type, sequence }) => `${sequence} ${type}`),
    types.map((type, index) => `${index + 1} ${type}`),
  );
  const last = told.at(-1) ?? assert.fail('there is no event');
  const { reference = null } = shown as { reference?: string | null };
  const expected = { api, subject, reference, application_id: world.acme.id };
  const { api: itsApi, subject: itsSubject, reference: itsReference, application_id } = last;
  assert.deepEqual({ api: itsApi, subject: itsSubject, reference: itsReference, application_id }, expected);
  assert.match(last.id, /^evt_[0-9a-z]{26}$/);
  const { proof, ...record } = shown as { proof?: string };
  assert.equal(JSON.stringify(last.data), JSON.stringify(record), 'the record as a read shows it');
}

describe('texts, with the phones reporting back', () => {
  let world: World;
  before(async () => {
    world = await createWorld();
  });
  after(() => world.close());

  const reaches = (who: Sender, id: string, status: string) =>
    eventually(`${id} to be ${status}`, async () => {
      const record = await who.readSms(id);
      return record.status === status && record;
    });

  test('sent, then delivered: one event each, and the first still holds the first state', async () => {
    const { acme, app, toldOf } = world;
    const { body } = await acme.sms({ reference: 'order 7' });
    const sent = await reaches(acme, body.id, 'sent');
    await expectTold(world, body.id, ['message.sent'], sent, 'sms');
    app.clock.advance(100);
    const delivered = await reaches(acme, body.id, 'delivered');
    await expectTold(world, body.id, ['message.sent', 'message.delivered'], delivered, 'sms');
    const [first, second] = await toldOf(body.id);
    assert.deepEqual(first?.data, sent, 'the first event as it was');
    assert.equal(first?.time, sent.sent_at);
    assert.equal(second?.time, delivered.delivered_at);
    assert.ok(first !== undefined && second !== undefined && first.id !== second.id, 'each has its id');
  });

  test('undelivered, and failed at the carrier: with the error of their time', async () => {
    const { acme, app } = world;
    const [lost, wrong] = [await acme.sms({ to: testNumber('11') }), await acme.sms({ to: testNumber('14') })];
    const failed = await reaches(acme, wrong.body.id, 'failed');
    await expectTold(world, wrong.body.id, ['message.failed'], failed, 'sms');
    await reaches(acme, lost.body.id, 'sent');
    app.clock.advance(100);
    const undelivered = await reaches(acme, lost.body.id, 'undelivered');
    await expectTold(world, lost.body.id, ['message.sent', 'message.undelivered'], undelivered, 'sms');
  });

  test('the Messaging API has its own, and a text of an application that does not listen has none', async () => {
    const { acme, deaf, app } = world;
    const { body } = await acme.messaging();
    const quiet = await deaf.sms();
    const get = async () =>
      (await send<{ status: string }>(app, 'GET', `/messaging/v1/messages/${body.id}`, { headers: acme.token })).body;
    const sent = await eventually('it to be sent', async () => {
      const record = await get();
      return record.status === 'sent' && record;
    });
    await expectTold(world, body.id, ['message.sent'], sent, 'messaging');
    await reaches(deaf, quiet.body.id, 'sent');
    assert.deepEqual(await eventsOf(app.db.database, quiet.body.id), []);
  });
});

describe('records, with the worker in the test’s hand', () => {
  let world: World;
  let headers: Record<string, string>;
  before(async () => {
    world = await createWorld({ delivery: 'held' });
    headers = bearer(await getToken(world.app, world.acme.client, 'verify:manage'));
  });
  after(() => world.close());

  const work = () => world.app.delivery.workers()[0]?.runUntilIdle();
  const path = '/verify/v1/verifications';
  const codes: string[] = [];
  let numbers = 0;
  const newNumber = () => `+4477009${String(++numbers).padStart(5, '0')}`;
  const start = async (given: object, credential = headers) => {
    const body = { channel: 'sms', code_length: 10, ...given };
    return (await send<VerificationBody>(world.app, 'POST', path, { body, headers: credential })).body;
  };
  const read = async (id: string) =>
    (await send<VerificationBody>(world.app, 'GET', `${path}/${id}`, { headers })).body;
  const check = (id: string, code: string) =>
    send<VerificationBody>(world.app, 'POST', `${path}/${id}`, { body: { code }, headers });
  /** A verification with its code. */
  async function pending() {
    const to = newNumber();
    const { id } = await start({ to });
    await work();
    const inbox = `/sandbox/v1/inbox?to=${encodeURIComponent(to)}`;
    const { body } = await send<Page<InboxText>>(world.app, 'GET', inbox, { headers });
    const code = /\d{10}/.exec(body.data[0]?.text ?? '')?.[0] ?? assert.fail('no code has arrived');
    codes.push(code);
    return { id, to, code, wrong: String((Number(code[0]) + 1) % 10) + code.slice(1) };
  }

  test('failed at once, because the recipient has opted out', async () => {
    const { acme, app } = world;
    const to = newNumber();
    const optOut = `/sms/v1/opt-outs/${encodeURIComponent(to)}`;
    assert.equal((await send(app, 'PUT', optOut, { headers: acme.key })).status, 200);
    const { body } = await acme.sms({ to });
    assert.equal(body.error?.code, 'blocked_by_recipient');
    await expectTold(world, body.id, ['message.failed'], body, 'sms');
  });

  test('expired before it could leave, and canceled: one event, and none for the states that were skipped', async () => {
    const { acme, app } = world;
    const [old, unwanted] = [await acme.sms({ validity_seconds: 60 }), await acme.sms({ reference: 'no more' })];
    const canceled = await send(app, 'DELETE', `/sms/v1/messages/${unwanted.body.id}`, { headers: acme.key });
    await expectTold(world, unwanted.body.id, ['message.canceled'], canceled.body, 'sms');
    app.clock.advance(60_000);
    await work();
    await expectTold(world, old.body.id, ['message.expired'], await acme.readSms(old.body.id), 'sms');
  });

  test('scheduled and queued emit no event', async () => {
    const { acme, app } = world;
    const { body } = await acme.sms({ send_at: new Date(app.clock.nowMs() + 60_000).toISOString() });
    app.clock.advance(60_000);
    assert.deepEqual(await eventsOf(app.db.database, body.id), []);
    await work();
    assert.deepEqual(await eventsOf(app.db.database, body.id), ['1 message.sent']);
  });

  test('approved: without proof and code; its text has no events', async () => {
    const { app } = world;
    const { id, code } = await pending();
    assert.equal((await check(id, code)).body.valid, true);
    const approved = await read(id);
    assert.ok(approved.proof !== undefined, 'a read shows the proof');
    await expectTold(world, id, ['verification.approved'], approved, 'verify');
    assert.deepEqual(await eventsOf(app.db.database, approved.delivery?.message_id ?? ''), []);
  });

  test('failed: by the last wrong code only', async () => {
    const { id, wrong } = await pending();
    for (let tries = 0; tries < 4; tries++) await check(id, wrong);
    assert.deepEqual(await eventsOf(world.app.db.database, id), []);
    await check(id, wrong);
    await expectTold(world, id, ['verification.failed'], await read(id), 'verify');
  });

  test('canceled: by the caller, by another verification of the number, and when the number is forgotten', async () => {
    const { app } = world;
    const [one, two, three] = [await pending(), await pending(), await pending()];
    const canceled = await send(app, 'DELETE', `${path}/${one.id}`, { headers });
    assert.equal(canceled.status, 200, JSON.stringify(canceled.body));
    await expectTold(world, one.id, ['verification.canceled'], await read(one.id), 'verify');
    await start({ to: two.to, code_length: 8 });
    const superseded = await read(two.id);
    assert.equal(superseded.reason, 'superseded');
    await expectTold(world, two.id, ['verification.canceled'], superseded, 'verify');
    await run(app, 'forget', three.to);
    await expectTold(world, three.id, ['verification.canceled'], await read(three.id), 'verify');
  });

  test('a number that is forgotten ends its texts: canceled, or unknown where one may be on its way', async () => {
    const { acme, app } = world;
    const to = newNumber();
    const { body } = await acme.sms({ to });
    await run(app, 'forget', to);
    await expectTold(world, body.id, ['message.canceled'], await acme.readSms(body.id), 'sms');
    await work();
    const leaving = await acme.sms({ to });
    const limits = { first: 10, bulk: 10 };
    const nowMs = app.clock.nowMs();
    await createClaims(app.db.database)({ carrier: 'sandbox', nowMs, leaseMs: 60_000, limits });
    await run(app, 'forget', to);
    await expectTold(world, leaving.body.id, ['message.unknown'], await acme.readSms(leaving.body.id), 'sms');
    await endLeases(app.db.database);
    await work();
    assert.deepEqual(await eventsOf(app.db.database, leaving.body.id), ['1 message.unknown'], 'it is not sent again');
  });

  test('blocked: with the start', async () => {
    const blocked = await start({ to: testNumber('12'), reference: 'a robot' });
    assert.equal(blocked.status, 'blocked');
    await expectTold(world, blocked.id, ['verification.blocked'], await read(blocked.id), 'verify');
  });

  test('expired: by the chore that looks every second', async () => {
    const { app } = world;
    const { id, expires_at } = await start({ to: testNumber('13') });
    app.clock.advance(2000);
    await app.delivery.maintenance.runAll();
    const expired = await read(id);
    assert.equal(expired.status, 'expired');
    await expectTold(world, id, ['verification.expired'], expired, 'verify');
    assert.equal((await world.toldOf(id))[0]?.time, expires_at, 'emitted with the time of the expiry');
  });

  test('received: a text to a number of the application, once, however often the carrier delivers it', async () => {
    const { acme, deaf, app } = world;
    const operator = await createOperator(app);
    const give = async (number: string, body: object) => {
      const { status } = await operator.send('PUT', `/portal/v1/operator/numbers/${encodeURIComponent(number)}`, body);
      assert.equal(status, 200);
    };
    await give('+447800900001', { application_id: acme.id, api: 'messaging' });
    await give('+447800900002', { application_id: deaf.id });
    const { config, clock, keys } = app;
    const { receiver } = createInbound({ config, database: app.db.database, clock, keys, wake: () => {} });
    const source = { key: 'practice#1', account: '1.1' };
    const receive = (to: string, carrierMessageId: string) =>
      receiver.receive(source, [{ carrierMessageId, from: '+447700988001', to, text: 'Hello', part: null }]);
    const [text] = await receive('+447800900001', 'a');
    assert.deepEqual(await receive('+447800900001', 'a'), []);
    await receive('+447800900002', 'b');
    await receive('+447800900003', 'c');
    const id = text?.id ?? assert.fail('no text was kept');
    const token = bearer(await getToken(app, acme.client, 'messaging:send'));
    const { body } = await send(app, 'GET', `/messaging/v1/inbound/${id}`, { headers: token });
    await expectTold(world, id, ['message.received'], body, 'messaging');
    const { count } = await app.db.database.query(`select from witness where kind = 'inbound'`);
    assert.equal(count, 3, 'all three were kept');
  });

  test('unknown: no receipt in 72 h', async () => {
    const { acme, app } = world;
    const { body } = await acme.sms();
    await work();
    app.clock.advance(72 * 3_600_000);
    await app.delivery.maintenance.runAll();
    const unknown = await acme.readSms(body.id);
    await expectTold(world, body.id, ['message.sent', 'message.unknown'], unknown, 'sms');
  });

  test('no event has a code in it', async () => {
    assert.ok(codes.length >= 5, 'codes have been sent');
    const { rows } = await world.app.db.database.query<{ all: string }>('select json_agg(e)::text as all from event e');
    const dump = await dumpAll(world.app);
    for (const code of codes) assert.ok(!`${rows[0]?.all} ${dump}`.includes(code), 'a code is in the store');
  });
});
