// Plans in Postgres: versioned, changed by operators, true on every node when it is answered. The settings are the seed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { minuteMs } from '../../src/platform/clock.ts';
import type { NodeRecord } from '../../src/portal/operator/node-api.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { send, signUp, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';

let app: TestApp;
/** Another node on the same database. */
let other: TestApp;
let operator: TestDeveloper;
let caller: TestApplication;
before(async () => {
  const env = { HELIOGRAPH_PLANS: '{"free":{"per_minute":100,"burst":70}}' };
  app = await createTestApp({ delivery: 'held', env });
  other = await createTestApp({ delivery: 'held', env, db: app.db, clock: app.clock });
  operator = await createOperator(app);
  caller = await createRegistered(app, ['sms']);
});
after(async () => {
  await other.close();
  await app.close();
});

const path = '/portal/v1/operator/plans';
interface Plan {
  plan: string;
  version: number;
  per_minute: number;
  burst: number;
  segments_per_day: number | null;
}
const read = async (plan = 'free') => (await operator.send<Plan>('GET', `${path}/${plan}`)).body;
const put = (version: number, numbers: object, plan = 'free') =>
  operator.send<Plan>('PUT', `${path}/${plan}`, { version, burst: 80, segments_per_day: 1000, ...numbers });
/** The limit that a node applies to the application's key. */
const limitOn = async (node: TestApp) => {
  const { headers } = await send(node, 'GET', '/sms/v1/messages?limit=1', { headers: { apikey: caller.apiKey } });
  return Number(headers.get('ratelimit-limit'));
};

test('the settings are version 0; a new version holds on every node at once, in the service and in the usage', async () => {
  assert.deepEqual(await read(), { plan: 'free', version: 0, per_minute: 100, burst: 70, segments_per_day: 1000 });
  for (const node of [app, other]) assert.equal(await limitOn(node), 100);
  const written = await put(0, { per_minute: 40 });
  assert.deepEqual(
    [written.status, written.body],
    [200, { plan: 'free', version: 1, per_minute: 40, burst: 80, segments_per_day: 1000 }],
  );
  for (const node of [other, app]) assert.equal(await limitOn(node), 40);
  const service = await send<{ plans: { name: string; per_minute: number }[] }>(other, 'GET', '/portal/v1/service');
  assert.deepEqual(
    service.body.plans.map(({ name, per_minute }) => [name, per_minute]),
    [
      ['free', 40],
      ['pro', 600],
      ['enterprise', 6000],
    ],
  );
  const usage = await caller.developer.send<{ data: { per_minute: number; burst: number }[] }>(
    'GET',
    `/portal/v1/applications/${caller.id}/usage`,
  );
  assert.deepEqual([usage.body.data[0]?.per_minute, usage.body.data[0]?.burst], [40, 80]);
});

interface UsageSteps {
  data: { steps: { at: string; per_minute: number | null; admitted: number }[] }[];
}

test('usage shows the limit that applied then, also after a plan was changed', async () => {
  const limits = async () => {
    for (const node of [app, other]) await node.app.metering.flush();
    const { body } = await caller.developer.send<UsageSteps>('GET', `/portal/v1/applications/${caller.id}/usage`);
    return body.data[0]?.steps.flatMap(({ per_minute }) => per_minute ?? []);
  };
  assert.deepEqual(await limits(), [100], 'the highest of the minute in which it was changed');
  app.clock.advance(minuteMs);
  await limitOn(app);
  assert.equal((await put(1, { per_minute: 30 })).status, 200);
  app.clock.advance(minuteMs);
  await limitOn(other);
  assert.deepEqual(await limits(), [100, 40, 30]);
});

test('nodes: each with its version, role and times', async () => {
  const { body } = await operator.send<{ data: NodeRecord[] }>('GET', '/portal/v1/operator/nodes');
  assert.deepEqual(
    body.data.map(({ version, role, live, answered }) => ({ version, role, live, answered })),
    [
      { version: '0.0.0-test', role: 'all', live: true, answered: true },
      { version: '0.0.0-test', role: 'all', live: true, answered: false },
    ],
  );
  for (const { started_at, seen_at } of body.data) {
    assert.match(started_at ?? '', /^\d{4}-.*Z$/);
    assert.match(seen_at, /^\d{4}-.*Z$/);
  }
  assert.equal((await caller.developer.send('GET', '/portal/v1/operator/nodes')).status, 404);
});

test('of operators who change the same version one wins; the others get a 409 and nothing is lost', async () => {
  const { version } = await read();
  const answers = await Promise.all([51, 52, 53, 54].map((per_minute) => put(version, { per_minute })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  const won = answers.find(({ status }) => status === 200)?.body;
  assert.deepEqual(await read(), won);
  assert.equal(won?.version, version + 1);
  assert.equal((await put(version, { per_minute: 9 })).status, 409);
  assert.equal((await put(version + 2, { per_minute: 9 })).status, 409, 'a version that is not there yet');
});

test('PATCH changes single numbers; every version stays, with its operator', async () => {
  const before = await read();
  const patched = await operator.send<Plan>('PATCH', `${path}/free`, { segments_per_day: null });
  assert.deepEqual(patched.body, { ...before, version: before.version + 1, segments_per_day: null });
  const { body } = await operator.send<{ data: (Plan & { created_by: string })[] }>('GET', `${path}/free/versions`);
  assert.deepEqual(
    body.data.map(({ version }) => version),
    [4, 3, 2, 1],
  );
  assert.equal(body.data[0]?.created_by, operator.email);
  assert.deepEqual((await operator.send<{ data: Plan[] }>('GET', `${path}/pro/versions`)).body.data, []);
  const all = await operator.send<{ data: Plan[] }>('GET', path);
  assert.deepEqual(
    all.body.data.map(({ plan, version }) => [plan, version]),
    [
      ['free', 4],
      ['pro', 0],
      ['enterprise', 0],
    ],
  );
});

test('400 names the field; 404 for another plan and for other callers', async () => {
  const good = { version: 4, per_minute: 60, burst: 60, segments_per_day: 1 };
  for (const wrong of [
    { version: -1 },
    { per_minute: 0 },
    { burst: 1_000_001 },
    { segments_per_day: -1 },
    { per_minute: 1.5 },
  ]) {
    const { status, body } = await operator.send('PUT', `${path}/free`, { ...good, ...wrong });
    assert.equal(status, 400);
    assert.equal((body.details as { field: string }[])[0]?.field, Object.keys(wrong)[0]);
  }
  for (const wrong of [{}, { per_minute: null }, { burst: 'x' }])
    assert.equal((await operator.send('PATCH', `${path}/free`, wrong)).status, 400);
  assert.equal((await operator.send('PUT', `${path}/gold`, good)).status, 404);
  assert.equal((await operator.send('GET', `${path}/gold/versions`)).status, 404);
  const ada = await signUp(app);
  for (const method of ['PUT', 'PATCH', 'GET']) assert.equal((await ada.send(method, `${path}/free`)).status, 404);
});
