// private_key_jwt (CONTRACT, section 5): public keys in the portal, assertions at the identity endpoints.
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, type webcrypto } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  bearer,
  createEchoRoutes,
  createRegistered,
  getToken,
  sendForm,
  type TestApplication,
  type TokenAnswer,
  verifyScope,
} from '../support/applications.ts';
import { createRunningClock } from '../support/clock.ts';
import { createApplication, send } from '../support/developer.ts';
import { freePort } from '../support/process.ts';

const { routes } = createEchoRoutes();
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const pairs = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
} as const;
type Alg = keyof typeof pairs;

let app: TestApp;
let acme: TestApplication;
let other: TestApplication;
let issuer: string;
const keyIds = {} as Record<Alg, string>;
before(async () => {
  const port = await freePort();
  // Independent clients have a clock of their own.
  app = await createTestApp({ extraRoutes: routes, env: { PORT: String(port) }, clock: createRunningClock() });
  issuer = `http://127.0.0.1:${port}/realms/heliograph`;
  acme = await createRegistered(app, ['verify']);
  other = await createRegistered(app, ['verify']);
  for (const alg of Object.keys(pairs) as Alg[]) keyIds[alg] = String((await add(acme, alg)).body.id);
});
after(() => app.close());

const keysPath = ({ id }: { id: string }, rest = '') => `/portal/v1/applications/${id}/client-keys${rest}`;
const pemOf = (key: KeyObject) => String(key.export({ type: 'spki', format: 'pem' }));
const add = (application: TestApplication, alg: Alg) =>
  application.developer.send('POST', keysPath(application), {
    name: alg,
    alg,
    public_key: pemOf(pairs[alg].publicKey),
  });

let count = 0;
interface Made {
  alg?: Alg;
  key?: KeyObject;
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
}
const nowSeconds = () => Math.floor(app.clock.nowMs() / 1000);
function assertion({ alg = 'ES256', key = pairs[alg].privateKey, header = {}, claims = {} }: Made = {}) {
  const clientId = acme.client.client_id;
  const now = nowSeconds();
  const all = { iss: clientId, sub: clientId, aud: issuer, jti: `jti-${++count}`, iat: now, exp: now + 60, ...claims };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(given).setProtectedHeader({ alg, ...header }).sign(key);
}
const grant = { grant_type: 'client_credentials', scope: verifyScope, client_assertion_type: assertionType };
const ask = (jwt: string, more: Record<string, string> = {}) =>
  sendForm(app, 'token', { ...grant, client_assertion: jwt, ...more });

function assertInvalidClient(answer: TokenAnswer, what: string): void {
  assert.equal(answer.status, 401, what);
  const error_description = 'Client authentication failed.';
  assert.deepEqual(answer.body, { error: 'invalid_client', error_description }, what);
}

describe('a token by an assertion', () => {
  for (const alg of Object.keys(pairs) as Alg[])
    test(`${alg}, with and without a kid, for the issuer and for the token endpoint`, async () => {
      const { data } = (await acme.developer.send<{ data: { id: string; kid: string }[] }>('GET', keysPath(acme))).body;
      const kid = data.find(({ id }) => id === keyIds[alg])?.kid;
      for (const made of [{}, { header: { kid, typ: 'JWT' } }, { header: { typ: 'client-authentication+jwt' } }])
        assert.equal((await ask(await assertion({ alg, ...made }))).status, 200);
      for (const aud of [`${issuer}/protocol/openid-connect/token`, [issuer]])
        assert.equal((await ask(await assertion({ alg, claims: { aud } }))).status, 200);
      const named = await ask(await assertion({ alg }), { client_id: acme.client.client_id });
      const use = await send(app, 'GET', '/verify/v1/echo', { headers: bearer(String(named.body.access_token)) });
      assert.equal(use.status, 200);
    });

  test('it also opens introspection and revocation, each time by another assertion', async () => {
    const token = await getToken(app, acme.client, 'verify:manage');
    const form = async () => ({ token, client_assertion_type: assertionType, client_assertion: await assertion() });
    assert.equal((await sendForm(app, 'token/introspect', await form())).body.active, true);
    assert.equal((await sendForm(app, 'revoke', await form())).status, 200);
    assert.equal((await sendForm(app, 'token/introspect', await form())).body.active, false);
  });

  test('the clock of a client may be 30 s off, and iat and nbf may be absent', async () => {
    const now = nowSeconds();
    for (const claims of [
      { iat: now + 20, nbf: now + 20, exp: now + 80 },
      { iat: now - 75, exp: now - 15 },
      { iat: undefined },
      { iat: now - 30, exp: now + 270 },
    ])
      assert.equal((await ask(await assertion({ claims }))).status, 200, JSON.stringify(claims));
  });

  test('discovery lists the method and its algorithms, for each endpoint', async () => {
    const { body } = await send(app, 'GET', '/realms/heliograph/.well-known/openid-configuration');
    for (const endpoint of ['token', 'revocation', 'introspection']) {
      assert.ok((body[`${endpoint}_endpoint_auth_methods_supported`] as string[]).includes('private_key_jwt'));
      const algs = body[`${endpoint}_endpoint_auth_signing_alg_values_supported`];
      assert.deepEqual(algs, ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519']);
    }
  });
});

describe('invalid_client, with one body', () => {
  test('an assertion counts once, also at another endpoint', async () => {
    const jwt = await assertion();
    assert.equal((await ask(jwt)).status, 200);
    assertInvalidClient(await ask(jwt), 'replay');
    const form = { client_assertion_type: assertionType, client_assertion: jwt, token: 'x' };
    assertInvalidClient(await sendForm(app, 'revoke', form), 'replay elsewhere');
    // The same jti of the same client in another assertion.
    const [first, second] = [
      await assertion({ claims: { jti: 'same' } }),
      await assertion({ claims: { jti: 'same' } }),
    ];
    assert.equal((await ask(first)).status, 200);
    assertInvalidClient(await ask(second), 'a jti twice');
  });

  test('wrong claims', async () => {
    const now = nowSeconds();
    const wrong: Record<string, unknown>[] = [
      { iss: other.client.client_id },
      { sub: other.client.client_id },
      { iss: other.client.client_id, sub: other.client.client_id },
      { iss: 'cli_unknown', sub: 'cli_unknown' },
      { aud: 'https://other.example' },
      { aud: [issuer, 'https://other.example'] },
      { aud: [] },
      { aud: `${issuer}/` },
      { aud: undefined },
      { jti: undefined },
      { jti: '' },
      { jti: 'x'.repeat(513) },
      { jti: 7 },
      { exp: undefined },
      { exp: String(now + 60) },
      { exp: now - 60 },
      { exp: now + 400 },
      { iat: now - 280, exp: now + 60 },
      { iat: undefined, exp: now + 400 },
      { iat: now + 120, exp: now + 180 },
      { iat: 'now' },
      { nbf: now + 120 },
      { exp: Number.MAX_VALUE },
    ];
    for (const claims of wrong) assertInvalidClient(await ask(await assertion({ claims })), JSON.stringify(claims));
  });

  test('another key, another algorithm, none, and the public key as a secret', async () => {
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    assertInvalidClient(await ask(await assertion({ key: stranger })), 'an unknown key');
    assertInvalidClient(await ask(await assertion({ header: { kid: 'unknown' } })), 'an unknown kid');
    assertInvalidClient(await ask(await assertion({ header: { typ: 'at+jwt' } })), 'a JWT for another purpose');
    // The key for RS256 signs by PS256: each key has one algorithm.
    assertInvalidClient(await ask(await assertion({ alg: 'PS256', key: pairs.RS256.privateKey })), 'PS256 by RS256');
    const claims = (await assertion()).split('.')[1];
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const signature of ['', 'AA']) assertInvalidClient(await ask(`${none}.${claims}.${signature}`), 'none');
    const { client_id } = acme.client;
    const times = { iat: nowSeconds(), exp: nowSeconds() + 60 };
    const confused = await new SignJWT({ iss: client_id, sub: client_id, aud: issuer, jti: 'hs', ...times })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(pemOf(pairs.RS256.publicKey)));
    assertInvalidClient(await ask(confused), 'HS256 with the public key');
    const [head, body, proof = ''] = (await assertion()).split('.');
    const last = proof.at(-1) === 'A' ? 'Q' : 'A';
    assertInvalidClient(await ask(`${head}.${body}.${proof.slice(0, -1)}${last}`), 'changed');
    const criticalHeader = { alg: 'ES256', crit: ['b64'], b64: true };
    const critical = await new SignJWT({ iss: client_id, sub: client_id, aud: issuer, jti: 'crit', ...times })
      .setProtectedHeader(criticalHeader as { alg: string })
      .sign(pairs.ES256.privateKey);
    assertInvalidClient(await ask(critical), 'crit');
  });

  test('what is no assertion, another type, and a client_id that differs', async () => {
    for (const jwt of ['x', 'a.b.c', '..', 'x'.repeat(5000), `${'e'.repeat(2000)}.e.e`])
      assertInvalidClient(await ask(jwt), jwt.slice(0, 10));
    assertInvalidClient(await ask(await assertion(), { client_assertion_type: 'urn:x' }), 'another type');
    assertInvalidClient(await ask(await assertion(), { client_assertion_type: '' }), 'no type');
    assertInvalidClient(await ask(''), 'a type alone');
    assertInvalidClient(await ask(await assertion(), { client_id: other.client.client_id }), 'another client');
  });

  test('an assertion beside a secret is invalid_request', async () => {
    const { client_id, client_secret } = acme.client;
    const both = await ask(await assertion(), { client_secret });
    assert.deepEqual([both.status, both.body.error], [400, 'invalid_request']);
    const Authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
    const form = { ...grant, client_assertion: await assertion() };
    const beside = await sendForm(app, 'token', form, { headers: { Authorization } });
    assert.deepEqual([beside.status, beside.body.error], [400, 'invalid_request']);
  });
});

describe('public keys in the portal', () => {
  test('added, listed, used, deleted: its assertions and all tokens of the client end at once', async () => {
    const own = await createRegistered(app, ['messaging', 'verify']);
    const added = await add(own, 'EdDSA');
    assert.equal(added.status, 201);
    const { client_id } = own.client;
    const jwt = () => assertion({ alg: 'EdDSA', claims: { iss: client_id, sub: client_id } });
    const { body } = await ask(await jwt());
    const use = async () =>
      (await send(app, 'GET', '/verify/v1/echo', { headers: bearer(String(body.access_token)) })).status;
    assert.equal(await use(), 200);
    await app.app.registry.lastUsed.flush();
    const { data } = (await own.developer.send<{ data: Record<string, unknown>[] }>('GET', keysPath(own))).body;
    assert.deepEqual([data.length, data[0]?.name, data[0]?.alg, data[0]?.suspended_at], [1, 'EdDSA', 'EdDSA', null]);
    assert.notEqual(data[0]?.last_used_at, null);
    assert.equal((await own.developer.send('DELETE', keysPath(own, `/${added.body.id}`))).status, 204);
    assert.equal(await use(), 401);
    assertInvalidClient(await ask(await jwt()), 'deleted');
    assert.equal((await own.developer.send('DELETE', keysPath(own, `/${added.body.id}`))).status, 404);
  });

  test('a client without a secret works by its key alone', async () => {
    const own = await createRegistered(app, ['verify']);
    await add(own, 'ES256');
    const path = `/portal/v1/applications/${own.id}`;
    const detail = await own.developer.send<{ client: { secrets: { id: string }[] } }>('GET', path);
    await own.developer.send('DELETE', `${path}/client-secrets/${detail.body.client.secrets[0]?.id}`);
    const { client_id } = own.client;
    assert.equal((await ask(await assertion({ claims: { iss: client_id, sub: client_id } }))).status, 200);
  });

  test('409 for the same key, without a client, and above 10 keys; 400 names the field; 404 for others', async () => {
    const again = await add(acme, 'ES256');
    assert.deepEqual([again.status, again.body.code], [409, 'ALREADY_EXISTS']);
    const bare = await createApplication(acme.developer, 'Bare');
    const public_key = pemOf(pairs.ES256.publicKey);
    assert.equal((await acme.developer.send('POST', keysPath({ id: bare }), { public_key })).status, 409);
    const wrong = await acme.developer.send('POST', keysPath(acme), { public_key: 'x' });
    assert.equal(wrong.status, 400);
    assert.equal((wrong.body.details as { field: string }[])[0]?.field, 'public_key');
    const long = await acme.developer.send('POST', keysPath(acme), { public_key: 'x'.repeat(4001) });
    assert.equal(long.status, 400);
    assert.equal((await other.developer.send('GET', keysPath(acme))).status, 404);
    const foreign = keysPath(other, `/${keyIds.ES256}`);
    assert.equal((await other.developer.send('DELETE', foreign)).status, 404);
    const many = await createRegistered(app, ['verify']);
    const fresh = () => pemOf(generateKeyPairSync('ed25519').publicKey);
    for (let made = 0; made < 10; made++)
      assert.equal((await many.developer.send('POST', keysPath(many), { public_key: fresh() })).status, 201);
    assert.equal((await many.developer.send('POST', keysPath(many), { public_key: fresh() })).status, 409);
  });

  test('suspended by a restore: the holder of the key learns why, until it is enabled', async () => {
    const own = await createRegistered(app, ['verify']);
    const { client_id } = own.client;
    const id = String((await add(own, 'ES256')).body.id);
    const { clock, db } = app;
    await app.app.registry.feed.change(own.id, async (tx) => {
      await tx.query('update client_key set suspended_at = $2 where id = $1', [
        id,
        new Date(clock.nowMs()).toISOString(),
      ]);
    });
    const jwt = () => assertion({ claims: { iss: client_id, sub: client_id } });
    const refused = await ask(await jwt());
    assert.equal(refused.status, 401);
    assert.match(String(refused.body.error_description), /^The public key is suspended/);
    assert.equal((await own.developer.send('POST', keysPath(own, `/${id}/enable`))).status, 200);
    assert.equal((await ask(await jwt())).status, 200);
    assert.equal((await own.developer.send('POST', keysPath(own, `/${id}/enable`))).status, 409);
    const { rows } = await db.database.query<{ count: number }>('select count(*) from client_assertion');
    assert.ok((rows[0]?.count ?? 0) > 0);
  });
});

describe('independent clients', () => {
  for (const alg of ['ES256', 'PS256', 'EdDSA'] as const)
    test(`openid-client with ${alg}: discovery, token, use, introspection, revocation`, async () => {
      const key = await cryptoKey(alg);
      const config = await openid.discovery(
        new URL(issuer),
        acme.client.client_id,
        undefined,
        openid.PrivateKeyJwt(key),
        {
          execute: [openid.allowInsecureRequests],
        },
      );
      const { access_token } = await openid.clientCredentialsGrant(config, { scope: verifyScope });
      const resource = new URL('/verify/v1/echo', app.url);
      assert.equal((await openid.fetchProtectedResource(config, access_token, resource, 'GET')).status, 200);
      assert.equal((await openid.tokenIntrospection(config, access_token)).active, true);
      await openid.tokenRevocation(config, access_token);
      assert.equal((await openid.tokenIntrospection(config, access_token)).active, false);
    });

  test('oauth4webapi with RS256, and invalid_client for a key that was never added', async () => {
    const insecure = { [oauth.allowInsecureRequests]: true };
    const server = await oauth.processDiscoveryResponse(
      new URL(issuer),
      await oauth.discoveryRequest(new URL(issuer), insecure),
    );
    const client = { client_id: acme.client.client_id };
    const ask = (key: webcrypto.CryptoKey) =>
      oauth.clientCredentialsGrantRequest(server, client, oauth.PrivateKeyJwt(key), { scope: verifyScope }, insecure);
    const answer = await ask(await cryptoKey('RS256'));
    const { token_type } = await oauth.processClientCredentialsResponse(server, client, answer);
    assert.equal(token_type, 'bearer');
    const { privateKey } = await oauth.generateKeyPair('ES256');
    const refused = oauth.processClientCredentialsResponse(server, client, await ask(privateKey));
    await assert.rejects(refused, { error: 'invalid_client' });
  });
});

const importing = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  EdDSA: { name: 'Ed25519' },
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256' },
} as const;

function cryptoKey(alg: Alg): Promise<webcrypto.CryptoKey> {
  const der = pairs[alg].privateKey.export({ type: 'pkcs8', format: 'der' });
  return crypto.subtle.importKey('pkcs8', new Uint8Array(der), importing[alg], false, ['sign']);
}

test('the chore deletes assertions that expired an hour ago, and no other', async () => {
  await ask(await assertion());
  const countAll = async () =>
    (await app.db.database.query<{ count: number }>('select count(*) from client_assertion')).rows[0]?.count ?? 0;
  assert.ok((await countAll()) > 0);
  await app.delivery.maintenance.runAll();
  assert.ok((await countAll()) > 0);
  app.clock.advance(70 * 60_000);
  await app.delivery.maintenance.runAll();
  assert.equal(await countAll(), 0);
});
