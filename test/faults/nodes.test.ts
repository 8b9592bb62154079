// run: with crashes, on web processes
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Connection, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { createFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { urlOf } from '../support/node-settings.ts';
import { freePort, makeFolder } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';

const databases: TestDatabase[] = [];
const proxies: FaultProxy[] = [];
before(buildService);
after(async () => {
  await endServices();
  for (const proxy of proxies) await proxy.close();
  for (const database of databases) await database.drop();
});

async function makeDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const database = await createTestDatabase({ empty });
  databases.push(database);
  return database;
}

/** A node on a database of one's own: no Postgres of its own, and the same secret as the others. */
function startNode(connection: Connection, env: Record<string, string> = {}): Promise<Service> {
  const own = { DATABASE_URL: urlOf(connection), HELIOGRAPH_SECRET: 'a secret that all nodes share', ...env };
  return startService({ dataDir: makeFolder('node'), env: own, readyAt: '/healthz' });
}

async function assertStops(service: Service): Promise<void> {
  service.kill('SIGTERM');
  assert.equal((await service.ended).code, 0, service.output());
}

// Most of it is waiting for time-outs, so both groups run at the same time.
describe('nodes', { concurrency: 2 }, () => {
  describe('nodes on one database', { concurrency: 2 }, () => {
    test('with REDIS_URL both run, started at the same moment on an empty database', async () => {
      const { connection } = await makeDatabase({ empty: true });
      const redis = { REDIS_URL: `redis://127.0.0.1:${await freePort()}` };
      const both = await Promise.all([startNode(connection, redis), startNode(connection, redis)]);
      await Promise.all(both.map(({ ready }) => ready));
      const alone = await startNode(connection);
      assert.equal((await alone.ended).code, 1);
      await Promise.all(both.map(assertStops));
    });

    test('a database without a server is named in one sentence, without its password', async () => {
      const { connection } = await makeDatabase();
      const service = await startNode({ ...connection, host: '127.0.0.1', port: await freePort() });
      assert.equal((await service.ended).code, 1);
      assert.match(service.output(), /The database cannot be used: .*ECONNREFUSED/);
      assert.ok(!service.output().includes(connection.password));
      assert.doesNotMatch(service.output(), /at .*\.js/);
    });
  });

  describe('a node alone, and a database that falls silent under it', { concurrency: 1 }, () => {
    let connection: Connection;
    let proxy: FaultProxy;
    let service: Service;
    before(async () => {
      ({ connection } = await makeDatabase());
      proxy = await createFaultProxy(connection);
      proxies.push(proxy);
      service = await startNode(proxy.connection);
      await service.ready;
    });

    test('without REDIS_URL a second one refuses, and the first goes on', async () => {
      const second = await startNode(connection);
      assert.equal((await second.ended).code, 1);
      assert.match(second.output(), /Another Heliograph is already running on this database.*REDIS_URL/s);
      assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
    });

    function signIn(): Promise<Response> {
      return fetch(`${service.url}/portal/v1/sessions`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email: 'nobody@example.com', password: 'not the password' }),
      });
    }

    test('requests that need it are a 503 with Retry-After within 5 s, and work again when it is back', async () => {
      assert.equal((await signIn()).status, 401);
      proxy.set({ kind: 'black-hole' });
      const startedMs = performance.now();
      const answers = await Promise.all([signIn(), signIn(), signIn()]);
      const tookMs = performance.now() - startedMs;
      for (const answer of answers) {
        assert.equal(answer.status, 503);
        assert.ok(Number(answer.headers.get('Retry-After')) >= 1);
        assert.equal(((await answer.json()) as { code: string }).code, 'UNAVAILABLE');
      }
      assert.ok(tookMs < inShort(60_000, 15_000), `${tookMs} ms`);
      assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
      proxy.set({ kind: 'pass' });
      let healed = 0;
      for (let tries = 0; tries < 200 && healed !== 401; tries++) {
        healed = (await signIn()).status;
        await new Promise((done) => setTimeout(done, 50));
      }
      assert.equal(healed, 401);
    });

    test('the node can still be stopped', async () => {
      proxy.set({ kind: 'black-hole' });
      const startedMs = performance.now();
      await assertStops(service);
      assert.ok(performance.now() - startedMs < inShort(60_000, 30_000));
    });
  });
});
