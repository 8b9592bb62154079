// Section 1 of the contract: after HELIOGRAPH_RETENTION_DAYS numbers and texts are masked; `npm run forget` at once.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClaims } from '../../src/delivery/queue/claim-store.ts';
import { messageStatuses } from '../../src/messages/message.ts';
import { createMessageRetention } from '../../src/messages/message-retention.ts';
import { dayMs } from '../../src/platform/clock.ts';
import { deleteAnswersAbout } from '../../src/platform/database/idempotency.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { pieceRows } from '../../src/platform/work/maintenance.ts';
import { deleteArrivalsOf } from '../../src/sandbox/handsets.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { send } from '../support/developer.ts';
import { createSender, dumpAll, type Page, type Sender, type TextRecord, text } from '../support/texts.ts';

const severalPieces = pieceRows + 200;

let app: TestApp;
let acme: Sender;
before(async () => {
  app = await createTestApp({ delivery: 'held', env: { HELIOGRAPH_RETENTION_DAYS: '2' } });
  acme = await createSender(app);
});
after(() => app.close());

const work = () => app.delivery.workers()[0]?.runUntilIdle();
const retention = () =>
  createMessageRetention({
    database: app.db.database,
    clock: app.clock,
    days: app.config.retentionDays,
    deleteArrivalsOf,
  });
/** As the service does it, with all other upkeep: until nothing is left. */
const maskOld = () => app.delivery.maintenance.runAll();
/** What `npm run forget` does for messages. */
async function forget(number: string): Promise<number> {
  const forgotten = await retention().forget(number);
  await deleteAnswersAbout(app.db.database, app.keys, JSON.stringify(number));
  return forgotten;
}
const dumpMessages = async () =>
  JSON.stringify((await app.db.database.query('select * from message order by id')).rows);

let numbers = 0;
/** A number and a text that occur nowhere else. */
function fresh() {
  const unique = String(++numbers).padStart(3, '0');
  return { to: `+4477009${unique}55`, message: `A secret for ${unique} only` };
}

async function holds(...needles: string[]): Promise<boolean[]> {
  const dump = await dumpAll(app);
  assert.ok(dump.length > 1000);
  return needles.map((needle) => dump.includes(needle));
}

describe('the retention time', () => {
  test('numbers and texts are in no table after HELIOGRAPH_RETENTION_DAYS, and not touched before', async () => {
    const { to, message } = fresh();
    const other = fresh();
    const { body } = await acme.sms({ to, message, reference: 'stays' }, { 'Idempotency-Key': 'old' });
    await acme.messaging({ ...other });
    await work();
    app.clock.advance(2 * dayMs);
    await maskOld();
    assert.deepEqual(await holds(to, message, other.to, other.message), [true, true, true, true]);
    app.clock.advance(1);
    await maskOld();
    assert.deepEqual(await holds(to, message, other.to, other.message), [false, false, false, false]);
    const { to: masked, ...rest } = await acme.readSms(body.id);
    assert.equal(masked.length, to.length);
    assert.match(masked, /^\+44.*•{5,}/);
    assert.deepEqual(
      { ...rest, sent_at: null, updated_at: body.created_at },
      { ...without(body), status: 'sent', message: null },
    );
    const list = await send<Page<TextRecord>>(app, 'GET', '/sms/v1/messages?reference=stays', { headers: acme.key });
    assert.equal(list.body.data[0]?.message, null);
    const inbox = await send<Page<unknown>>(app, 'GET', '/sandbox/v1/inbox', { headers: acme.key });
    assert.deepEqual(inbox.body.data, []);
  });

  test('more than one round is needed, and none is left out', async () => {
    await app.db.database.query(
      `insert into message (id, application_id, api, channel, recipient, sender, body, status, encoding, segment_count,
         characters, remaining, correlation_id, created_at, updated_at, expires_at, carrier)
       select (left(m.id::text, 13) || '-0000-0000-' || lpad(i::text, 12, '0'))::uuid, application_id, api, channel, '+4477009' || lpad(i::text, 5, '0'),
         sender, 'unmasked text', ${messageStatuses.indexOf('delivered')}, encoding, segment_count, characters, remaining, correlation_id, created_at,
         updated_at, expires_at, carrier
       from generate_series(1, ${severalPieces}) i, (select * from message where id = $1) m`,
      [uuidOf((await acme.sms()).body.id)],
    );
    app.clock.advance(2 * dayMs + 1);
    await work();
    await maskOld();
    assert.deepEqual(
      await holds('unmasked text', '+447700900001', `+4477009${String(severalPieces).padStart(5, '0')}`),
      [false, false, false],
    );
  });

  test('a text that has yet to leave keeps what it needs until it has left', async () => {
    const { to, message } = fresh();
    const later = new Date(app.clock.nowMs() + 6 * dayMs).toISOString();
    const scheduled = await acme.sms({ to, message, send_at: later });
    const canceled = fresh();
    const { body } = await acme.sms({ ...canceled, send_at: later });
    const neighbour = fresh();
    await acme.sms(neighbour);
    await work();
    app.clock.advance(2 * dayMs + 1);
    await maskOld();
    assert.deepEqual(await holds(neighbour.to, neighbour.message), [false, false], 'no caller waits for it');
    assert.deepEqual(await holds(to, message, canceled.to), [true, true, true]);
    assert.equal((await send(app, 'DELETE', `/sms/v1/messages/${body.id}`, { headers: acme.key })).status, 200);
    await maskOld();
    assert.deepEqual(await holds(canceled.to, canceled.message), [false, false]);
    app.clock.advance(4 * dayMs);
    await work();
    assert.equal((await acme.readSms(scheduled.body.id)).status, 'sent');
    const { rows } = await app.db.database.query('select recipient from handset_text where message_id = $1', [
      uuidOf(scheduled.body.id),
    ]);
    assert.deepEqual(rows, [{ recipient: to }]);
    await maskOld();
    assert.deepEqual(await holds(to, message), [false, false]);
  });

  test('masking is done once: a second time changes nothing', async () => {
    await maskOld();
    const before = await dumpMessages();
    assert.equal(await retention().maskOld(), 0);
    assert.equal((await dumpMessages()) === before, true);
  });

  test('two nodes at once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => acme.sms({ message: 'for two nodes' })));
    assert.ok(made.every(({ status }) => status === 201));
    await work();
    app.clock.advance(2 * dayMs + 1);
    await Promise.all([maskOld(), maskOld(), maskOld()]);
    assert.deepEqual(await holds('for two nodes'), [false]);
  });
});

describe('forget(number)', () => {
  test('masks at once, everywhere, and only that number', async () => {
    const { to, message } = fresh();
    const other = { to: `${to}1`, message: 'a longer number that begins the same' };
    const sent = await acme.sms({ to, message }, { 'Idempotency-Key': 'forgotten' });
    const kept = await acme.sms(other, { 'Idempotency-Key': 'kept' });
    await work();
    assert.equal(await forget(to), 1);
    assert.deepEqual(await holds(`${to}<`, message, `"${to}"`, other.to, other.message), [
      false,
      false,
      false,
      true,
      true,
    ]);
    assert.equal((await acme.readSms(sent.body.id)).message, null);
    assert.equal((await acme.readSms(kept.body.id)).to, other.to);
    const again = await acme.sms(other, { 'Idempotency-Key': 'kept' });
    assert.deepEqual([again.headers.get('idempotency-replayed'), again.body.id], ['true', kept.body.id]);
    assert.equal(await forget(to), 0);
  });

  test('cancels what is unsent, and it is never sent', async () => {
    const { to, message } = fresh();
    const queued = await acme.sms({ to, message });
    const scheduled = await acme.sms({ to, message, send_at: new Date(app.clock.nowMs() + dayMs).toISOString() });
    assert.equal(await forget(to), 2);
    app.clock.advance(dayMs);
    await work();
    for (const { body } of [queued, scheduled]) {
      assert.equal((await acme.readSms(body.id)).status, 'canceled');
    }
    assert.deepEqual(await holds(to, message), [false, false]);
  });

  test('what is on the wire at this moment is masked too; its outcome stays unknown, and it is not sent again', async () => {
    const { to, message } = fresh();
    const { body } = await acme.sms({ to, message });
    await createClaims(app.db.database)({
      carrier: 'sandbox',
      nowMs: app.clock.nowMs(),
      leaseMs: 10_000,
      limits: { first: 100, bulk: 100 },
    });
    assert.equal(await forget(to), 1);
    assert.deepEqual(await holds(to, message), [false, false]);
    app.clock.advance(60_000);
    await work();
    assert.equal((await acme.readSms(body.id)).status, 'unknown');
    const { count } = await app.db.database.query('select 1 from handset_text where message_id = $1', [
      uuidOf(body.id),
    ]);
    assert.equal(count, 0);
  });

  test('of thousands of texts leaves none, on no phone either', async () => {
    const { to, message } = fresh();
    const { body } = await acme.sms({ to, message });
    await work();
    await app.db.database.query(
      `with made as (
         insert into message (id, application_id, api, channel, recipient, sender, body, status, encoding, segment_count,
           characters, remaining, correlation_id, created_at, updated_at, expires_at, carrier)
         select (left(m.id::text, 13) || '-0000-1000-' || lpad(i::text, 12, '0'))::uuid, application_id, api, channel,
           recipient, sender, body, status, encoding, segment_count, characters, remaining, correlation_id, created_at,
           updated_at, expires_at, carrier
         from generate_series(1, ${severalPieces}) i, (select * from message where id = $1) m
         returning id, application_id, recipient)
       insert into handset_text (application_id, recipient, message_id, attempt, received_at, delivered)
       select application_id, recipient, id, 1, now(), true from made`,
      [uuidOf(body.id)],
    );
    assert.equal(await forget(to), severalPieces + 1);
    assert.deepEqual(await holds(to, message), [false, false]);
  });

  test('deletes kept answers with it, those of a batch included', async () => {
    const { to, message } = fresh();
    const token = bearer(await getToken(app, acme.client, 'messaging:send'));
    const batch = await send(app, 'POST', '/messaging/v1/messages/batch', {
      body: { messages: [text, { ...text, to, message }] },
      headers: { ...token, 'Idempotency-Key': 'batch' },
    });
    assert.equal(batch.status, 200);
    await forget(to);
    assert.deepEqual(await holds(to, message), [false, false]);
  });
});

function without({ to: _, ...rest }: TextRecord) {
  return rest;
}
