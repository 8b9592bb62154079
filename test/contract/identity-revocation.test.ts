// run: on web processes
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { decodeJwt } from 'jose';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  bearer,
  createEchoRoutes,
  createRegistered,
  getToken,
  revokeToken,
  sendForm,
  type TestApplication,
  verifyScope,
} from '../support/applications.ts';
import { send } from '../support/developer.ts';

const { routes } = createEchoRoutes();

let app: TestApp;
let acme: TestApplication;
let other: TestApplication;
before(async () => {
  app = await createTestApp({ extraRoutes: routes, env: { HELIOGRAPH_TOKEN_SECONDS: '60' } });
  acme = await createRegistered(app, ['verify', 'messaging'], 'enterprise');
  other = await createRegistered(app, ['verify']);
});
after(() => app.close());

const use = (token: string, node: TestApp = app) => send(node, 'GET', '/verify/v1/echo', { headers: bearer(token) });
const revoke = (form: Record<string, string>) => sendForm(app, 'revoke', { ...acme.client, ...form });
const introspect = (form: Record<string, string>) => sendForm(app, 'token/introspect', { ...acme.client, ...form });

describe('revoke', () => {
  test('200 with no body, and the token is dead', async () => {
    const token = await getToken(app, acme.client, 'verify:manage');
    const others = await getToken(app, acme.client, 'verify:manage');
    assert.equal((await use(token)).status, 200);
    const answer = await revoke({ token, token_type_hint: 'access_token' });
    assert.deepEqual([answer.status, answer.body], [200, {}]);
    assert.equal((await use(token)).status, 401);
    assert.equal((await use(others)).status, 200);
  });

  test('200 also for what is unknown, garbage, expired, revoked already or hinted at wrongly', async () => {
    const expired = await getToken(app, acme.client, 'verify:manage');
    app.clock.advance(60_000);
    const token = await getToken(app, acme.client, 'verify:manage');
    for (const each of ['unknown', 'a.b.c', `${token}x`, expired, '\0', 'x'.repeat(50_000)]) {
      assert.equal((await revoke({ token: each })).status, 200);
    }
    assert.equal((await use(token)).status, 200);
    assert.equal((await revoke({ token, token_type_hint: 'refresh_token' })).status, 200);
    assert.equal((await revoke({ token })).status, 200);
    assert.equal((await use(token)).status, 401);
  });

  test("400 for another client's token, which lives on", async () => {
    const token = await getToken(app, other.client, 'verify:manage');
    const answer = await revoke({ token });
    assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_request']);
    assert.equal((await use(token)).status, 200);
  });

  test('400 without a token or with two; 401 for a client that is not one', async () => {
    const token = await getToken(app, acme.client, 'verify:manage');
    assert.deepEqual((await revoke({})).body.error, 'invalid_request');
    assert.deepEqual((await revoke({ token: '' })).body.error, 'invalid_request');
    const form = new URLSearchParams({ ...acme.client, token }).toString();
    assert.equal((await sendForm(app, 'revoke', `${form}&token=${token}`)).status, 400);
    assert.equal((await revoke({ token, client_secret: 'wrong' })).status, 401);
    assert.equal((await sendForm(app, 'revoke', { token })).status, 401);
    assert.equal((await use(token)).status, 200);
  });

  test('a revocation goes by jti: another encoding of the same token is refused', async () => {
    const token = await getToken(app, acme.client, 'verify:manage');
    await revokeToken(app, acme.client, token);
    for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
      assert.equal((await use(token.slice(0, -1) + last)).status, 401);
    }
    assert.equal((await use(mirrored(token))).status, 401);
  });

  test('survives a restart, and holds on every node', async (t) => {
    const token = await getToken(app, acme.client, 'verify:manage');
    const alive = await getToken(app, acme.client, 'verify:manage');
    await revokeToken(app, acme.client, token);
    const restarted = await createTestApp({ db: app.db, clock: app.clock, extraRoutes: routes });
    t.after(() => restarted.close());
    assert.equal((await use(token, restarted)).status, 401);
    assert.equal((await use(alive, restarted)).status, 200);
    await revokeToken(restarted, acme.client, alive);
    assert.equal((await use(alive)).status, 401);
  });

  test('is forgotten some time after the token has expired', async () => {
    const token = await getToken(app, acme.client, 'verify:manage');
    await revokeToken(app, acme.client, token);
    app.clock.advance(2 * 3_600_000);
    await revokeToken(app, acme.client, await getToken(app, acme.client, 'verify:manage'));
    await app.delivery.maintenance.runAll();
    const { count } = await app.db.database.query('select 1 from token_revocation');
    assert.equal(count, 1);
  });

  test('of what is revoked already writes nothing, and still means that no node admits it', async () => {
    const token = await getToken(app, acme.client, 'verify:manage');
    await revokeToken(app, acme.client, token);
    const changes = async () => (await app.db.database.query('select max(seq) as seq from registry_change')).rows;
    const before = await changes();
    await revokeToken(app, acme.client, token);
    assert.deepEqual(await changes(), before);
  });
});

describe('introspect', () => {
  test("200 with the claims of one's own token", async () => {
    const token = await getToken(app, acme.client, 'verify:manage');
    const { status, body, headers } = await introspect({ token });
    assert.equal(status, 200);
    const { jti, iat, exp, aud, iss } = decodeJwt(token);
    const { client_id } = acme.client;
    assert.deepEqual(body, {
      active: true,
      scope: verifyScope,
      client_id,
      token_type: 'Bearer',
      exp,
      iat,
      sub: client_id,
      aud,
      iss,
      jti,
    });
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  test('200 {active: false} and nothing else for what is revoked, expired, garbage or of another client', async () => {
    const revoked = await getToken(app, acme.client, 'verify:manage');
    await revokeToken(app, acme.client, revoked);
    const expired = await getToken(app, acme.client, 'verify:manage');
    app.clock.advance(60_000);
    const foreign = await getToken(app, other.client, 'verify:manage');
    for (const token of [revoked, expired, foreign, 'garbage', 'a.b.c', '\0', 'x'.repeat(50_000)]) {
      const { status, body } = await introspect({ token });
      assert.deepEqual([status, body], [200, { active: false }]);
    }
  });

  test('400 without a token; 401 for a client that is not one; a JSON body is 400', async () => {
    assert.equal((await introspect({})).status, 400);
    assert.equal((await introspect({ token: 'x', client_secret: 'wrong' })).status, 401);
    const headers = { 'Content-Type': 'application/json' };
    assert.equal((await sendForm(app, 'token/introspect', '{}', { headers })).status, 400);
  });
});

/** The order of P-256. Where (r, s) is a signature, (r, order - s) is one as well, and anybody can work it out. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

function mirrored(token: string): string {
  const [head, body, signature = ''] = token.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`);
  const other = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]);
  return `${head}.${body}.${other.toString('base64url')}`;
}
