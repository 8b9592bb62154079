// A flood of credentials that are none, from many addresses: memory stays bounded, the database is not asked, and a caller who
// is known goes on being served. How little it slows them is measured by bench/edge.ts.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createAddressLimits } from '../../src/edge/address-limits.ts';
import { createAddressWindows } from '../../src/edge/address-windows.ts';
import { createApplicationAccess } from '../../src/edge/application-access.ts';
import { createGateway } from '../../src/edge/gateway.ts';
import { createMemoryWindows } from '../../src/edge/memory-windows.ts';
import { createTokenChecksums } from '../../src/identity/token-checksum.ts';
import { createTokenVerifier } from '../../src/identity/token-verifier.ts';
import { createKeyRing } from '../../src/platform/crypto/keys.ts';
import { randomBase62 } from '../../src/platform/crypto/random.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { ownedText } from '../../src/platform/owned-text.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  bearer,
  countStatuses,
  createEchoRoutes,
  createRegistered,
  getToken,
  openKeptConnection,
  type PlainRequest,
  sendForm,
  sendMany,
} from '../support/applications.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { forgeToken } from '../support/forged-token.ts';

const { routes } = createEchoRoutes();
/** What the edge may ask the database about a credential. */
const lookups = [
  'select-application-by-key',
  'select-application-by-client',
  'select-revocation',
  'select-signing-keys',
];
let asked = 0;

function counting(database: Database): Database {
  const query: Database['query'] = (statement, values) => {
    if (typeof statement !== 'string' && lookups.includes(statement.name)) asked++;
    return database.query(statement, values);
  };
  return { ...database, query };
}

let db: TestDatabase;
let app: TestApp;
let key: string;
let token: string;
before(async () => {
  db = await createTestDatabase();
  app = await createTestApp({
    extraRoutes: routes,
    delivery: 'held',
    db: { ...db, database: counting(db.database), another: (options) => counting(db.another(options)) },
    env: {
      HELIOGRAPH_TRUSTED_PROXIES: '127.0.0.1',
      HELIOGRAPH_ADDRESS_PER_MINUTE: '50',
      HELIOGRAPH_ADDRESS_BURST: '50',
      HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}',
    },
  });
  const { apiKey, client } = await createRegistered(app, ['sms', 'verify'], 'enterprise');
  key = apiKey;
  token = await getToken(app, client, 'verify:manage');
  await sendMany(app, 1, { path: '/sms/v1/echo', headers: { apikey: key } });
  await sendMany(app, 1, { path: '/verify/v1/echo', headers: bearer(token) });
});
after(async () => {
  await app.close();
  await db.drop();
});

const addressOf = (index: number) => ownedText(`10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`);
const randomPart = (bytes: number) => randomBytes(bytes).toString('base64url');
const sms = (apikey: string, index: number): PlainRequest => ({
  path: '/sms/v1/echo',
  headers: { apikey, 'X-Forwarded-For': addressOf(index) },
});
const verify = (forged: string, index: number): PlainRequest => ({
  path: '/verify/v1/echo',
  headers: { ...bearer(forged), 'X-Forwarded-For': addressOf(index) },
});

async function gauge(name: string): Promise<number> {
  const { values } = (await app.app.metrics.registry.getSingleMetric(name)?.get()) ?? { values: [] };
  return values[0]?.value ?? assert.fail(`there is no ${name}`);
}

/** Floods, with a known caller in between, and returns the answers and how often the database was asked. */
async function flood(count: number, request: (index: number) => PlainRequest) {
  const connection = openKeptConnection(app);
  const askedBefore = asked;
  const flooded = sendMany(app, count, request);
  let over = false;
  void flooded.finally(() => {
    over = true;
  });
  while (!over) {
    assert.equal(await connection.get('/sms/v1/echo', { apikey: key }), 200);
    assert.equal(await connection.get('/verify/v1/echo', bearer(token)), 200);
  }
  connection.close();
  return { statuses: countStatuses(await flooded), asked: asked - askedBefore };
}

describe('a flood through the whole app', () => {
  const malformed: [string, (index: number) => PlainRequest][] = [
    ['random keys', (i) => sms(randomPart(40), i)],
    ['keys of the right form that we did not make', (i) => sms(`hg_sandbox_${randomBase62(32)}_${randomBase62(8)}`, i)],
    ['tokens of the wrong form', (i) => verify(randomPart(40), i)],
  ];
  for (const [what, request] of malformed) {
    test(`${what}: 401 at no cost, no lookup, and no address is remembered`, async () => {
      const addresses = await gauge('heliograph_address_windows');
      const credentials = await gauge('heliograph_remembered_credentials');
      const outcome = await flood(1500, request);
      assert.deepEqual(outcome, { statuses: { 401: 1500 }, asked: 0 });
      assert.equal(await gauge('heliograph_address_windows'), addresses);
      assert.equal(await gauge('heliograph_remembered_credentials'), credentials);
    });
  }

  test('forged tokens from 1,500 addresses: 401, no lookup, none remembered', async () => {
    const credentials = await gauge('heliograph_remembered_credentials');
    const [head, body] = token.split('.');
    const forgeries = [
      () => `${randomPart(30)}.${randomPart(90)}.${randomPart(64)}`,
      () => `${head}.${randomPart(90)}.${randomPart(64)}`,
      () => `${head}.${body}.${randomPart(64)}`,
    ];
    const outcome = await flood(1500, (i) => verify(forgeries[i % 3]?.() ?? '', i));
    assert.deepEqual(outcome, { statuses: { 401: 1500 }, asked: 0 });
    assert.equal(await gauge('heliograph_remembered_credentials'), credentials);
  });

  test('forged tokens from one address: 401 at no cost, however many', async () => {
    const [head, body] = token.split('.');
    const addresses = await gauge('heliograph_address_windows');
    const outcome = await flood(500, () => verify(`${head}.${body}.${randomPart(64)}`, 0x00ff_0001));
    assert.deepEqual(outcome, { statuses: { 401: 500 }, asked: 0 });
    assert.equal(await gauge('heliograph_address_windows'), addresses);
  });

  test('tokens with the right checksum, from one address: 429 once its budget is spent', async () => {
    const forge = () => forgeToken({ keys: app.keys, nowMs: app.clock.nowMs() });
    const outcome = await flood(500, () => verify(forge(), 0x00ff_0001));
    assert.deepEqual(outcome, { statuses: { 401: 50, 429: 450 }, asked: 0 });
  });

  test('well-formed keys that no application holds, which only we can forge, cause no more lookups than the budget allows', async () => {
    const outcome = await flood(500, () => sms(app.app.registry.apiKeys.create().key, 0x00ff_0002));
    assert.deepEqual(outcome, { statuses: { 401: 50, 429: 450 }, asked: 50 });
    const same = app.app.registry.apiKeys.create().key;
    const again = await flood(500, (i) => sms(same, 0x00fe_0000 + i));
    // Those in flight together share one read; after it the gateway remembers that no such key exists.
    assert.deepEqual(again.statuses, { 401: 500 });
    assert.ok(again.asked <= 5, `${again.asked} lookups`);
  });

  test('unknown client ids are neither looked up nor remembered', async () => {
    const { size } = app.app.registry.clients;
    const askedBefore = asked;
    for (let i = 0; i < 40; i++) {
      const form = { grant_type: 'client_credentials', scope: 'openid verify:manage', client_secret: 'x' };
      const client_id = randomBytes(20_000).toString('hex');
      const answer = await sendForm(
        app,
        'token',
        { ...form, client_id },
        { headers: { 'X-Forwarded-For': addressOf(i) } },
      );
      assert.equal(answer.status, 401);
    }
    assert.equal(app.app.registry.clients.size, size);
    assert.equal(asked, askedBefore);
  });
});

test('more addresses than there is room for, at the edge itself: as many are remembered as there is room for', async () => {
  const { registry, signingKeys, routes: all } = app.app;
  const { clock } = app;
  const [addresses, identityAddresses] = [createAddressWindows({ clock }), createAddressWindows({ clock })];
  const database = counting(db.database);
  const issuer = 'http://127.0.0.1:8080/realms/heliograph';
  const { directory, clients, feed } = registry;
  const keys = createKeyRing(clock, () => [{ version: 1, usedFromMs: 0, key: Buffer.alloc(32) }]);
  const checksums = createTokenChecksums(keys);
  const verifier = createTokenVerifier({ database, clock, directory, clients, feed, signingKeys, checksums, issuer });
  const limits = { perMinute: 6000, burst: 1000 };
  const visitors = createAddressLimits(addresses, limits);
  const gateway = createGateway({
    applications: createApplicationAccess({
      keys: registry.keyLookup,
      tokens: verifier,
      sids: { sms: registry.keyLookup, verify: registry.keyLookup },
      registrations: createMemoryWindows({ clock }),
      addresses: visitors,
    }),
    findSession: async () => undefined,
    findOwnCaller: async () => Promise.reject(new Error('not asked for')),
    findOpenSessions: async () => [],
    sessionCookie: 'none',
    attemptCookie: 'attempt',
    addresses: visitors,
    identityAddresses: createAddressLimits(identityAddresses, limits),
    apis: [{ prefix: '/verify/v1', auth: { kind: 'bearer', scope: 'verify:manage' } }],
    metrics: { token: undefined, openToLoopback: true },
    operatorsNeedSecondFactor: false,
    publicUrl: app.url,
  });
  const arrival = {
    correlationId: 'req',
    method: 'GET',
    path: '/verify/v1/x',
    informedAtMs: Number.NEGATIVE_INFINITY,
    params: {},
    repeats: () => false,
  };
  const forged = inShort(2000, 20_000);
  const askedBefore = asked;
  for (let i = 0; i < forged; i++) {
    const headers = { authorization: `Bearer ${forgeToken({ keys, nowMs: clock.nowMs() })}` };
    const { refusal } = await gateway.admit({ ...arrival, route: undefined, headers, address: addressOf(i) });
    assert.equal(refusal?.status, 401);
  }
  assert.equal(addresses.size, forged);
  assert.equal(verifier.size, 0);
  // Asking for tokens is counted in the same way, and decided at once: so a great many of them take a moment.
  const route = all.find(({ auth }) => 'kind' in auth && auth.kind === 'client');
  for (let i = 0; i < inShort(110_000, 250_000); i++)
    void gateway.admit({ ...arrival, route, headers: {}, address: addressOf(i) });
  assert.equal(identityAddresses.size, 100_000);
  assert.ok(identityAddresses.slots <= 4_000_000);
  assert.equal(asked, askedBefore);
});
