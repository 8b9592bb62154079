// What became of texts and verifications over time: for operators by country, channel, carrier or sender, for
// developers by country or channel.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { dayMs, hourMs, minuteMs, toTimestamp } from '../../src/platform/clock.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import type { AnalyticsRecord } from '../../src/portal/developer/analytics-record.ts';
import { spanNames } from '../../src/quality/analytics/read.ts';
import { dayOf } from '../../src/quality/total-store.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { send, signUp, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, type Refusal, type Sender } from '../support/texts.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let operator: TestDeveloper;
let sender: Sender;
before(async () => {
  app = await createTestApp();
  operator = await createOperator(app);
  sender = await createSender(app);
});
after(() => app.close());
beforeEach(() => app.db.database.query('truncate total_day, total_step, verification_step'));

const path = '/portal/v1/operator/analytics';
async function read(query = '', who: TestDeveloper = operator, from = path): Promise<AnalyticsRecord> {
  const { status, body } = await who.send<AnalyticsRecord>('GET', `${from}${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

interface Given {
  carrier?: string;
  country?: string;
  from?: string;
  application?: string;
  sent?: number;
  delivered?: number;
  arrived?: string | null;
}

/** A step or a day as a node wrote it, and the verifications of that time. */
async function write(
  at: { ms: number; minutes: 5 | 60 | 1440 },
  given: Given,
  verifications: [number, number] = [0, 0],
) {
  const {
    carrier = 'acme#1',
    country = 'GB',
    from = 'ACME',
    application = sender.id,
    sent = 0,
    delivered = 0,
    arrived = null,
  } = given;
  const keys = [carrier, country, from, uuidOf(application)];
  const counts = [sent, delivered, arrived];
  const columns =
    'carrier, country, sender, application_id, node, revision, sent, reported, delivered, arrived, code_arrived';
  const values = `$2, $3, $4, $5, 'nod_a', 1, $6, $7, $7, $8, $8`;
  if (at.minutes === 1440)
    await app.db.database.query(`insert into total_day (day, ${columns}) values ($1, ${values})`, [
      dayOf(at.ms),
      ...keys,
      ...counts,
    ]);
  else
    await app.db.database.query(
      `insert into total_step (at, minutes, ${columns}) values ($1, ${at.minutes}, ${values})`,
      [...[toTimestamp(at.ms), ...keys, ...counts]],
    );
  await app.db.database.query(
    `insert into verification_step (at, minutes, carrier, country, sender, application_id, verifications, approved)
     values ($1, ${at.minutes}, $2, $3, $4, $5, $6, $7)`,
    [toTimestamp(at.ms), ...keys, ...verifications],
  );
}

const beginOf = (ms: number, unitMs: number) => ms - (ms % unitMs);
const minutesAgo = (minutes: number) => beginOf(app.clock.nowMs() - minutes * minuteMs, 5 * minuteMs);
const hoursAgo = (hours: number) => beginOf(app.clock.nowMs() - hours * hourMs, hourMs);
const daysAgo = (days: number) => beginOf(app.clock.nowMs() - days * dayMs, dayMs);

describe('counting', () => {
  test('texts and verifications of the service itself are in the last hour, by country, carrier and sender', async () => {
    const well = (await sender.sms()).body.id;
    const bad = (await sender.sms({ to: '+15005550111', from: 'Other' })).body.id;
    for (const [id, status] of [
      [well, 'delivered'],
      [bad, 'undelivered'],
    ] as const)
      for (let looks = 0; (await sender.readSms(id)).status !== status; looks++) {
        assert.ok(looks < 500, `${id} should be ${status}`);
        app.clock.advance(100);
        await new Promise((done) => setTimeout(done, 10));
      }
    const caller = await createVerifyCaller(app);
    const { id, code } = await caller.pending();
    await caller.pending();
    assert.equal((await caller.check(id, code)).body.status, 'approved');
    await app.delivery.totals.flush();
    app.clock.advance(11 * minuteMs);
    await app.delivery.maintenance.runAll();
    const { data, all, at, step_seconds } = await read('?span=hour');
    assert.deepEqual([at.length, step_seconds, all.steps.length], [12, 300, 12]);
    const us = data.find(({ name }) => name === 'US')?.total ?? assert.fail('texts to the US');
    assert.deepEqual([us.undelivered, us.failed, us.delivered], [1, 0, 0]);
    assert.ok(all.total.delivered >= 1 && (all.total.seconds_median ?? 0) > 0, JSON.stringify(all.total));
    assert.deepEqual([all.total.verifications, all.total.approved, all.total.conversion], [2, 1, 0.5]);
    assert.equal(
      all.steps.reduce((sum, { texts }) => sum + texts, 0),
      all.total.texts,
    );
    assert.deepEqual(
      (await read('?span=hour&by=carrier')).data.map(({ name }) => name),
      ['sandbox'],
    );
    assert.ok((await read('?span=hour&by=sender')).data.some(({ name }) => name === 'Other'));
    // The same texts are in the totals of the day.
    const week = await read('?span=week');
    assert.deepEqual([week.all.total.texts, week.all.total.delivered], [all.total.texts, all.total.delivered]);
  });
});

describe('channels', () => {
  test('texts, calls and WhatsApp messages count apart, with the conversion of each; inbound has only a conversion', async () => {
    const owner = await createSender(app, { apis: ['verify'] });
    const { client_id: clientId, client_secret: clientSecret } = owner.client;
    const caller = await createVerifyCaller(app, { clientId, clientSecret } as VerifyCaller);
    const untilDelivered = async (id: string) =>
      eventually('its delivery', async () => {
        app.clock.advance(200);
        return (await caller.read(id)).body.delivery?.status === 'delivered';
      });
    const started = [];
    for (const channel of ['sms', 'sms', 'voice', 'whatsapp']) {
      const { body } = await caller.start({ to: caller.newNumber(), channel });
      await untilDelivered(body.id);
      started.push(body);
    }
    const approve = async ({ id, to }: VerificationBody) => {
      const code = caller.codeIn((await caller.texts(to, 1))[0]?.text ?? '');
      assert.equal((await caller.check(id, code)).body.valid, true);
    };
    await approve(started[0] as VerificationBody);
    await approve(started[3] as VerificationBody);
    // Its code went by two channels; the last one counts.
    const both = await caller.start({ to: caller.newNumber() });
    await untilDelivered(both.body.id);
    await caller.start({ to: both.body.to, channel: 'voice' });
    await untilDelivered(both.body.id);
    const asked = await caller.start({ to: caller.newNumber(), channel: 'inbound' });
    const { number, text } = (asked.body as unknown as { inbound: { number: string; text: string } }).inbound;
    await caller.send('POST', '/sandbox/v1/inbox/replies', { from: asked.body.to, to: number, message: text });
    await app.delivery.totals.flush();
    app.clock.advance(11 * minuteMs);
    await app.delivery.maintenance.runAll();

    const own = `/portal/v1/applications/${owner.id}/analytics`;
    const byChannel = async (who: TestDeveloper, from: string) =>
      (await read('?span=hour&by=channel', who, from)).data
        .map(({ name, total }) => [name, total.texts, total.delivered, total.verifications, total.approved])
        .sort(([a], [b]) => String(a).localeCompare(String(b)));
    const expected = [
      ['inbound', 0, 0, 1, 1],
      ['sms', 3, 3, 2, 1],
      ['voice', 2, 2, 2, 0],
      ['whatsapp', 1, 1, 1, 1],
    ];
    assert.deepEqual(await byChannel(owner.developer, own), expected);
    const { total } = (await read('?span=hour', owner.developer, own)).all;
    assert.deepEqual([total.texts, total.verifications, total.approved], [6, 6, 3]);
    // Other applications of this file sent texts alone.
    const isOther = ([name]: unknown[]) => name !== 'sms';
    assert.deepEqual((await byChannel(operator, path)).filter(isOther), expected.filter(isOther));
    assert.deepEqual(
      (await read('?span=hour&by=carrier')).data.map(({ name }) => name),
      ['sandbox'],
      'a channel is no part of the name of a carrier',
    );
    const { body: totals } = await operator.send<{ data: Record<string, unknown>[] }>(
      'GET',
      '/portal/v1/operator/totals?by=channel,carrier,application',
    );
    assert.deepEqual(
      totals.data
        .filter(({ application_id }) => application_id === owner.id)
        .map(({ channel, carrier, sent, codes, approved }) => [channel, carrier, sent, codes, approved]),
      [
        ['sms', 'sandbox', 3, 2, 1],
        ['voice', 'sandbox', 2, 1, 0],
        ['whatsapp', 'sandbox', 1, 1, 1],
      ],
    );
    assert.equal((await owner.developer.send('GET', `${own}?by=carrier`)).status, 400);
  });
});

describe('spans', () => {
  test('each has its steps, from sums of steps, hours and days', async () => {
    await write({ ms: minutesAgo(30), minutes: 5 }, { sent: 10, delivered: 9, arrived: '{5,3,1}' }, [4, 3]);
    await write({ ms: hoursAgo(20), minutes: 60 }, { sent: 20, delivered: 10 }, [10, 5]);
    await write({ ms: daysAgo(5), minutes: 1440 }, { sent: 40, delivered: 10 }, [20, 5]);
    await write({ ms: daysAgo(29), minutes: 1440 }, { sent: 80, delivered: 8 }, [40, 4]);
    const texts = async (span: string) => {
      const { all, at } = await read(`?span=${span}`);
      return [at.length, all.total.texts, all.total.verifications];
    };
    assert.deepEqual(await texts('hour'), [12, 10, 4]);
    assert.deepEqual(await texts('day'), [24, 30, 14]);
    const week = await read('?span=week');
    assert.deepEqual([week.at.length, week.all.total.texts, week.step_seconds], [7, 40, 86_400]);
    assert.ok(week.all.total.verifications >= 20, 'verifications of days, and of the steps since');
    assert.equal((await read('?span=month')).all.total.texts, 120);
    const hour = await read('?span=hour');
    const { total, steps } = hour.data[0] ?? assert.fail('a group');
    assert.deepEqual(
      [total.delivered_share, total.unreported, total.code_seconds_median, total.code_seconds_p95],
      [0.9, 1, 1, 3],
    );
    assert.deepEqual([total.conversion, steps.filter((step) => step.texts > 0).length], [0.75, 1]);
    assert.ok((total.conversion_low ?? 0) < 0.75 && (total.conversion_high ?? 1) > 0.75);
  });

  test('the largest groups first; the first five have steps', async () => {
    const countries = ['AT', 'BE', 'CH', 'DE', 'ES', 'FR', ''];
    for (const [index, country] of countries.entries())
      await write({ ms: minutesAgo(10), minutes: 5 }, { country, sent: 10 + index });
    const { data, truncated } = await read('?span=hour');
    assert.deepEqual(
      data.map(({ name }) => name),
      [null, 'FR', 'ES', 'DE', 'CH', 'BE', 'AT'],
    );
    assert.deepEqual(
      data.map(({ steps }) => steps.length),
      [12, 12, 12, 12, 12, 0, 0],
    );
    assert.equal(truncated, false);
  });

  test('bad queries name the field and what would be right', async () => {
    for (const [query, field] of [
      ['?span=year', 'span'],
      ['?by=application', 'by'],
      ['?span=%00', 'span'],
    ] as const) {
      const { status, body } = await operator.send<Refusal>('GET', path + query);
      assert.deepEqual([status, body.details[0]?.field], [400, field], query);
    }
    assert.equal((await (await signUp(app)).send('GET', path)).status, 404);
  });
});

describe('developers', () => {
  test('read their own application by country, without a word about carriers', async () => {
    const other = await createSender(app);
    await write({ ms: minutesAgo(10), minutes: 5 }, { sent: 10, delivered: 5 }, [2, 1]);
    await write({ ms: minutesAgo(10), minutes: 5 }, { application: other.id, sent: 70, delivered: 70 }, [7, 7]);
    await write({ ms: daysAgo(0), minutes: 1440 }, { sent: 10, delivered: 5 });
    const own = `/portal/v1/applications/${sender.id}/analytics`;
    for (const span of spanNames) {
      const record = await read(`?span=${span}`, sender.developer, own);
      assert.deepEqual([record.all.total.texts, record.data.map(({ name }) => name)], [10, ['GB']], span);
      assert.ok(!JSON.stringify(record).includes('acme'), 'no carrier');
    }
    assert.equal((await sender.developer.send('GET', `/portal/v1/applications/${other.id}/analytics`)).status, 404);
    assert.equal((await sender.developer.send('GET', `${own}?span=x`)).status, 400);
  });
});

test('outcomes of callers’ codes count, whenever they come, and each code once', async () => {
  const acme = await createSender(app, { apis: ['verify'] });
  const own = `/portal/v1/applications/${acme.id}/analytics`;
  const { developer } = acme;
  const headers = bearer(await getToken(app, acme.client, 'verify:manage'));
  const verifications = '/verify/v1/verifications';
  let numbers = 447_400_910_000;
  const startOne = async (code: string) => {
    const body = { to: `+${numbers++}`, channel: 'sms', code };
    const { id } = (await send<{ id: string }>(app, 'POST', verifications, { body, headers })).body;
    await eventually('its text is sent', async () => {
      const read = await send<VerificationBody>(app, 'GET', `${verifications}/${id}`, { headers });
      return read.body.delivery?.status !== 'queued';
    });
    return id;
  };
  const start = () => Promise.all(['71711', '71712', '71713'].map(startOne));
  const report = async (id: string | undefined, outcome: string) => {
    const { status } = await send(app, 'PUT', `${verifications}/${id}/outcome`, { body: { outcome }, headers });
    assert.equal(status, 200);
  };
  const counted = async () => {
    await app.delivery.maintenance.runAll();
    const { verifications, approved } = (await read('?span=hour', developer, own)).all.total;
    return [verifications, approved];
  };
  const first = await start();
  app.clock.advance(11 * minuteMs);
  assert.deepEqual(await counted(), [0, 0], 'it reports nothing');
  await report(first[0], 'approved');
  await report(first[1], 'failed');
  assert.deepEqual(await counted(), [2, 1], 'the first that it reports, late');
  const second = await start();
  await report(second[0], 'approved');
  app.clock.advance(11 * minuteMs);
  assert.deepEqual(await counted(), [5, 2], 'in time; the others count without an approval');
  await report(second[1], 'approved');
  await report(second[2], 'failed');
  assert.deepEqual(await counted(), [5, 3], 'late: only the approval is new');
  assert.deepEqual(await counted(), [5, 3]);
  const totals = await app.db.database.query<{ codes: number; approved: number }>(
    `select sum(codes)::integer as codes, sum(approved)::integer as approved from total_day where application_id = $1`,
    [uuidOf(acme.id)],
  );
  assert.deepEqual(totals.rows, [{ codes: 5, approved: 3 }]);
});
