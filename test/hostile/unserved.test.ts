// What the limits admit is served, later if need be. What is not served is given back, and the portal counts what was.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Call, type Route, requireApplication, route } from '../../src/http/route.ts';
import { unavailable } from '../../src/platform/errors.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  bearer,
  countStatuses,
  createRegistered,
  getToken,
  openKeptConnection,
  sendMany,
  type TestApplication,
} from '../support/applications.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';

/** Reads that end when the test says so. */
let letGo = () => {};
let gate = Promise.resolve();
const begun: string[] = [];
function closeGate(): void {
  begun.length = 0;
  gate = new Promise((resolve) => {
    letGo = resolve;
  });
}

async function slowRead(call: Call) {
  const { applicationId } = requireApplication(call);
  begun.push(applicationId);
  await gate;
  return { status: 200, body: { application_id: applicationId } };
}

const shared = { tag: 'Test', summary: 'For tests', answers: {} } as const;
const byKey = { kind: 'apikey' } as const;
const ofApis = [
  ['sms', byKey],
  ['verify', { kind: 'bearer', scope: 'verify:manage' }],
  ['messaging', { kind: 'bearer', scope: 'messaging:send' }],
] as const;
const routes: Route[] = [
  route({
    ...shared,
    method: 'GET',
    path: '/sms/v1/busy',
    auth: byKey,
    handler: () => Promise.reject(unavailable('Busy.')),
  }),
  route({ ...shared, method: 'GET', path: '/sms/v1/quick', auth: byKey, handler: () => ({ status: 200, body: {} }) }),
  ...ofApis.map(([api, auth]) =>
    route({ ...shared, method: 'GET', path: `/${api}/v1/slow/{id}`, auth, bulkhead: 'side', handler: slowRead }),
  ),
  route({
    ...shared,
    method: 'GET',
    path: '/sms/v1/equal',
    auth: byKey,
    bulkhead: 'side',
    shared: true,
    handler: slowRead,
  }),
];

let app: TestApp;
before(async () => {
  app = await createTestApp({ extraRoutes: routes });
});
after(() => app.close());

const remaining = ({ headers }: { headers: Record<string, string> }) => Number(headers['ratelimit-remaining']);
const waiting = async () => Number(/^heliograph_side_requests_waiting (\d+)$/m.exec(await app.app.metrics.text())?.[1]);

async function meteredOf({ developer, id }: TestApplication): Promise<{ admitted: number; refused: number }> {
  const { body } = await developer.send<{ data: { api: string; totals: { admitted: number; refused: number } }[] }>(
    'GET',
    `/portal/v1/applications/${id}/usage`,
  );
  const { admitted = -1, refused = -1 } = body.data.find(({ api }) => api === 'sms')?.totals ?? {};
  return { admitted, refused };
}

describe('a 503 of an identified caller', () => {
  test('gives its slot and its count back', async () => {
    const acme = await createRegistered(app, ['sms']);
    const headers = { apikey: acme.apiKey };
    const busy = await sendMany(app, 300, { path: '/sms/v1/busy', headers });
    // More than the limit are under way at once, so some find it full.
    const unserved = busy.filter(({ status }) => status === 503);
    assert.ok(unserved.length >= 60 && busy.every(({ status }) => status === 503 || status === 429));
    for (const answer of unserved) assert.equal(answer.headers['retry-after'], '1');
    const quick = await sendMany(app, 60, { path: '/sms/v1/quick', headers });
    assert.deepEqual(countStatuses(quick), { 200: 60 });
    assert.equal(Math.min(...quick.map(remaining)), 0);
    assert.deepEqual(await meteredOf(acme), { admitted: 60, refused: 300 - unserved.length });
  });

  test('says in its headers how the caller stands after that', async () => {
    const acme = await createRegistered(app, ['sms']);
    const connection = openKeptConnection(app);
    const ask = (path: string) => connection.ask({ path, headers: { apikey: acme.apiKey } });
    assert.equal(remaining(await ask('/sms/v1/quick')), 59);
    for (let turn = 0; turn < 3; turn++) assert.equal(remaining(await ask('/sms/v1/busy')), 59);
    assert.equal(remaining(await ask('/sms/v1/quick')), 58);
    connection.close();
  });
});

describe('a bulkhead delays', () => {
  test('the whole burst of each API, and holds up neither the same caller’s writes nor another’s reads', async () => {
    const acme = await createRegistered(app);
    const other = await createRegistered(app, ['sms']);
    const tokens = {
      sms: { apikey: acme.apiKey },
      verify: bearer(await getToken(app, acme.client, 'verify:manage')),
      messaging: bearer(await getToken(app, acme.client, 'messaging:send')),
    };
    closeGate();
    const bursts = ofApis.map(([api]) =>
      sendMany(app, 59, (index) => ({ path: `/${api}/v1/slow/${index}`, headers: tokens[api] })),
    );
    // Eight connections each: the others are sent ahead on them, and read one after the other.
    await eventually('they wait', async () => begun.length === 2 && (await waiting()) >= 20);
    const optOut = await send(app, 'PUT', '/sms/v1/opt-outs/+447700900123', { headers: tokens.sms });
    assert.equal(optOut.status, 200, 'a write passes its caller’s reads');
    const theirs = sendMany(app, 1, { path: '/sms/v1/slow/1', headers: { apikey: other.apiKey } });
    await eventually('the other begins', () => begun.includes(other.id));
    letGo();
    for (const answers of [...bursts, theirs]) {
      const statuses = countStatuses(await answers);
      assert.deepEqual(Object.keys(statuses), ['200'], JSON.stringify(statuses));
    }
  });

  test('and a caller that disconnects leaves its queue', async () => {
    const acme = await createRegistered(app, ['sms']);
    closeGate();
    const connections = Array.from({ length: 30 }, () => openKeptConnection(app));
    const asked = connections.map((each, index) =>
      each.ask({ path: `/sms/v1/slow/${index}`, headers: { apikey: acme.apiKey } }),
    );
    await eventually('they wait', async () => (await waiting()) === 28);
    for (const each of connections.slice(10)) each.close();
    await eventually('those that left do not', async () => (await waiting()) <= 10);
    letGo();
    const answers = await Promise.all(asked.slice(0, 10).filter((_, index) => index < 10));
    assert.deepEqual(countStatuses(answers), { 200: 10 });
    assert.ok(begun.length <= 12, `${begun.length} reads for ten callers, and two that had begun`);
    for (const each of connections) each.close();
  });

  test('equal reads of a registration are done once, and none joins another’s or one that has begun', async () => {
    const [acme, other] = [await createRegistered(app, ['sms']), await createRegistered(app, ['sms'])];
    closeGate();
    const connections = Array.from({ length: 40 }, () => openKeptConnection(app));
    const asked = connections.map((each, index) =>
      each.ask({ path: '/sms/v1/equal', headers: { apikey: (index % 2 === 0 ? acme : other).apiKey } }),
    );
    await eventually('both have begun what they may', () => begun.length === 4);
    await eventually('the rest waits together', async () => (await waiting()) === 2);
    letGo();
    assert.deepEqual(countStatuses(await Promise.all(asked)), { 200: 40 });
    assert.deepEqual([...begun].sort(), [acme.id, acme.id, acme.id, other.id, other.id, other.id].sort());
    for (const each of connections) each.close();
  });
});
