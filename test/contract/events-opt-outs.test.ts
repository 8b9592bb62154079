// Sections 12 and 15 of the contract: an event says that a person has left an application, and another that this was undone.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createAssembleEvents } from '../../src/compose/event-records.ts';
import { createInbound } from '../../src/compose/inbound.ts';
import type { EmittedEvent } from '../../src/events/event.ts';
import { createEventIds } from '../../src/events/event-id.ts';
import { findEvents } from '../../src/events/event-store.ts';
import { dayMs } from '../../src/platform/clock.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { run } from '../support/commands.ts';
import { send, type TestDeveloper } from '../support/developer.ts';
import { checkEvents, listen, watchStates } from '../support/event-witness.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, dumpAll, type Page, type Sender } from '../support/texts.ts';

let app: TestApp;
let operator: TestDeveloper;
let acme: Sender;
let other: Sender;
let deaf: Sender;
let inbound: ReturnType<typeof createInbound>;
before(async () => {
  app = await createTestApp({ delivery: 'held', env: { HELIOGRAPH_RETENTION_DAYS: '2' } });
  await watchStates(app.db.database);
  operator = await createOperator(app);
  [acme, other, deaf] = [await createSender(app), await createSender(app), await createSender(app)];
  await listen(app.db.database, [acme.id, other.id]);
  const { config, clock, keys } = app;
  inbound = createInbound({ config, database: app.db.database, clock, keys, wake: () => {} });
});
after(() => checkEvents(app.db.database).finally(() => app.close()));

let made = 0;
const newPhone = () => `+4477009${String(++made).padStart(5, '0')}`;
const newNumber = () => `+4478009${String(++made).padStart(5, '0')}`;

async function give(number: string, who: Sender, more: object = {}): Promise<void> {
  const path = `/portal/v1/operator/numbers/${encodeURIComponent(number)}`;
  assert.equal((await operator.send('PUT', path, { application_id: who.id, ...more })).status, 200);
}

async function says(who: Sender, from: string, to: string, message: string): Promise<void> {
  app.clock.advance(1000);
  const body = { from, to, message };
  const { status } = await send(app, 'POST', '/sandbox/v1/inbox/replies', { body, headers: who.key });
  assert.equal(status, 201);
}

const pathOf = (phone: string, base = '/sms/v1') => `${base}/opt-outs/${encodeURIComponent(phone)}`;
const shown = async (who: Sender, phone: string) => {
  const path = `/sms/v1/opt-outs?to=${encodeURIComponent(phone)}`;
  return (await send<Page<object>>(app, 'GET', path, { headers: who.key })).body.data[0];
};

/** The events of an application about a phone, oldest first. */
async function toldOf(who: Sender, phone: string): Promise<EmittedEvent[]> {
  const { database } = app.db;
  const { rows } = await database.query<{ position: number }>(
    `select position from event where application_id = $1 and data ->> 'number' = $2`,
    [uuidOf(who.id), phone],
  );
  const positions = rows.map(({ position }) => position);
  return createAssembleEvents(createEventIds(app.keys))(database, await findEvents(database, who.id, positions));
}
const namesOf = (events: EmittedEvent[]) => events.map(({ type, sequence, api }) => `${sequence} ${type} ${api}`);

describe('by the API', () => {
  test('PUT and DELETE: opted out and in, with the opt-out as a read shows it', async () => {
    const phone = newPhone();
    const { body } = await send(app, 'PUT', pathOf(phone), { headers: acme.key });
    assert.deepEqual(await shown(acme, phone), body);
    await send(app, 'PUT', pathOf(phone), { headers: acme.key });
    assert.equal((await send(app, 'DELETE', pathOf(phone), { headers: acme.key })).status, 204);
    const told = await toldOf(acme, phone);
    assert.deepEqual(namesOf(told), ['1 recipient.opted_out sms', '2 recipient.opted_in sms']);
    assert.deepEqual(told[0]?.data, body);
    assert.deepEqual(told[1]?.data, body);
    const [out, back] = told;
    assert.match(out?.subject ?? '', /^opt_[0-9a-z]{26}$/);
    assert.equal(out?.subject, back?.subject, 'one record');
    assert.deepEqual([out?.reference, out?.application_id], [null, acme.id]);
  });

  test('the caller decides whose events they are; who does not listen has none', async () => {
    const phone = newPhone();
    await send(app, 'PUT', pathOf(phone, '/messaging/v1'), { headers: acme.token });
    await send(app, 'PUT', pathOf(phone), { headers: deaf.key });
    assert.deepEqual(namesOf(await toldOf(acme, phone)), ['1 recipient.opted_out messaging']);
    assert.deepEqual(await toldOf(deaf, phone), []);
    await send(app, 'DELETE', pathOf(phone), { headers: acme.key });
    // Out again: another record.
    await send(app, 'PUT', pathOf(phone), { headers: acme.key });
    const told = await toldOf(acme, phone);
    assert.deepEqual(namesOf(told), [
      '1 recipient.opted_out messaging',
      '2 recipient.opted_in sms',
      '1 recipient.opted_out sms',
    ]);
    assert.equal(new Set(told.map(({ subject }) => subject)).size, 2);
  });
});

describe('by a word', () => {
  test('each application that holds the number gets an event, with the API of its number', async () => {
    const [phone, number] = [newPhone(), newNumber()];
    // From a carrier: a virtual phone would be felt by its own application only.
    const receives = async (from: string, to: string, text: string) => {
      app.clock.advance(1000);
      const source = { key: 'practice#1', account: '1.1' };
      await inbound.receiver.receive(source, [{ carrierMessageId: `m${++made}`, from, to, text, part: null }]);
    };
    await give(number, acme, { keyword: 'PIZZA', api: 'messaging' });
    await give(number, other);
    await give(number, deaf, { keyword: 'PASTA' });
    await receives(phone, number, 'STOP');
    assert.deepEqual(namesOf(await toldOf(acme, phone)), ['1 recipient.opted_out messaging']);
    const [told] = await toldOf(other, phone);
    assert.deepEqual(namesOf(told ? [told] : []), ['1 recipient.opted_out sms']);
    const data = { number: phone, source: 'mo', word: 'STOP', created_at: new Date(app.clock.nowMs()).toISOString() };
    assert.equal(JSON.stringify(told?.data), JSON.stringify(data));
    await receives(phone, number, 'STOP');
    assert.equal((await toldOf(other, phone)).length, 1, 'it is out already');
    await receives(phone, number, 'START');
    const last = (await toldOf(other, phone)).at(-1);
    assert.deepEqual([last?.type, last?.sequence, last?.data], ['recipient.opted_in', 2, data]);
    assert.equal((await toldOf(acme, phone)).length, 2);
    await receives(phone, number, 'START');
    assert.equal((await toldOf(other, phone)).length, 2, 'it is in already');
  });

  test('a word that replaces what the API has said enters no state', async () => {
    const [phone, number] = [newPhone(), newNumber()];
    await give(number, acme);
    await send(app, 'PUT', pathOf(phone), { headers: acme.key });
    await says(acme, phone, number, 'STOP');
    assert.deepEqual(namesOf(await toldOf(acme, phone)), ['1 recipient.opted_out sms']);
    await says(acme, phone, number, 'START');
    const told = await toldOf(acme, phone);
    assert.deepEqual(namesOf(told), ['1 recipient.opted_out sms', '2 recipient.opted_in sms']);
    assert.deepEqual(
      told.map(({ data }) => (data as { source: string }).source),
      ['api', 'mo'],
    );
  });
});

test('an operator opts a number in: every application that had it out gets an event', async () => {
  const phone = newPhone();
  for (const who of [acme, other]) await send(app, 'PUT', pathOf(phone), { headers: who.key });
  const path = `/portal/v1/operator/opt-outs/${encodeURIComponent(phone)}?reason=by+phone`;
  assert.equal((await operator.send('DELETE', path)).status, 204);
  for (const who of [acme, other])
    assert.deepEqual(namesOf(await toldOf(who, phone)), ['1 recipient.opted_out sms', '2 recipient.opted_in sms']);
});

describe('by the refusal of a carrier', () => {
  const refuse = (number: string, who: Sender, sender: string) =>
    app.db.database.transaction((tx) =>
      inbound.optOuts.learn(tx, [{ number, sender, notified: { applicationId: who.id, api: 'messaging' } }]),
    );

  test('the application whose text was refused gets one event, and one more at the end', async () => {
    const [phone, number] = [newPhone(), newNumber()];
    await give(number, other);
    await refuse(phone, acme, number);
    await refuse(phone, other, number);
    const [told] = await toldOf(acme, phone);
    assert.equal(told && namesOf([told])[0], '1 recipient.opted_out messaging');
    assert.deepEqual({ ...told?.data, created_at: 0 }, { number: phone, source: 'carrier', word: null, created_at: 0 });
    assert.deepEqual(await toldOf(other, phone), [], 'its opt-out was there');
    await says(other, phone, number, 'START');
    assert.deepEqual(namesOf(await toldOf(acme, phone)), [
      '1 recipient.opted_out messaging',
      '2 recipient.opted_in sms',
    ]);
  });

  test('an application that the person has left before gets no second event', async () => {
    const phone = newPhone();
    await send(app, 'PUT', pathOf(phone), { headers: acme.key });
    await refuse(phone, acme, 'ACME');
    assert.equal((await toldOf(acme, phone)).length, 1);
  });
});

describe('numbers in events', () => {
  test('npm run forget masks them', async () => {
    const [phone, kept] = [newPhone(), newPhone()];
    for (const each of [phone, kept]) await send(app, 'PUT', pathOf(each), { headers: acme.key });
    await run(app, 'forget', phone);
    assert.ok(!(await dumpAll(app)).includes(phone), 'the number is still there');
    assert.equal((await toldOf(acme, kept)).length, 1, 'another number stays');
    assert.equal((await toldOf(acme, `+4477•••••${phone.slice(-3)}`)).length, 1, 'the event is there without it');
  });

  test('are masked after the retention time, also of opt-outs that are over', async () => {
    const [old, young] = [newPhone(), newPhone()];
    await send(app, 'PUT', pathOf(old), { headers: acme.key });
    await send(app, 'DELETE', pathOf(old), { headers: acme.key });
    app.clock.advance(dayMs);
    await send(app, 'PUT', pathOf(young), { headers: acme.key });
    app.clock.advance(dayMs + 1);
    await app.delivery.maintenance.runAll();
    assert.deepEqual(await toldOf(acme, old), []);
    assert.equal((await toldOf(acme, young)).length, 1);
  });
});
