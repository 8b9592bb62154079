// run: with many processes
import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Balancer, startBalancer } from '../../scripts/balancer.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { send } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { makeFolder } from '../support/process.ts';
import { buildService } from '../support/service.ts';
import { webProcesses } from '../support/web-process.ts';

const roles = ['web', 'web', 'worker'] as const;

let db: TestDatabase;
let cluster: Cluster;
let balancer: Balancer;
let own: TestApplication;
before(async () => {
  await buildService();
  db = await createTestDatabase();
  const plans = JSON.stringify({ enterprise: { per_minute: 1_000_000, burst: 1_000_000 } });
  cluster = await startCluster({ connection: db.connection, roles: [...roles], env: { HELIOGRAPH_PLANS: plans } });
  balancer = await startBalancer({
    nodes: () => cluster.nodes.slice(0, 2).map(({ url }) => url),
    checkEveryMs: 200,
    // On a busy machine the one node that is left may answer late, and would count as gone.
    checkWithinMs: inShort(30_000, 1000),
  });
  own = await createRegistered(balancer, ['sms'], 'enterprise');
});
after(async () => {
  await balancer.close();
  await cluster.close();
  await db.drop();
});

interface Load {
  statuses: Map<number | string, number>;
  stop(): Promise<void>;
}

/** Senders on connections that stay open, as callers' libraries keep them. */
function startLoad(): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const statuses = new Map<number | string, number>();
  let stopped = false;
  const post = () =>
    new Promise<number | string>((resolve) => {
      const headers = { apikey: own.apiKey, 'Content-Type': 'application/json' };
      const sent = request(`${balancer.url}/sms/v1/messages`, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      sent.end('{"to":"+447700900123","from":"ACME","message":"Hello"}');
    });
  async function keepSending(): Promise<void> {
    while (!stopped) {
      const status = await post();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await pause(inShort(120, 10));
    }
  }
  const senders = Array.from({ length: 8 }, keepSending);
  return {
    statuses,
    async stop() {
      stopped = true;
      await Promise.all(senders);
      agent.destroy();
    },
  };
}

describe('nodes with roles of their own', () => {
  test('a worker says how it is, and is a 503 for everything else, with every header', async () => {
    const worker = cluster.nodes[2] as { url: string };
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      assert.equal((await fetch(worker.url + path)).status, 200, path);
    }
    for (const path of ['/sms/v1/messages', '/', '/portal/v1/me', '/nothing']) {
      const { status, headers, body } = await send(worker, 'GET', path, { headers: { apikey: own.apiKey } });
      assert.deepEqual([status, body.code, headers.get('Retry-After')], [503, 'UNAVAILABLE', '1'], path);
      for (const name of ['X-Correlation-ID', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']) {
        assert.ok(headers.get(name), `${path}: ${name}`);
      }
    }
  });

  test('web nodes accept texts and wake the worker, which delivers them', async () => {
    const listening = `select from pg_stat_activity where query = 'listen heliograph_delivery' and datname = current_database()`;
    assert.equal((await db.database.query(listening)).count, 1, 'the worker listens, and only it');
    const { status, body } = await send(balancer, 'POST', '/sms/v1/messages', {
      headers: { apikey: own.apiKey },
      body: { to: '+447700900123', from: 'ACME', message: 'Hello' },
    });
    assert.equal(status, 201);
    const read = () => send(balancer, 'GET', `/sms/v1/messages/${body.id}`, { headers: { apikey: own.apiKey } });
    await eventually('it is delivered', async () => (await read()).body.status === 'delivered');
  });

  test('workers are not counted among the nodes that share the limits', async () => {
    let metrics = '';
    await eventually('it knows of the other web node, and of no third', async () => {
      metrics = await (await fetch(`${cluster.nodes[0]?.url}/metrics`)).text();
      return metrics.includes(`heliograph_live_nodes ${2 * webProcesses}\n`);
    });
    assert.match(metrics, /heliograph_window_store_in_use [01]/);
    assert.match(metrics, /heliograph_window_share_decisions_total \d+/);
  });
});

describe('under load, behind a balancer that tries again only what was refused', () => {
  test('every node is restarted in turn, and no request fails', async (t) => {
    const load = startLoad();
    await pause(500);
    for (let round = 0; round < inShort(1, 4); round++) {
      // In short the next test restarts a web node.
      for (const node of inShort(cluster.nodes.slice(2), cluster.nodes)) {
        node.service.kill('SIGTERM');
        const { code } = await node.service.ended;
        assert.equal(code, 0, node.service.output());
        await node.restart();
        await eventually('the balancer uses both', () => balancer.ready() === 2);
      }
    }
    await load.stop();
    t.diagnostic(`${load.statuses.get(201)} texts`);
    assert.deepEqual([...load.statuses.keys()], [201]);
  });

  test('a migration of the next version runs under this one, which goes on and starts again', async () => {
    const folder = makeFolder('migrations');
    await cp(fileURLToPath(new URL('../../migrations', import.meta.url)), folder, { recursive: true });
    const { rows } = await db.database.query<{ last: number }>('select max(version) as last from schema_migration');
    const name = `${String((rows[0]?.last ?? 0) + 1).padStart(4, '0')}-next.sql`;
    await writeFile(
      join(folder, name),
      'alter table message add column next text; create table next_thing (id text primary key);',
    );
    const load = startLoad();
    await pause(300);
    await migrate(db.database, systemClock, createTestLog().log, pathToFileURL(`${folder}/`));
    const [node] = cluster.nodes;
    node?.service.kill('SIGTERM');
    await node?.service.ended;
    await node?.restart();
    await eventually('the balancer uses both', () => balancer.ready() === 2);
    await load.stop();
    assert.deepEqual([...load.statuses.keys()], [201]);
    assert.match(node?.service.output() ?? '', /the database is newer than this version/);
  });
});
