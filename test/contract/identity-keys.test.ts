// run: on web processes
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import {
  askForToken,
  bearer,
  createEchoRoutes,
  createRegistered,
  getToken,
  verifyScope,
} from '../support/applications.ts';
import { send } from '../support/developer.ts';

const { routes } = createEchoRoutes();

async function start(t: TestContext, options: TestAppOptions = {}): Promise<TestApp> {
  const app = await createTestApp({ extraRoutes: routes, ...options });
  t.after(() => app.close());
  return app;
}

const use = async (app: TestApp, token: string) =>
  (await send(app, 'GET', '/verify/v1/echo', { headers: bearer(token) })).status;

/** One character in the middle of the signature: the last one may say nothing in some of its bits. */
function withOtherSignature(token: string): string {
  const at = token.length - 100;
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid;

async function publishedKids(app: TestApp): Promise<(string | undefined)[]> {
  const path = '/realms/heliograph/protocol/openid-connect/certs';
  return (await send<{ keys: { kid: string }[] }>(app, 'GET', path)).body.keys.map(({ kid }) => kid);
}

describe('signing keys rotate without refusing a live token', () => {
  test('a new key is published at once, signs after its lead, and the old one verifies until its last token is gone', async (t) => {
    const app = await start(t, { env: { HELIOGRAPH_TOKEN_SECONDS: '600' } });
    const { client } = await createRegistered(app, ['verify'], 'pro');
    const before = await getToken(app, client, 'verify:manage');
    assert.equal(await use(app, before), 200);
    await app.app.signingKeys.rotate({ leadMs: 300_000, withdraw: false });
    assert.equal((await publishedKids(app)).length, 2);
    assert.equal(await use(app, before), 200);
    app.clock.advance(299_999);
    const last = await getToken(app, client, 'verify:manage');
    assert.equal(kidOf(last), kidOf(before));
    app.clock.advance(1);
    const after = await getToken(app, client, 'verify:manage');
    assert.notEqual(kidOf(after), kidOf(before));
    assert.deepEqual(await publishedKids(app), [kidOf(after), kidOf(before)]);
    app.clock.advance(599_998);
    for (const token of [last, after]) assert.equal(await use(app, token), 200);
    app.clock.advance(70_000);
    assert.deepEqual(await publishedKids(app), [kidOf(after)]);
  });

  test('a key is published for as long as a proof it signed lives, however short tokens are', async (t) => {
    const app = await start(t, { env: { HELIOGRAPH_TOKEN_SECONDS: '1' } });
    const [kid] = await publishedKids(app);
    await app.app.signingKeys.rotate({ leadMs: 0, withdraw: false });
    app.clock.advance(600_000);
    assert.ok((await publishedKids(app)).includes(kid));
    app.clock.advance(60_000);
    assert.ok(!(await publishedKids(app)).includes(kid));
  });

  test('ten rotations in a row refuse no caller', async (t) => {
    const app = await start(t);
    const { client } = await createRegistered(app, ['verify'], 'enterprise');
    const tokens: string[] = [];
    for (let i = 0; i < 10; i++) {
      tokens.push(await getToken(app, client, 'verify:manage'));
      app.clock.advance(1000);
      await app.app.signingKeys.rotate({ leadMs: 0, withdraw: false });
      for (const token of tokens) assert.equal(await use(app, token), 200);
    }
    assert.equal(new Set(tokens.map(kidOf)).size, 10);
  });

  test('withdrawn, a key and all it signed are dead at once, with a warm memory, on every node', async (t) => {
    const app = await start(t);
    const second = await start(t, { db: app.db, clock: app.clock });
    const { client } = await createRegistered(app, ['verify'], 'enterprise');
    const token = await getToken(app, client, 'verify:manage');
    for (const node of [app, second]) assert.equal(await use(node, token), 200);
    await app.app.signingKeys.rotate({ leadMs: 0, withdraw: true });
    for (const node of [second, app]) assert.equal(await use(node, token), 401);
    const fresh = await getToken(second, client, 'verify:manage');
    for (const node of [app, second]) assert.equal(await use(node, fresh), 200);
    assert.deepEqual(await publishedKids(app), [kidOf(fresh)]);
  });
});

describe('keys of both algorithms, HELIOGRAPH_TOKEN_ALG=RS256', () => {
  let es256: TestApp;
  let rs256: TestApp;
  let old: string;
  let token: string;
  before(async () => {
    es256 = await createTestApp({ extraRoutes: routes });
  });
  after(async () => {
    await rs256.close();
    await es256.close();
  });

  test('private keys are stored wrapped', async () => {
    const [key] = await es256.app.signingKeys.load();
    const { rows } = await es256.db.database.query<{ row: string }>('select s::text as row from signing_key s');
    const secret = key?.privateKey.export({ format: 'jwk' }).d ?? '';
    assert.equal(rows.length, 1);
    assert.ok(secret.length > 40);
    assert.ok(!rows[0]?.row.includes(Buffer.from(secret, 'base64url').toString('hex')));
  });

  test('signs and verifies, and a restart from ES256 refuses no live token', async () => {
    const { client } = await createRegistered(es256, ['verify'], 'pro');
    old = await getToken(es256, client, 'verify:manage');
    const { db, clock } = es256;
    rs256 = await createTestApp({ extraRoutes: routes, db, clock, env: { HELIOGRAPH_TOKEN_ALG: 'RS256' } });
    token = await getToken(rs256, client, 'verify:manage');
    assert.equal(decodeProtectedHeader(token).alg, 'RS256');
    assert.equal(await use(rs256, token), 200);
    assert.equal(await use(rs256, old), 200);
    assert.equal(await use(rs256, withOtherSignature(token)), 401);
    // A node that was there before learns of the key before it signs anything.
    assert.equal(await use(es256, token), 200);
    assert.equal((await publishedKids(es256)).length, 2);
  });

  test('a token does not choose its algorithm: RS256 in the head of an ES256 key is refused, and the reverse', async () => {
    for (const [given, other] of [
      [old, 'RS256'],
      [token, 'ES256'],
    ] as const) {
      assert.equal(await use(rs256, given), 200);
      const head = { ...decodeProtectedHeader(given), alg: other };
      const altered = Buffer.from(JSON.stringify(head)).toString('base64url');
      assert.equal(await use(rs256, given.replace(/^[^.]+/, altered)), 401);
    }
  });
});

test('HELIOGRAPH_TOKEN_SECONDS, no leeway: a token of 1 s lives for exactly 1,000 ms', async (t) => {
  const app = await start(t, { env: { HELIOGRAPH_TOKEN_SECONDS: '1' } });
  const { client } = await createRegistered(app, ['verify']);
  for (const offset of [0, 1, 500, 999]) {
    app.clock.set(Math.ceil(app.clock.nowMs() / 1000) * 1000 + offset);
    const { body } = await askForToken(app, client, verifyScope);
    assert.equal(body.expires_in, 1);
    const token = String(body.access_token);
    const { iat = 0, exp = 0 } = decodeJwt(token);
    assert.equal(exp - iat, 1);
    assert.equal(await use(app, token), 200);
    app.clock.advance(999);
    assert.equal(await use(app, token), 200, `issued ${offset} ms after the second`);
    app.clock.advance(1);
    assert.equal(await use(app, token), 401, `issued ${offset} ms after the second`);
  }
});
