// What the limits admit is served, later if need be. What is not served is given back, and the portal counts what was.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Route, route } from '../../src/http/route.ts';
import { unavailable } from '../../src/platform/errors.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  countStatuses,
  createRegistered,
  openKeptConnection,
  sendMany,
  type TestApplication,
} from '../support/applications.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';

const shared = { tag: 'Test', summary: 'For tests', answers: {} } as const;
const byKey = { kind: 'apikey' } as const;
const routes: Route[] = [
  route({
    ...shared,
    method: 'GET',
    path: '/sms/v1/busy',
    auth: byKey,
    handler: () => Promise.reject(unavailable('Busy.')),
  }),
  route({ ...shared, method: 'GET', path: '/sms/v1/quick', auth: byKey, handler: () => ({ status: 200, body: {} }) }),
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

test('an opt-out is served while 150 lists of the same application wait', async () => {
  const acme = await createRegistered(app, ['sms'], 'pro');
  const headers = { apikey: acme.apiKey };
  const connections = Array.from({ length: 150 }, () => openKeptConnection(app));
  const lists = await app.db.another({ poolSize: 1 }).transaction(async (tx) => {
    await tx.query('lock table message in access exclusive mode');
    const asked = connections.map((each, index) =>
      each.ask({ path: `/sms/v1/messages?limit=${1 + (index % 50)}`, headers }),
    );
    await eventually('lists wait', async () => (await waiting()) > 0);
    const optOut = await send(app, 'PUT', '/sms/v1/opt-outs/+447700900123', { headers });
    assert.equal(optOut.status, 200);
    return asked;
  });
  const answers = await Promise.all(lists);
  // A machine that is busy may let some wait too long: those are no use of the plan.
  assert.ok(answers.every(({ status }) => status === 200 || status === 503));
  const served = answers.filter(({ status }) => status === 200).length;
  assert.deepEqual(await meteredOf(acme), { admitted: served + 1, refused: 0 });
  for (const each of connections) each.close();
});
