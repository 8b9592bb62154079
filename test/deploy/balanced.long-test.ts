// Two nodes with a Postgres and a Redis behind HAProxy, by the configuration of deploy/.
import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { signUp, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { sharedSettings, urlOf } from '../support/node-settings.ts';
import { freePort, makeFolder } from '../support/process.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';
import { type HaProxy, startHaProxy } from './haproxy.ts';

const perMinute = 100;
const signInsPerMinute = 3;

let db: TestDatabase;
let redis: RedisServer;
let proxy: HaProxy;
let developer: TestDeveloper;
const ports: number[] = [];
const nodes: Service[] = [];
before(async () => {
  await buildService();
  db = await createTestDatabase({ empty: true });
  redis = await startRedis();
  ports.push(await freePort(), await freePort());
  proxy = await startHaProxy([ports[0] ?? 0, ports[1] ?? 0]);
  for (const index of [0, 1]) await startNode(index);
  await bothUsed();
  developer = await signUp(proxy);
});
after(async () => {
  await endServices();
  await proxy.close();
  await redis.stop();
  await db.drop();
});

async function startNode(index: number): Promise<void> {
  const node = await startService({
    port: ports[index] ?? 0,
    dataDir: makeFolder('node'),
    command: ['node', 'dist/service/main.js'],
    env: {
      ...sharedSettings,
      DATABASE_URL: urlOf(db.connection),
      REDIS_URL: redis.url,
      HELIOGRAPH_TRUSTED_PROXIES: '127.0.0.1/32',
      HELIOGRAPH_PASSWORD_PER_MINUTE: String(signInsPerMinute),
      HELIOGRAPH_PLANS: JSON.stringify({ free: { per_minute: perMinute, burst: perMinute } }),
    },
  });
  await node.ready;
  nodes[index] = node;
}

const bothUsed = () => eventually('HAProxy uses both nodes', async () => (await proxy.ready()) === 2);

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Whose address the caller has; all of 127.0.0.0/8 is this machine. */
  from?: string;
}

/** The status, or why there was none. */
function ask(agent: Agent, path: string, { method = 'POST', headers = {}, body, from }: Sent) {
  const text = body === undefined ? '' : JSON.stringify(body);
  return new Promise<number | string>((resolve) => {
    const options = {
      method,
      agent,
      headers: { 'Content-Type': 'application/json', 'Content-Length': String(text.length), ...headers },
      ...(from !== undefined && { localAddress: from }),
    };
    const sending = request(`${proxy.url}${path}`, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sending.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sending.end(text);
  });
}

/** HAProxy's own checks close their connections, so they are in the other lane. */
async function inQuickLane(): Promise<number> {
  const texts = await Promise.all(nodes.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
  const counts = texts.map((text) => /^heliograph_lane_requests_total\{lane="plain"\} (\d+)/m.exec(text)?.[1]);
  return counts.reduce((sum, count) => sum + Number(count), 0);
}

function counted<Value>(values: Value[]): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Senders on connections that stay open. */
function startLoad({ apiKey }: TestApplication) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const statuses: (number | string)[] = [];
  let stopped = false;
  const keepSending = async () => {
    while (!stopped) {
      const body = { to: '+447700900123', from: 'ACME', message: 'Hello' };
      statuses.push(await ask(agent, '/sms/v1/messages', { headers: { apikey: apiKey }, body }));
      await pause(10);
    }
  };
  const senders = Array.from({ length: 8 }, keepSending);
  return async () => {
    stopped = true;
    await Promise.all(senders);
    agent.destroy();
    return counted(statuses);
  };
}

describe('behind HAProxy', () => {
  test('each node is restarted in turn, twice, and no request fails, is lost or counts twice', async (t) => {
    const own = await createRegistered(proxy, ['sms'], 'enterprise', developer);
    const stop = startLoad(own);
    for (const index of [0, 1, 0, 1]) {
      await pause(500);
      nodes[index]?.kill('SIGTERM');
      const ended = await nodes[index]?.ended;
      assert.equal(ended?.code, 0, nodes[index]?.output());
      await startNode(index);
      await bothUsed();
    }
    const statuses = await stop();
    const { rows } = await db.database.query<{ count: number }>('select count(*) as count from message');
    t.diagnostic(`${statuses.get(201)} texts`);
    assert.deepEqual([...statuses.keys()], [201]);
    assert.equal(rows[0]?.count, statuses.get(201), 'every answer is a row, and every row was answered');
  });

  test('limits are exact across nodes', async () => {
    const own = await createRegistered(proxy, ['sms'], 'free', developer);
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const body = { from: 'ACME', message: 'Hello' };
    const headers = { apikey: own.apiKey };
    const asked = Array.from({ length: 3 * perMinute }, () =>
      ask(agent, '/sms/v1/messages/preview', { headers, body }),
    );
    const statuses = counted(await Promise.all(asked));
    agent.destroy();
    assert.deepEqual(
      statuses,
      new Map<number | string, number>([
        [200, perMinute],
        [429, 2 * perMinute],
      ]),
    );
  });

  test('the service sees the address of the caller, whatever the caller claims', async () => {
    const agent = new Agent({ keepAlive: true });
    const signIn = (from: string, claimed: string) =>
      ask(agent, '/portal/v1/sessions', {
        from,
        headers: { 'X-Forwarded-For': claimed },
        body: { email: `${claimed}@example.com`, password: 'not the right password' },
      });
    // Each node counts by itself. All at once: a busy machine would need more than the minute for one after the other.
    const claims = Array.from({ length: 2 * signInsPerMinute + 2 }, (_, index) => `203.0.113.${index}`);
    const statuses = counted(await Promise.all(claims.map((claimed) => signIn('127.0.0.2', claimed))));
    assert.ok((statuses.get(401) ?? 0) >= 1, `some were tried: ${[...statuses]}`);
    assert.ok((statuses.get(429) ?? 0) >= 2, `the address is limited: ${[...statuses]}`);
    assert.equal(await signIn('127.0.0.3', '127.0.0.2'), 401, 'another address is not');
    agent.destroy();
  });

  test('requests come to the quick lane, and /metrics stays inside', async () => {
    const { apiKey } = await createRegistered(proxy, ['sms'], 'enterprise', developer);
    const agent = new Agent({ keepAlive: true, maxSockets: 2 });
    const earlier = await inQuickLane();
    const sent = { headers: { apikey: apiKey }, body: { from: 'ACME', message: 'Hello' } };
    for (let i = 0; i < 100; i++) assert.equal(await ask(agent, '/sms/v1/messages/preview', sent), 200);
    assert.ok((await inQuickLane()) >= earlier + 100, 'all of them');
    assert.equal(await ask(agent, '/metrics', { method: 'GET' }), 404);
    agent.destroy();
  });

  test('a waiting request and a quiet stream are not cut', async () => {
    const { apiKey: apikey } = await createRegistered(proxy, ['sms'], 'enterprise', developer);
    const waiting = fetch(`${proxy.url}/events/v1/events?wait_seconds=25`, { headers: { apikey } });
    const stream = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${proxy.url}/events/v1/stream`, { headers: { apikey } }, resolve).on('error', reject).end();
    });
    assert.equal(stream.statusCode, 200);
    let isOpen = true;
    stream.on('close', () => {
      isOpen = false;
    });
    stream.resume();
    assert.equal((await waiting).status, 200);
    // Longer than every time limit of HAProxy.
    await pause(60_000);
    assert.ok(isOpen, 'the stream is open after 85 s');
    stream.destroy();
  });
});
