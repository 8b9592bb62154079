// run: with cluster
// "When a revocation has been answered, no node admits that token. The same holds for a deleted key, application
// or registration, a plan change, and a secret rotated": on three processes, whatever is broken between them.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { bearer, createRegistered, getToken, revokeToken, type TestApplication } from '../support/applications.ts';
import type { Cluster, ClusterNode } from '../support/cluster.ts';
import type { TestDatabase } from '../support/database.ts';
import { register, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { shareCluster } from '../support/shared-cluster.ts';

let db: TestDatabase;
let cluster: Cluster;
let developer: TestDeveloper;
before(async () => {
  ({ db, cluster, developer } = await shareCluster());
});

/** Where every change is made; the broken thing is always elsewhere. */
function changing(): ClusterNode {
  return cluster.nodes[0] as ClusterNode;
}

function broken(): ClusterNode {
  return cluster.nodes[2] as ClusterNode;
}

interface Credentials {
  own: TestApplication;
  token: string;
}

/** Something that ends with a credential, and what uses it. A preview needs no database: memory alone may admit it. */
interface Change {
  what: string;
  by: 'key' | 'token';
  make: (credentials: Credentials) => Promise<unknown>;
}

const changes: Change[] = [
  {
    what: 'a token revoked',
    by: 'token',
    make: ({ own, token }) => revokeToken(changing(), own.client, token),
  },
  {
    what: 'a secret rotated without overlap',
    by: 'token',
    make: ({ own }) => portal('POST', `${own.id}/client-secrets`, { overlap_seconds: 0 }),
  },
  {
    what: 'a secret deleted',
    by: 'token',
    make: async ({ own }) => {
      const { body } = await developer.send<{ client: { secrets: { id: string }[] } }>(
        'GET',
        `/portal/v1/applications/${own.id}`,
      );
      await portal('DELETE', `${own.id}/client-secrets/${body.client.secrets[0]?.id}`);
    },
  },
  {
    what: 'a registration deleted',
    by: 'token',
    make: ({ own }) => portal('DELETE', `${own.id}/registrations/messaging`),
  },
  { what: 'a key deleted', by: 'key', make: ({ own }) => portal('DELETE', `${own.id}/keys/${own.keyId}`) },
  { what: 'an application deleted', by: 'key', make: ({ own }) => portal('DELETE', own.id) },
];

async function portal(method: string, path: string, body?: unknown): Promise<void> {
  const { status } = await developer.send(method, `/portal/v1/applications/${path}`, body);
  assert.ok(status === 200 || status === 201 || status === 204, `${method} ${path}: ${status}`);
}

function preview(node: ClusterNode, by: Change['by'], { own, token }: Credentials) {
  const [path, headers] = by === 'key' ? ['/sms/v1', { apikey: own.apiKey }] : ['/messaging/v1', bearer(token)];
  return send(node, 'POST', `${path}/messages/preview`, { headers, body: { from: 'ACME', message: 'Hello' } });
}

async function newCredentials(): Promise<Credentials> {
  const own = await createRegistered(changing(), ['sms', 'messaging'], 'free', developer);
  return { own, token: await getToken(changing(), own.client, 'messaging:send') };
}

/** So that what is asked later could be answered from memory. */
async function warm(credentials: Credentials): Promise<void> {
  for (const node of cluster.nodes) {
    for (const by of ['key', 'token', 'key', 'token'] as const) {
      assert.equal((await preview(node, by, credentials)).status, 200);
    }
  }
}

/** What the broken node may say to a dead credential, and to one whose plan was changed. */
interface Verdict {
  dead: number[];
  changed: number[];
}

const all: Verdict = { dead: [401], changed: [200] };
const cutOff: Verdict = { dead: [503], changed: [503] };

async function tryChanges(
  verdict: Verdict,
  around: (change: () => Promise<void>) => Promise<void>,
  tried = changes,
): Promise<void> {
  for (const { what, by, make } of tried) {
    const credentials = await newCredentials();
    await warm(credentials);
    await around(async () => {
      await make(credentials);
      const asked = cluster.nodes.map((node) => preview(node, by, credentials));
      broken().service.kill('SIGCONT');
      const [here, there, far] = await Promise.all(asked);
      assert.equal(here?.status, 401, what);
      assert.equal(there?.status, 401, what);
      assert.ok(verdict.dead.includes(far?.status ?? 0), `${what}: ${far?.status}`);
    });
  }
  const credentials = await newCredentials();
  await warm(credentials);
  await around(async () => {
    assert.equal((await register(developer, credentials.own.id, 'sms', 'pro')).status, 200);
    const asked = cluster.nodes.map((node) => preview(node, 'key', credentials));
    broken().service.kill('SIGCONT');
    const answers = await Promise.all(asked);
    const limits = answers.map(({ headers }) => headers.get('RateLimit-Limit'));
    assert.deepEqual(limits.slice(0, 2), ['600', '600']);
    const far = answers[2];
    assert.ok(verdict.changed.includes(far?.status ?? 0), `plan: ${far?.status}`);
    if (far?.status === 200) assert.equal(limits[2], '600');
  });
}

async function healed(node: ClusterNode): Promise<void> {
  const credentials = await newCredentials();
  await eventually('the node answers again', async () => (await preview(node, 'key', credentials)).status === 200, {
    withinMs: 30_000,
  });
}

describe('what was changed on one node is so on every node when it is answered', () => {
  /** In short: one by token and one by key. */
  const some = inShort(
    changes.filter(({ what }) => ['a token revoked', 'a key deleted'].includes(what)),
    changes,
  );

  test('a change holds on every node in normal operation', () => tryChanges(all, (change) => change()));

  test('what an operator does to an account and a plan, and it is in the audit log', async () => {
    const boss = await signUp(changing());
    await db.database.query('update person set operator = true where email = $1', [boss.email]);
    const customer = await signUp(changing());
    const own = await createRegistered(changing(), ['sms', 'messaging'], 'enterprise', customer);
    const credentials = { own, token: await getToken(changing(), own.client, 'messaging:send') };
    await warm(credentials);
    const operate = async (method: string, path: string, body?: unknown) => {
      const answer = await boss.send<Record<string, unknown>>(method, `/portal/v1/operator/${path}`, body);
      assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
    const everywhere = async (by: Change['by']) =>
      (await Promise.all(cluster.nodes.map((node) => preview(node, by, credentials)))).map(({ status }) => status);
    const { body: me } = await customer.send<{ id: string }>('GET', '/portal/v1/me');
    const account = `accounts/${me.id}`;
    await operate('POST', `${account}/disable`, { reason: 'The bill is unpaid' });
    assert.deepEqual(await everywhere('key'), [401, 401, 401]);
    assert.deepEqual(await everywhere('token'), [401, 401, 401]);
    for (const node of cluster.nodes) {
      const { status } = await send(node, 'GET', '/portal/v1/me', { headers: { cookie: customer.cookie } });
      assert.equal(status, 401, 'the session');
    }
    await operate('POST', `${account}/enable`);
    assert.deepEqual(await everywhere('key'), [200, 200, 200]);

    const { per_minute, burst, segments_per_day, version } = await operate('GET', 'plans/enterprise');
    const plan = { per_minute, burst, segments_per_day };
    const changed = await operate('PUT', 'plans/enterprise', { ...plan, version, per_minute: 777, burst: 777 });
    for (const node of cluster.nodes)
      assert.equal((await preview(node, 'key', credentials)).headers.get('RateLimit-Limit'), '777');

    const { body: log } = await boss.send<{ data: { act: string; actor: { email: string } }[] }>(
      'GET',
      `/portal/v1/operator/audit?actor=${boss.email}&limit=3`,
    );
    assert.deepEqual(
      log.data.map(({ act }) => act),
      ['plan.changed', 'account.enabled', 'account.disabled'],
    );
    // Others on this cluster need what it was before.
    await operate('PUT', 'plans/enterprise', { ...plan, version: changed.version });
  });

  test('a change holds on every node without Redis', async () => {
    for (const { redis } of cluster.nodes) redis.set({ kind: 'black-hole' });
    await tryChanges(all, (change) => change(), some);
    for (const { redis } of cluster.nodes) redis.set({ kind: 'pass' });
  });

  test('a change holds on every node although one has missed the NOTIFY', async () => {
    const { postgres } = broken();
    // Whatever connection asks to be notified is cut before it has asked.
    postgres.set({ kind: 'reset' });
    postgres.set({ kind: 'cut', from: 'client', at: 'listen ', deliver: false, times: 1e9 });
    await healed(broken());
    await eventually('it tries to listen', () => postgres.cuts() > 0);
    await tryChanges(all, (change) => change(), some);
    postgres.set({ kind: 'pass' });
  });

  // These two cost some seconds for every change.
  const few = inShort(changes.slice(0, 1), changes);

  test('a node that is cut off from Postgres answers 503 instead of the old state', () =>
    tryChanges(
      cutOff,
      async (change) => {
        const { postgres } = broken();
        postgres.set({ kind: 'black-hole' });
        await change();
        postgres.set({ kind: 'reset' });
        postgres.set({ kind: 'pass' });
        await healed(broken());
      },
      few,
    ));

  test('a node that was paused answers waiting requests by the new state', () =>
    tryChanges(
      { dead: [401, 503], changed: [200, 503] },
      async (change) => {
        broken().service.kill('SIGSTOP');
        await change();
        await healed(broken());
      },
      few,
    ));
});
