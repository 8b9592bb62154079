// "When a revocation has been answered, no node admits that token. The same holds for a deleted key, application
// or registration, and a secret rotated with no overlap": again and again, on two nodes whose memory is warm, under load.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Route, requireApplication, route } from '../../src/http/route.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  bearer,
  createRegistered,
  getToken,
  type KeptConnection,
  openKeptConnection,
  revokeToken,
  type TestApplication,
} from '../support/applications.ts';
import { createApplication, register, signUp, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';

const lanes = inShort(5, 10);
const rounds = inShort(
  { revokedToken: 40, deletedKey: 20, rotatedSecret: 10, removedRegistration: 10, deletedApplication: 10 },
  { revokedToken: 600, deletedKey: 200, rotatedSecret: 100, removedRegistration: 50, deletedApplication: 50 },
);
const total = Object.values(rounds).reduce((sum, each) => sum + each, 0);

/** How often the service behind the edge was reached, by application. */
const reached = new Map<string, number>();
const service = (path: string, auth: Route['auth']) =>
  route({
    method: 'GET',
    path,
    auth,
    tag: 'Test',
    summary: 'For tests',
    answers: {},
    handler(call) {
      const { applicationId } = requireApplication(call);
      reached.set(applicationId, (reached.get(applicationId) ?? 0) + 1);
      return { status: 200, body: {} };
    },
  });
const extraRoutes = [
  service('/sms/v1/echo', { kind: 'apikey' }),
  service('/verify/v1/echo', { kind: 'bearer', scope: 'verify:manage' }),
];
const env = {
  HELIOGRAPH_ADDRESS_PER_MINUTE: '1000000',
  HELIOGRAPH_ADDRESS_BURST: '1000000',
  HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}',
};

let here: TestApp;
let there: TestApp;
before(async () => {
  here = await createTestApp({ manyConnections: true, extraRoutes, env, delivery: 'held' });
  there = await createTestApp({ extraRoutes, env, delivery: 'held', db: here.db, clock: here.clock });
});
after(async () => {
  await there.close();
  await here.close();
});

/** A credential that both nodes know and have just admitted, and how to end it. */
interface Case {
  applicationId: string;
  path: string;
  headers: Record<string, string>;
  end: () => Promise<unknown>;
}

const withKey = (applicationId: string, apikey: string) => ({
  applicationId,
  path: '/sms/v1/echo',
  headers: { apikey },
});
const withToken = (applicationId: string, token: string) => ({
  applicationId,
  path: '/verify/v1/echo',
  headers: bearer(token),
});

async function tryCase({ applicationId, path, headers, end }: Case, node: KeptConnection, what: string): Promise<void> {
  const use = () => node.get(path, headers);
  // The first may have to look; the second is served from memory.
  assert.equal(await use(), 200, `${what}: before`);
  assert.equal(await use(), 200, `${what}: before`);
  await end();
  const before = reached.get(applicationId);
  assert.equal(await use(), 401, what);
  assert.equal(reached.get(applicationId), before, what);
}

async function makeCase(kind: keyof typeof rounds, developer: TestDeveloper, own: TestApplication): Promise<Case> {
  const base = `/portal/v1/applications/${own.id}`;
  switch (kind) {
    case 'revokedToken': {
      const token = await getToken(here, own.client, 'verify:manage');
      return { ...withToken(own.id, token), end: () => revokeToken(here, own.client, token) };
    }
    case 'deletedKey': {
      const { body } = await developer.send('POST', `${base}/keys`, { overlap_seconds: 3600 });
      return {
        ...withKey(own.id, String(body.api_key)),
        end: () => developer.send('DELETE', `${base}/keys/${body.id}`),
      };
    }
    case 'rotatedSecret': {
      const token = await getToken(here, own.client, 'verify:manage');
      const end = async () => {
        const { body } = await developer.send('POST', `${base}/client-secrets`, { overlap_seconds: 0 });
        own.client = { client_id: String(body.client_id), client_secret: String(body.client_secret) };
      };
      return { ...withToken(own.id, token), end };
    }
    case 'removedRegistration': {
      const { credential } = (await register(developer, own.id, 'verify', 'enterprise')).body;
      if (credential !== null) own.client = credential as unknown as TestApplication['client'];
      const token = await getToken(here, own.client, 'verify:manage');
      return { ...withToken(own.id, token), end: () => developer.send('DELETE', `${base}/registrations/verify`) };
    }
    case 'deletedApplication': {
      const id = await createApplication(developer);
      const { credential } = (await register(developer, id, 'sms', 'enterprise')).body;
      const end = () => developer.send('DELETE', `/portal/v1/applications/${id}`);
      return { ...withKey(id, credential?.api_key ?? ''), end };
    }
  }
}

async function runLane(share: number): Promise<number> {
  const developer = await signUp(here);
  const own = await createRegistered(here, ['sms', 'verify', 'messaging'], 'enterprise', developer);
  const nodes = [openKeptConnection(here), openKeptConnection(there)] as const;
  let tried = 0;
  for (const kind of Object.keys(rounds) as (keyof typeof rounds)[]) {
    for (let i = 0; i < rounds[kind] * share; i++) {
      await tryCase(await makeCase(kind, developer, own), nodes[i % 2 === 0 ? 0 : 1], `${kind} ${i}`);
      tried++;
    }
    // The next kind needs what this one has taken away.
    if (kind === 'removedRegistration') await register(developer, own.id, 'verify', 'enterprise');
  }
  for (const connection of nodes) connection.close();
  return tried;
}

test(`not once in ${total} times is a dead credential admitted, and not once a live one refused`, async () => {
  const bystander = await createRegistered(here, ['sms', 'verify'], 'enterprise');
  const token = await getToken(here, bystander.client, 'verify:manage');
  let over = false;
  let served = 0;
  const load = [here, there].flatMap((node) => [
    { node, path: '/sms/v1/echo', headers: { apikey: bystander.apiKey } },
    { node, path: '/verify/v1/echo', headers: bearer(token) },
  ]);
  const background = load.map(async ({ node, path, headers }) => {
    const connection = openKeptConnection(node);
    while (!over) {
      assert.equal(await connection.get(path, headers), 200);
      served++;
      await pause(2);
    }
    connection.close();
  });
  const tried = await Promise.all(Array.from({ length: lanes }, () => runLane(1 / lanes))).finally(() => {
    over = true;
  });
  await Promise.all(background);
  assert.equal(
    tried.reduce((sum, each) => sum + each, 0),
    total,
  );
  assert.ok(served > total / 10, `${served} requests beside it`);
});
