// Section 7 of the contract: scheduled → queued → sent → delivered | undelivered, and failed, expired, canceled, unknown.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClaims } from '../../src/delivery/queue/claim-store.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { type Answer, send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createSender, type Sender, type TextRecord } from '../support/texts.ts';

const testNumber = (last: string) => `+150055501${last}`;

/** What a record says of its way, in the order of the fields. */
function stateOf({ status, error, sent_at, delivered_at }: TextRecord) {
  return { status, error: error?.code ?? null, permanent: error?.permanent ?? null, sent_at, delivered_at };
}

describe('with the phones reporting back', () => {
  let app: TestApp;
  let acme: Sender;
  before(async () => {
    app = await createTestApp();
    acme = await createSender(app, { apis: ['sms'] });
  });
  after(() => app.close());

  const now = () => new Date(app.clock.nowMs()).toISOString();
  const reaches = (id: string, status: string) =>
    eventually(`${id} to be ${status}`, async () => {
      const record = await acme.readSms(id);
      return record.status === status && record;
    });

  test('queued → sent → delivered, each with its time', async () => {
    const { body } = await acme.sms();
    const sentAt = now();
    const sent = await reaches(body.id, 'sent');
    assert.deepEqual(stateOf(sent), {
      status: 'sent',
      error: null,
      permanent: null,
      sent_at: sentAt,
      delivered_at: null,
    });
    app.clock.advance(100);
    const delivered = await reaches(body.id, 'delivered');
    assert.deepEqual([delivered.sent_at, delivered.delivered_at, delivered.updated_at], [sentAt, now(), now()]);
    assert.deepEqual(Object.keys(delivered), Object.keys(body));
    assert.deepEqual({ ...delivered, ...body }, body, 'all else stays');
  });

  test('test numbers …00 to …09 and …13: delivered', async () => {
    const lasts = [...Array.from({ length: 10 }, (_, i) => `0${i}`), '13'];
    const sent = await Promise.all(lasts.map((last) => acme.sms({ to: testNumber(last) })));
    for (const { body } of sent) await reaches(body.id, 'sent');
    app.clock.advance(100);
    for (const { body } of sent) assert.equal((await reaches(body.id, 'delivered')).error, null);
  });

  test('test number …10: delivered after 10 s', async () => {
    const late = await acme.sms({ to: testNumber('10') });
    await reaches(late.body.id, 'sent');
    app.clock.advance(9_800);
    const usual = await acme.sms();
    await reaches(usual.body.id, 'sent');
    app.clock.advance(199);
    await reaches(usual.body.id, 'delivered');
    assert.equal((await acme.readSms(late.body.id)).status, 'sent');
    app.clock.advance(1);
    assert.equal((await reaches(late.body.id, 'delivered')).delivered_at, now());
  });

  test('test number …11: undelivered; …12: failed; …14: failed, permanent', async () => {
    const [none, blocked, permanent] = await Promise.all(
      ['11', '12', '14'].map(async (last) => (await acme.sms({ to: testNumber(last) })).body.id),
    );
    const sentAt = now();
    await reaches(none ?? '', 'sent');
    app.clock.advance(100);
    const undelivered = await reaches(none ?? '', 'undelivered');
    const end = { permanent: false, sent_at: sentAt, delivered_at: null };
    assert.deepEqual(stateOf(undelivered), { status: 'undelivered', error: 'unreachable', ...end });
    const failed = { status: 'failed', permanent: true, sent_at: null, delivered_at: null };
    assert.deepEqual(stateOf(await reaches(blocked ?? '', 'failed')), { ...failed, error: 'blocked_by_carrier' });
    assert.deepEqual(stateOf(await reaches(permanent ?? '', 'failed')), { ...failed, error: 'invalid_destination' });
    const { error } = await acme.readSms(permanent ?? '');
    assert.deepEqual(Object.keys(error ?? {}), ['code', 'message', 'permanent']);
  });

  test('scheduled → queued → sent at its time and not before', async () => {
    const send_at = new Date(app.clock.nowMs() + 60_000).toISOString();
    const { body } = await acme.sms({ send_at });
    assert.equal(body.status, 'scheduled');
    app.clock.advance(59_999);
    await app.delivery.workers()[0]?.runUntilIdle();
    assert.equal((await acme.readSms(body.id)).status, 'scheduled');
    app.clock.advance(1);
    assert.equal((await reaches(body.id, 'sent')).sent_at, send_at);
  });
});

describe('with the worker in the test’s hand', () => {
  let app: TestApp;
  let acme: Sender;
  let eve: Sender;
  before(async () => {
    app = await createTestApp({ delivery: 'held' });
    acme = await createSender(app);
    eve = await createSender(app, { apis: ['sms'] });
  });
  after(() => app.close());

  const work = () => app.delivery.workers()[0]?.runUntilIdle();
  const cancel = (id: string, who = acme): Promise<Answer<TextRecord & { code: string }>> =>
    send(app, 'DELETE', `/sms/v1/messages/${id}`, { headers: who.key });
  const arrivals = async (ids: string[]) =>
    (await app.db.database.query('select 1 from handset_text where message_id = any($1)', [ids.map(uuidOf)])).count;

  test('expired: its validity ended before it could leave', async () => {
    const { body } = await acme.sms({ validity_seconds: 60 });
    app.clock.advance(60_000);
    await work();
    const record = await acme.readSms(body.id);
    assert.deepEqual([record.status, record.error?.code, record.error?.permanent], ['expired', 'expired', false]);
    assert.equal(await arrivals([body.id]), 0);
  });

  test('unknown: no receipt in 72 h', async () => {
    const { body } = await acme.sms();
    await work();
    app.clock.advance(72 * 3_600_000 - 1);
    await app.delivery.maintenance.runAll();
    assert.equal((await acme.readSms(body.id)).status, 'sent');
    app.clock.advance(1);
    await app.delivery.maintenance.runAll();
    assert.equal((await acme.readSms(body.id)).status, 'unknown');
  });

  test('DELETE → 200 with the canceled record: queued or scheduled; it is never sent', async () => {
    const queued = await acme.sms();
    const scheduled = await acme.sms({ send_at: new Date(app.clock.nowMs() + 3_600_000).toISOString() });
    app.clock.advance(5);
    for (const { body } of [queued, scheduled]) {
      const answer = await cancel(body.id);
      assert.equal(answer.status, 200);
      const updated_at = new Date(app.clock.nowMs()).toISOString();
      assert.equal(JSON.stringify(answer.body), JSON.stringify({ ...body, status: 'canceled', updated_at }));
      const again = await cancel(body.id);
      assert.deepEqual([again.status, again.body.code], [409, 'INCOMPATIBLE_STATE']);
    }
    app.clock.advance(3_600_000);
    await work();
    assert.equal(await arrivals([queued.body.id, scheduled.body.id]), 0);
    assert.equal((await acme.readSms(scheduled.body.id)).status, 'canceled');
  });

  test('a text expires at its time although its carrier takes nothing', async () => {
    const queued = await acme.sms({ validity_seconds: 60 });
    const send_at = new Date(app.clock.nowMs() + 30_000).toISOString();
    const scheduled = await acme.sms({ send_at, validity_seconds: 60 });
    app.clock.advance(60_000);
    await app.delivery.maintenance.runAll();
    assert.equal((await acme.readSms(queued.body.id)).status, 'expired');
    assert.equal((await acme.readSms(scheduled.body.id)).status, 'scheduled');
    app.clock.advance(30_000);
    await app.delivery.maintenance.runAll();
    const { status, error } = await acme.readSms(scheduled.body.id);
    assert.deepEqual([status, error?.code], ['expired', 'expired']);
    assert.equal(await arrivals([queued.body.id, scheduled.body.id]), 0);
  });

  test('DELETE → 409 for what is sent, failed, expired or on the wire at this moment', async () => {
    const sent = await acme.sms();
    const failed = await acme.sms({ to: testNumber('14') });
    await work();
    const expired = await acme.sms({ validity_seconds: 60 });
    app.clock.advance(60_000);
    await work();
    const leaving = await acme.sms();
    await createClaims(app.db.database)({
      carrier: 'sandbox',
      nowMs: app.clock.nowMs(),
      leaseMs: 60_000,
      limits: { first: 10, bulk: 10 },
    });
    for (const [{ body }, status] of [
      [sent, 'sent'],
      [failed, 'failed'],
      [expired, 'expired'],
      [leaving, 'queued'],
    ] as const) {
      const answer = await cancel(body.id);
      assert.deepEqual([answer.status, answer.body.code], [409, 'INCOMPATIBLE_STATE'], status);
      assert.equal((await acme.readSms(body.id)).status, status);
    }
  });

  test("DELETE → 404 for an unknown id and another application's, which stays as it is", async () => {
    const { body } = await acme.sms();
    for (const id of [body.id, 'msg_00000000000000000000000000', 'x', '%00', 'x'.repeat(200), `${body.id}%00`]) {
      const answer = await cancel(id, eve);
      assert.deepEqual([answer.status, answer.body.code], [404, 'NOT_FOUND'], id);
    }
    assert.equal((await acme.readSms(body.id)).status, 'queued');
    // The clock has gone on, and the first token is over.
    const headers = bearer(await getToken(app, acme.client, 'messaging:send'));
    const viaMessaging = await send(app, 'DELETE', `/messaging/v1/messages/${body.id}`, { headers });
    assert.equal(viaMessaging.status, 404);
    assert.equal((await cancel(body.id)).status, 200);
  });

  test('canceled while it is leaving: canceled and nothing arrives, or 409 and it does', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, async () => (await acme.sms()).body.id));
    // A busy machine may make some wait too long for their turn: a 503, with no effect.
    const cancelInTurn = async (id: string) => {
      for (let tries = 1; ; tries++) {
        const answer = await cancel(id);
        if (answer.status !== 503 || tries === 20) return answer;
      }
    };
    const [answers] = await Promise.all([Promise.all([...ids, ...ids].map(cancelInTurn)), work()]);
    const canceled = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.id));
    assert.equal(answers.filter(({ status }) => status === 200).length, canceled.size, 'each is canceled once');
    const others = answers.filter(({ status }) => status !== 200 && status !== 409);
    assert.deepEqual(others, []);
    await work();
    assert.equal(await arrivals([...canceled]), 0);
    assert.equal(await arrivals(ids), ids.length - canceled.size);
  });
});
