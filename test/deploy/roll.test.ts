// run: with services
// A roll as the chart has it: the Deployment's own settings, probes, preStop and grace, with real processes on loopback,
// where the machine allows it on a read-only root and as user 1000.
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { urlOf } from '../support/node-settings.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { buildService, endServices } from '../support/service.ts';
import { createServiceAddress, Pods, type ServiceAddress } from './chart/pods.ts';
import { podUser, readOnlyCommand } from './chart/read-only.ts';
import { deploymentOf, render } from './chart/rendered.ts';

const replicas = inShort(1, 2);
const rolls = inShort(1, 2);
/** Workers cost two starts more. Without them texts wait. */
const workers = inShort(0, 1);

let db: TestDatabase;
/** By TCP: the socket of the tests' Postgres is open to its own user alone. */
let postgres: FaultProxy;
let redis: RedisServer;
let address: ServiceAddress;
let pods: { web: Pods; worker: Pods };
let acme: TestApplication;
before(async () => {
  await buildService();
  db = await createTestDatabase();
  postgres = await createFaultProxy(db.connection);
  redis = await startRedis();
  address = await createServiceAddress();
  const secrets = {
    DATABASE_URL: urlOf(postgres.connection),
    REDIS_URL: redis.url,
    HELIOGRAPH_SECRET: 'a secret that all nodes share',
    HELIOGRAPH_METRICS_TOKEN: 'a-token-for-metrics-of-pods',
  };
  const settings = { HELIOGRAPH_ADDRESS_PER_MINUTE: '1000000', HELIOGRAPH_ADDRESS_BURST: '1000000' };
  const manifests = render({ environment: 'sandbox', settings });
  // Workers have no callers.
  const own = { ...address, ready: new Set<number>() };
  const podsOf = (role: 'web' | 'worker', at: ServiceAddress) => {
    const { spec, container } = deploymentOf(manifests, role);
    assert.equal((spec.template.spec.securityContext as { runAsUser: number }).runAsUser, podUser);
    return new Pods(spec, container, secrets, at);
  };
  pods = { web: podsOf('web', address), worker: podsOf('worker', own) };
  await pods.web.start(replicas);
  await pods.worker.start(workers);
  acme = await createRegistered(address, ['sms'], 'enterprise');
});
after(async () => {
  await Promise.all([pods.web.end(), pods.worker.end()]);
  await endServices();
  await address.close();
  await redis.stop();
  await postgres.close();
  await db.drop();
});

/** The status, or why there was none. */
function sendText(agent: Agent | false): Promise<number | string> {
  const text = JSON.stringify({ to: '+447700900123', from: 'ACME', message: 'Hello' });
  return new Promise((resolve) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': String(text.length), apikey: acme.apiKey };
    const sending = request(`${address.url}/sms/v1/messages`, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sending.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sending.end(text);
  });
}

/** Callers that never send again: on connections that stay open, and on a new one for each request. */
function startLoad() {
  const kept = new Agent({ keepAlive: true, maxSockets: 4 });
  const statuses = new Map<number | string, number>();
  let isOver = false;
  const keepSending = async (agent: Agent | false) => {
    while (!isOver) {
      const status = await sendText(agent);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await pause(inShort(200, 100));
    }
  };
  const callers = [kept, kept, kept, kept, false, false].map((agent) => keepSending(agent as Agent | false));
  return async () => {
    isOver = true;
    await Promise.all(callers);
    kept.destroy();
    return statuses;
  };
}

test('every pod is replaced, and no request fails, no text is lost or sent twice', async (t) => {
  const stop = startLoad();
  for (let roll = 0; roll < rolls; roll++) await Promise.all([pods.web.roll(), pods.worker.roll()]);
  const statuses = await stop();
  const sent = statuses.get(201) ?? 0;
  const rights = readOnlyCommand === undefined ? 'the rights of the test' : `a read-only root, user ${podUser}`;
  t.diagnostic(`${sent} texts, ${replicas} web pods, ${rolls} rolls, ${rights}`);
  assert.deepEqual([...statuses.keys()], [201]);
  const counts = async () => {
    const sql = 'select count(*)::int as all, count(delivered_at)::int as delivered from message';
    const { rows } = await db.database.query<{ all: number; delivered: number }>(sql, []);
    return rows[0];
  };
  const wanted = { all: sent, delivered: workers > 0 ? sent : 0 };
  await eventually('all are delivered', async () => (await counts())?.delivered === wanted.delivered);
  assert.deepEqual(await counts(), wanted);
  // A pod that cannot write somewhere says so.
  for (const output of [...pods.web.outputs, ...pods.worker.outputs]) assert.doesNotMatch(output, /EROFS|read-only/i);
});
