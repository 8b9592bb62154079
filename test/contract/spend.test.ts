// Segments a day of applications and plans (section 14 of the contract).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { dayMs } from '../../src/platform/clock.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type Answer, send, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type Caller, createProduction, knowsCarrier, type Production, spendRow } from '../support/production.ts';
import { countMessages, createSender, type Refusal, text } from '../support/texts.ts';

interface SpendingApplication extends Refusal {
  id: string;
  name: string;
  high_priority: boolean;
  segments_per_day: number | null;
  segments_limit: number | null;
  segments_today: number;
}

const to = '+447400123456';
const long = 'x'.repeat(400);
const applications = '/portal/v1/operator/applications';
const plans = '/portal/v1/operator/plans';
const codeOf = (answer: Answer<unknown>) => [answer.status, (answer.body as Refusal).code];

describe('in production', () => {
  let production: Production;
  let app: TestApp;
  let other: TestApp;
  let operator: TestDeveloper;
  before(async () => {
    const env = { HELIOGRAPH_ENV: 'production', HELIOGRAPH_SENDERS: 'open', HELIOGRAPH_RESEND_SECONDS: '1' };
    production = await createProduction({ env });
    ({ app, operator } = production);
    other = await createTestApp({ env, delivery: 'held', db: app.db, clock: app.clock });
    await knowsCarrier(other);
  });
  after(async () => {
    await other.close();
    await app.close();
  });

  const limit = async (who: Caller, segments_per_day: number | null) => {
    const path = `${applications}/${who.id}`;
    const { status, body } = await operator.send<SpendingApplication>('PATCH', path, { segments_per_day });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const smsOn = (node: TestApp, who: Caller, given: object = {}, headers = {}) =>
    send(node, 'POST', '/sms/v1/messages', { body: { ...text, to, ...given }, headers: { ...who.key, ...headers } });

  test('402 for the text that does not fit, and nothing is kept; a shorter one may still fit', async () => {
    const acme = await production.createCaller({ plan: 'free', apis: ['sms', 'messaging'] });
    await limit(acme, 4);
    assert.equal((await acme.sms({ to, message: long })).status, 201, 'three segments');
    const key = { 'Idempotency-Key': 'once' };
    for (const [node, headers] of [
      [app, {}],
      [app, key],
      [other, {}],
      [other, key],
    ] as const) {
      assert.deepEqual(codeOf(await smsOn(node, acme, { message: long }, headers)), [402, 'SPEND_LIMIT']);
    }
    assert.equal(await countMessages(app, acme.id), 1);
    assert.equal((await acme.messaging({ to })).status, 200, 'the fourth segment');
    const refused = await acme.messaging({ to });
    assert.deepEqual(codeOf(refused), [402, 'SPEND_LIMIT']);
    assert.match((refused.body as unknown as Refusal).message, /4 segments of the day/);
    assert.deepEqual(Object.keys(refused.body), ['message', 'code', 'correlation_id', 'details']);
    assert.deepEqual(await spendRow(app, acme.id), { segments: 4, most: 4, alerted: 100 });

    await limit(acme, 10);
    assert.equal((await smsOn(app, acme, { message: long }, key)).status, 201, 'the key was not used up');
    assert.equal((await smsOn(other, acme, { message: long }, key)).status, 201, 'and is now repeated');
    assert.equal((await spendRow(app, acme.id))?.segments, 7);
  });

  test('a batch: one item’s error after the other, with and without a key', async () => {
    const acme = await production.createCaller({ plan: 'free', apis: ['messaging'] });
    await limit(acme, 7);
    const messages = [text, { ...text, message: long }, { ...text, message: long }, text].map((each) => ({
      ...each,
      to,
    }));
    const sendBatch = (headers = {}) =>
      send<{ data: { error?: Refusal }[]; summary: object }>(app, 'POST', '/messaging/v1/messages/batch', {
        body: { messages },
        headers: { ...acme.token, ...headers },
      });
    const first = await sendBatch({ 'Idempotency-Key': 'batch' });
    assert.deepEqual(
      first.body.data.map(({ error }) => error?.code),
      [undefined, undefined, undefined, 'SPEND_LIMIT'],
    );
    assert.deepEqual(first.body.summary, { accepted: 3, rejected: 1 });
    assert.deepEqual((await sendBatch({ 'Idempotency-Key': 'batch' })).body, first.body, 'kept');
    const second = await sendBatch();
    assert.deepEqual([second.status, second.body.summary], [200, { accepted: 0, rejected: 4 }]);
    assert.equal(await countMessages(app, acme.id), 3);
    assert.equal((await spendRow(app, acme.id))?.segments, 7);
  });

  test('a start is blocked with spend_limit, before the guard; the pending verification continues', async () => {
    const acme = await production.createCaller({ plan: 'free', apis: ['verify', 'sms'] });
    await limit(acme, 1);
    const pending = await acme.start('+447400200001');
    assert.deepEqual([pending.body.status, pending.body.reason], ['pending', null]);
    const blocked = await acme.start('+447400200002');
    assert.deepEqual([blocked.status, blocked.body.status, blocked.body.reason], [200, 'blocked', 'spend_limit']);
    assert.deepEqual([blocked.body.delivery, blocked.body.sends], [null, 0]);
    // A landline, which the guard would block.
    assert.equal((await acme.start('+442079460958')).body.reason, 'spend_limit');
    assert.equal((await acme.start('+447400200001')).body.id, pending.body.id, 'too early to send again');
    app.clock.advance(1000);
    const again = await acme.start('+447400200001');
    assert.deepEqual([again.body.status, again.body.reason], ['blocked', 'spend_limit']);
    const { body } = await acme.start('+447400200002', {}, { 'Idempotency-Key': 'blocked' });
    assert.deepEqual(
      await acme.start('+447400200002', {}, { 'Idempotency-Key': 'blocked' }).then((same) => same.body),
      body,
    );
    assert.equal((await acme.sms({ to })).status, 402, 'one count for all APIs');
    await limit(acme, 2);
    const sent = await acme.start('+447400200001');
    assert.deepEqual([sent.body.id, sent.body.sends], [pending.body.id, 2]);
    assert.equal((await acme.start('+442079460958')).body.reason, 'spend_limit', 'used up again');
    await limit(acme, 3);
    assert.equal((await acme.start('+442079460958')).body.reason, 'number_type');
    assert.equal((await spendRow(app, acme.id))?.segments, 2);
  });

  test('sixty callers at once, on two nodes and all APIs, get exactly what is left', async () => {
    const acme = await production.createCaller({ plan: 'free' });
    await limit(acme, 20);
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, i): Promise<boolean> => {
        if (i % 3 === 0) return (await acme.start(`+44740030${String(i).padStart(4, '0')}`)).body.status === 'pending';
        const key = i % 2 === 0 ? { 'Idempotency-Key': `k${i}` } : {};
        return (await smsOn(i % 5 === 0 ? other : app, acme, {}, key)).status === 201;
      }),
    );
    assert.equal(answers.filter(Boolean).length, 20);
    assert.deepEqual(await spendRow(app, acme.id), { segments: 20, most: 20, alerted: 100 });
    assert.equal(await countMessages(app, acme.id), 20);
  });

  test('alerts at 50, 80 and 100 percent, each once', async () => {
    const acme = await production.createCaller({ plan: 'free', apis: ['sms'] });
    await limit(acme, 10);
    const alerts: (number | undefined)[] = [];
    for (let i = 0; i < 11; i++) {
      await acme.sms({ to });
      alerts.push((await spendRow(app, acme.id))?.alerted);
    }
    assert.deepEqual(alerts, [0, 0, 0, 0, 50, 50, 50, 80, 80, 100, 100]);
    for (const [most, alerted] of [
      [100, 0],
      [20, 50],
      [12, 80],
      [11, 80],
    ] as const) {
      await limit(acme, most);
      assert.deepEqual(
        await spendRow(app, acme.id),
        { segments: 10, most, alerted },
        'an alert is about the limit as it is',
      );
    }
    assert.deepEqual([(await acme.sms({ to })).status, (await acme.sms({ to })).status], [201, 402]);
    assert.equal((await spendRow(app, acme.id))?.alerted, 100);
  });

  test('plans: 1,000, 100,000 and none, until an operator changes one; then for all of them, on every node', async () => {
    const segmentsOf = ({ body }: Answer) => ({ plan: body.plan, segments_per_day: body.segments_per_day });
    const read = async (plan: string) => segmentsOf(await operator.send('GET', `${plans}/${plan}`));
    assert.deepEqual(await Promise.all(['free', 'Pro', 'enterprise'].map(read)), [
      { plan: 'free', segments_per_day: 1000 },
      { plan: 'pro', segments_per_day: 100_000 },
      { plan: 'enterprise', segments_per_day: null },
    ]);
    const free = await production.createCaller({ plan: 'free', apis: ['sms'] });
    const pro = await production.createCaller({ plan: 'pro', apis: ['sms'] });
    const large = await production.createCaller({ plan: 'enterprise', apis: ['sms'] });
    for (const who of [free, pro, large]) assert.equal((await who.sms({ to })).status, 201);
    assert.equal((await spendRow(app, free.id))?.most, 1000);
    assert.equal((await spendRow(app, pro.id))?.most, 100_000);
    assert.equal(await spendRow(app, large.id), undefined, 'no limit, no count');
    const set = (plan: string, segments_per_day: number | null) =>
      operator.send('PATCH', `${plans}/${plan}`, { segments_per_day });
    assert.deepEqual(segmentsOf(await set('pro', 1)), { plan: 'pro', segments_per_day: 1 });
    assert.deepEqual(segmentsOf(await set('enterprise', 0)), { plan: 'enterprise', segments_per_day: 0 });
    for (const node of [app, other]) {
      assert.equal((await smsOn(node, free)).status, 201);
      assert.equal((await smsOn(node, pro)).status, 402);
      assert.equal((await smsOn(node, large)).status, 402);
    }
    await limit(pro, 3);
    assert.equal((await smsOn(other, pro)).status, 201, 'its own number comes first');
    await set('enterprise', null);
    await set('pro', 100_000);
    assert.equal((await smsOn(other, large)).status, 201);
    const listed = await operator.send<{ data: object[] }>('GET', plans);
    assert.equal(listed.body.data.length, 3);
  });

  test('the largest plan of its registrations counts', async () => {
    const acme = await production.createCaller({ plan: 'free', apis: ['sms'] });
    const read = () => operator.send<SpendingApplication>('GET', `${applications}/${acme.id}`);
    assert.equal((await read()).body.segments_limit, 1000);
    const path = `/portal/v1/applications/${acme.id}/registrations`;
    const { body } = await acme.developer.send('POST', path, { api: 'messaging', plan: 'pro' });
    assert.equal((await read()).body.segments_limit, 1000, 'it waits for an operator');
    await operator.send('POST', `/portal/v1/operator/registrations/${body.id}/approve`);
    assert.equal((await read()).body.segments_limit, 100_000);
  });

  test('what operators and developers read', async () => {
    const acme = await production.createCaller({ plan: 'free', apis: ['sms'] });
    await acme.sms({ to, message: long });
    const { body } = await operator.send<SpendingApplication>('GET', `${applications}/${acme.id}`);
    const about = { id: acme.id, name: 'ACME', high_priority: false, call_countries: [] };
    assert.deepEqual(body, { ...about, segments_per_day: null, segments_limit: 1000, segments_today: 3 });
    assert.deepEqual(await limit(acme, 5), { ...about, segments_per_day: 5, segments_limit: 5, segments_today: 3 });
    const own = await acme.developer.send('GET', `/portal/v1/applications/${acme.id}/spend`);
    const day = new Date(app.clock.nowMs()).toISOString().slice(0, 10);
    assert.deepEqual(own.body, { day, segments: 3, segments_per_day: 5 });
    assert.equal((await limit(acme, null)).segments_limit, 1000);
  });

  test('a limit that begins counts what was sent today without one, by all APIs', async () => {
    const acme = await production.createCaller({ plan: 'enterprise', apis: ['sms', 'messaging', 'verify'] });
    const own = async () => (await acme.developer.send('GET', `/portal/v1/applications/${acme.id}/spend`)).body;
    const day = new Date(app.clock.nowMs()).toISOString().slice(0, 10);
    assert.deepEqual(await own(), { day, segments: 0, segments_per_day: null });
    assert.equal((await acme.sms({ to, message: long })).status, 201, 'three segments');
    assert.equal((await acme.messaging({ to })).status, 200);
    assert.equal((await acme.start('+447400200009')).body.status, 'pending');
    assert.deepEqual(await own(), { day, segments: 5, segments_per_day: null });
    const read = await operator.send<SpendingApplication>('GET', `${applications}/${acme.id}`);
    assert.equal(read.body.segments_today, 5);
    assert.equal(await spendRow(app, acme.id), undefined, 'no limit, no row');

    assert.equal((await limit(acme, 6)).segments_today, 5);
    assert.deepEqual(await spendRow(app, acme.id), { segments: 5, most: 6, alerted: 80 });
    assert.deepEqual([(await smsOn(other, acme)).status, (await smsOn(app, acme)).status], [201, 402]);
    await limit(acme, null);
    assert.equal((await smsOn(other, acme, { message: long })).status, 201);
    assert.equal((await limit(acme, 10)).segments_today, 9, 'again');
    assert.deepEqual([(await smsOn(other, acme)).status, (await smsOn(app, acme)).status], [201, 402]);
  });

  test('texts that nodes accept while a limit begins count once', async () => {
    const acme = await production.createCaller({ plan: 'enterprise', apis: ['sms'] });
    const sending = Array.from({ length: 60 }, (_, i) => smsOn(i % 2 === 0 ? other : app, acme));
    await Promise.all(sending.slice(0, 20));
    await limit(acme, 1000);
    await Promise.all(sending);
    assert.equal((await smsOn(app, acme)).status, 201);
    const counted = (await spendRow(app, acme.id))?.segments ?? 0;
    assert.ok(counted >= 21 && counted <= 61, `${counted} of 61`);
  });

  test('400 names the field; 404 for others and for what is not there', async () => {
    const acme = await production.createCaller({ plan: 'free', apis: ['sms'] });
    const eve = await production.createCaller({ plan: 'free', apis: ['sms'] });
    for (const segments_per_day of [-1, 1.5, '5', 1e10, undefined]) {
      for (const path of [`${applications}/${acme.id}`, `${plans}/free`]) {
        const answer = await operator.send<Refusal>('PATCH', path, { segments_per_day });
        assert.deepEqual([answer.status, answer.body.details[0]?.field], [400, 'segments_per_day']);
      }
    }
    for (const id of ['app_01jcq0000000000000000000zz', 'x', '%00']) {
      for (const method of ['GET', 'PATCH'])
        assert.equal(
          (await operator.send(method, `${applications}/${id}`, method === 'GET' ? undefined : { segments_per_day: 1 }))
            .status,
          404,
        );
    }
    assert.equal((await operator.send('GET', `${plans}/gold`)).status, 404);
    for (const path of [
      `${applications}/${acme.id}`,
      `${plans}/free`,
      plans,
      `/portal/v1/applications/${acme.id}/spend`,
    ]) {
      assert.equal((await eve.developer.send('GET', path)).status, 404, path);
    }
    assert.equal((await eve.developer.send('PATCH', `${plans}/free`, { segments_per_day: 1 })).status, 404);
  });

  test('a number without a route: 402 once all is used up, else 400; nothing is kept', async () => {
    const acme = await production.createCaller({ plan: 'free', apis: ['sms', 'verify'] });
    const routes = '/portal/v1/operator/routes';
    const rule = { name: 'france', match: { countries: ['FR'] }, carriers: [{ carrier: 'acme', weight: 1 }] };
    const { body } = await operator.send<{ version: number }>('GET', routes);
    const put = await operator.send<{ version: number }>('PUT', routes, { version: body.version, routes: [rule] });
    assert.equal(put.status, 200, JSON.stringify(put.body));
    try {
      const refused = await eventually('the node to know the routes', async () => {
        const answer = await acme.sms({ to: '+4915112345678' });
        return answer.status !== 201 && answer;
      });
      assert.deepEqual(codeOf(refused), [400, 'UNROUTABLE_DESTINATION']);
      assert.equal(codeOf(await acme.start('+4915112345678'))[0], 400);
      await limit(acme, 0);
      assert.deepEqual(codeOf(await acme.sms({ to: '+4915112345678' })), [402, 'SPEND_LIMIT']);
      assert.equal((await acme.start('+4915112345678')).body.reason, 'spend_limit');
    } finally {
      await operator.send('PUT', routes, { version: put.body.version, routes: [] });
    }
  });

  // The last one: sessions have ended by then.
  test('the day ends at midnight UTC', async () => {
    const acme = await production.createCaller({ plan: 'free', apis: ['sms'] });
    await limit(acme, 1);
    assert.deepEqual([(await acme.sms({ to })).status, (await acme.sms({ to })).status], [201, 402]);
    const untilMidnight = dayMs - (app.clock.nowMs() % dayMs);
    app.clock.advance(untilMidnight - 1);
    assert.equal((await acme.sms({ to })).status, 402);
    app.clock.advance(1);
    assert.deepEqual([(await acme.sms({ to })).status, (await acme.sms({ to })).status], [201, 402]);
  });
});

describe('in the sandbox', () => {
  test('no limit, and no count', async () => {
    const app = await createTestApp({ delivery: 'held' });
    const acme = await createSender(app, { plan: 'free', apis: ['sms'] });
    await app.db.database.query('update application set segments_per_day = 0');
    assert.equal((await acme.sms()).status, 201);
    assert.equal(await spendRow(app, acme.id), undefined);
    const own = await acme.developer.send('GET', `/portal/v1/applications/${acme.id}/spend`);
    assert.equal(own.body.segments_per_day, null);
    await app.close();
  });
});
