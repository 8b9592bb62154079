// run: on web processes
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  askForToken,
  bearer,
  createEchoRoutes,
  createRegistered,
  getToken,
  sendForm,
  type TestApplication,
  type TokenAnswer,
  verifyScope,
} from '../support/applications.ts';
import { register, send } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';

const { routes } = createEchoRoutes();
const issuer = 'http://127.0.0.1:8080/realms/heliograph';

let app: TestApp;
let acme: TestApplication;
let other: TestApplication;
before(async () => {
  app = await createTestApp({ extraRoutes: routes });
  acme = await createRegistered(app, ['verify', 'messaging']);
  other = await createRegistered(app, ['verify']);
});
after(() => app.close());

const grant = { grant_type: 'client_credentials', scope: verifyScope };
const basic = (id: string, secret: string) => ({
  Authorization: `Basic ${Buffer.from(`${formEncode(id)}:${formEncode(secret)}`).toString('base64')}`,
});
const formEncode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);

function assertRefused(answer: TokenAnswer, status: number, error: string, what?: string): void {
  assert.equal(answer.status, status, what);
  assert.deepEqual(Object.keys(answer.body), ['error', 'error_description'], what);
  assert.equal(answer.body.error, error, what);
  // RFC 6749, section 5.2: neither quotes nor backslashes, nothing outside of ASCII.
  assert.match(String(answer.body.error_description), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
}

describe('token: 200', () => {
  test('access_token, token_type "Bearer", expires_in, scope; no-store; no refresh token, no ID token', async () => {
    const answer = await askForToken(app, acme.client, verifyScope);
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.body), ['access_token', 'token_type', 'expires_in', 'scope']);
    assert.equal(answer.body.token_type, 'Bearer');
    assert.equal(answer.body.expires_in, 3600);
    assert.equal(answer.body.scope, verifyScope);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(answer.headers.get('pragma'), 'no-cache');
  });

  test('a JWT, typ at+jwt, with iss sub aud client_id azp scope iat exp jti; aud names the API', async () => {
    const token = await getToken(app, acme.client, 'verify:manage');
    const { typ, alg, kid } = decodeProtectedHeader(token);
    assert.deepEqual([typ, alg, typeof kid], ['at+jwt', 'ES256', 'string']);
    const claims = decodeJwt(token);
    const { client_id } = acme.client;
    assert.equal(claims.iss, issuer);
    assert.deepEqual([claims.sub, claims.client_id, claims.azp], [client_id, client_id, client_id]);
    assert.equal(claims.scope, verifyScope);
    assert.equal(claims.iat, Math.floor(app.clock.nowMs() / 1000));
    assert.ok(Number.isInteger(claims.exp));
    const { aud } = decodeJwt(await getToken(app, acme.client, 'messaging:send'));
    assert.notEqual(aud, claims.aud);
    assert.notEqual(decodeJwt(await getToken(app, acme.client, 'verify:manage')).jti, claims.jti);
  });

  test('client_secret_basic, and client_id beside it when it names the same client', async () => {
    const headers = basic(acme.client.client_id, acme.client.client_secret);
    assert.equal((await sendForm(app, 'token', grant, { headers })).status, 200);
    const named = { ...grant, client_id: acme.client.client_id };
    assert.equal((await sendForm(app, 'token', named, { headers })).status, 200);
    const lower = { Authorization: headers.Authorization.replace('Basic', 'basic') };
    assert.equal((await sendForm(app, 'token', grant, { headers: lower })).status, 200);
  });

  test('client_secret_basic is form-decoded (RFC 6749, section 2.3.1)', async () => {
    const percent = [...acme.client.client_secret].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
    const headers = {
      Authorization: `Basic ${Buffer.from(`${acme.client.client_id}:${percent}`).toString('base64')}`,
    };
    assert.equal((await sendForm(app, 'token', grant, { headers })).status, 200);
  });

  test('an Authorization header of another scheme is ignored', async () => {
    for (const Authorization of ['Bearer x', `Bearer ${'x'.repeat(8000)}`, 'Digest x', 'Basically x', 'x', 'Bearer']) {
      const answer = await sendForm(app, 'token', { ...grant, ...acme.client }, { headers: { Authorization } });
      assert.equal(answer.status, 200, Authorization.slice(0, 20));
    }
  });

  test('scopes in any order, with any run of spaces between and around them', async () => {
    for (const scope of [
      'verify:manage openid',
      'openid  verify:manage',
      '  openid verify:manage ',
      `verify:manage${' '.repeat(100)}openid`,
    ]) {
      const answer = await askForToken(app, acme.client, scope);
      assert.deepEqual([answer.status, answer.body.scope], [200, verifyScope], scope);
    }
  });

  test('exp is iat and expires_in, and the token lives for exactly as long, by use and by introspection', async () => {
    // At a time that is no whole second.
    app.clock.advance(1000 - (app.clock.nowMs() % 1000) + 700);
    const { body } = await askForToken(app, acme.client, verifyScope);
    const token = String(body.access_token);
    const { iat = 0, exp = 0 } = decodeJwt(token);
    assert.equal(exp - iat, body.expires_in);
    const use = async () => (await send(app, 'GET', '/verify/v1/echo', { headers: bearer(token) })).status;
    const introspect = async () => (await sendForm(app, 'token/introspect', { ...acme.client, token })).body;
    const { active, exp: told } = await introspect();
    assert.deepEqual([active, told], [true, exp]);
    app.clock.advance(Number(body.expires_in) * 1000 - 1);
    assert.deepEqual([await use(), (await introspect()).active], [200, true]);
    app.clock.advance(1);
    assert.deepEqual([await use(), (await introspect()).active], [401, false]);
  });

  test('parameters it does not know are ignored, and so is an empty value', async () => {
    const form = { ...grant, ...acme.client, audience: 'x', resource: 'y', assertion: '' };
    assert.equal((await sendForm(app, 'token', form)).status, 200);
  });
});

describe('token: 401 invalid_client', () => {
  const wrong: [string, () => Promise<TokenAnswer>][] = [
    ['an unknown client', () => askForToken(app, { ...acme.client, client_id: newClientId() }, verifyScope)],
    ['a wrong secret', () => askForToken(app, { ...acme.client, client_secret: 'wrong' }, verifyScope)],
    [
      "another client's secret",
      () => askForToken(app, { ...acme.client, client_secret: other.client.client_secret }, verifyScope),
    ],
    ['no client', () => sendForm(app, 'token', grant)],
    ['no secret', () => sendForm(app, 'token', { ...grant, client_id: acme.client.client_id })],
    ['an empty secret', () => askForToken(app, { ...acme.client, client_secret: '' }, verifyScope)],
    ['no client id', () => sendForm(app, 'token', { ...grant, client_secret: acme.client.client_secret })],
    ['a client id of zero bytes', () => askForToken(app, { ...acme.client, client_id: 'cli_\0\0' }, verifyScope)],
    [
      '60,000 characters of client id',
      () => askForToken(app, { ...acme.client, client_id: 'c'.repeat(60_000) }, verifyScope),
    ],
    [
      'a secret that is no UTF-8',
      () =>
        sendForm(
          app,
          'token',
          `grant_type=client_credentials&scope=openid+verify:manage&client_id=${acme.client.client_id}&client_secret=%ff%fe`,
        ),
    ],
    [
      'Basic with a wrong secret',
      () => sendForm(app, 'token', grant, { headers: basic(acme.client.client_id, 'wrong') }),
    ],
    ['Basic without a colon', () => sendForm(app, 'token', grant, { headers: { Authorization: 'Basic Y2xp' } })],
    ['Basic that is not base64', () => sendForm(app, 'token', grant, { headers: { Authorization: 'Basic *' } })],
    [
      'Basic with broken percent-encoding',
      () =>
        sendForm(app, 'token', grant, {
          headers: { Authorization: `Basic ${Buffer.from('a:%zz').toString('base64')}` },
        }),
    ],
    ['Basic of 16,000 characters', () => sendForm(app, 'token', grant, { headers: basic('x', 'y'.repeat(10_000)) })],
    ['Basic and nothing else', () => sendForm(app, 'token', grant, { headers: { Authorization: 'Basic' } })],
    ['another way, which is none', () => sendForm(app, 'token', grant, { headers: { Authorization: 'Digest x' } })],
    [
      '60,000 characters of secret',
      () => askForToken(app, { ...acme.client, client_secret: 's'.repeat(60_000) }, verifyScope),
    ],
  ];

  test('every invalid_client has the same body, a challenge after Basic, and nothing of the request', async () => {
    const bodies = new Set<string>();
    for (const [what, ask] of wrong) {
      const answer = await ask();
      assertRefused(answer, 401, 'invalid_client', what);
      bodies.add(JSON.stringify(answer.body));
      const challenge = what.startsWith('Basic') ? 'Basic realm="heliograph"' : null;
      assert.equal(answer.headers.get('www-authenticate'), challenge, what);
    }
    assert.equal(bodies.size, 1);
  });

  test('every invalid_client takes the same time: none comes before a timer that starts before the lookup', async () => {
    for (const [what, ask] of wrong) {
      const startMs = performance.now();
      await ask();
      assert.ok(performance.now() - startMs >= 24, what);
    }
  });
});

describe('token: 400', () => {
  test('unsupported_grant_type; a missing one is invalid_request', async () => {
    for (const grant_type of ['password', 'authorization_code', 'refresh_token', 'implicit']) {
      assertRefused(
        await sendForm(app, 'token', { ...grant, grant_type, ...acme.client }),
        400,
        'unsupported_grant_type',
      );
    }
    assertRefused(await sendForm(app, 'token', { scope: verifyScope, ...acme.client }), 400, 'invalid_request');
    assertRefused(await sendForm(app, 'token', ''), 400, 'invalid_request');
  });

  test('invalid_scope, also when it is missing', async () => {
    const scopes = [
      'openid',
      'verify:manage',
      'openid openid',
      'openid verify:manage messaging:send',
      'openid openid verify:manage',
      'openidverify:manage',
      `openid verify:manage${' '.repeat(60_000)}`,
    ];
    for (const scope of [...scopes, 'openid profile', 'OPENID verify:manage', 'openid\tverify:manage', '<script>']) {
      assertRefused(await askForToken(app, acme.client, scope), 400, 'invalid_scope', scope);
    }
    assertRefused(await askForToken(app, acme.client, ''), 400, 'invalid_scope');
    const { scope: _, ...without } = { ...grant, ...acme.client };
    assertRefused(await sendForm(app, 'token', without), 400, 'invalid_scope');
  });

  test('invalid_scope for an API the application is not registered for', async () => {
    assertRefused(await askForToken(app, other.client, 'openid messaging:send'), 400, 'invalid_scope');
  });

  test('invalid_request for both ways to authenticate at once', async () => {
    const headers = basic(acme.client.client_id, acme.client.client_secret);
    const both = await sendForm(app, 'token', { ...grant, ...acme.client }, { headers });
    assertRefused(both, 400, 'invalid_request');
    const two = await sendForm(app, 'token', { ...grant, client_id: other.client.client_id }, { headers });
    assertRefused(two, 400, 'invalid_request');
  });

  test('invalid_request for a repeated parameter, whichever it is', async () => {
    const form = new URLSearchParams({ ...grant, ...acme.client }).toString();
    for (const more of ['grant_type=client_credentials', 'scope=openid', 'client_id=x', 'client_secret=', 'x=1&x=2']) {
      assertRefused(await sendForm(app, 'token', `${form}&${more}`), 400, 'invalid_request', more);
    }
  });

  test('invalid_request for more than 50 parameters, which are not read', async () => {
    const form = new URLSearchParams({ ...grant, ...acme.client }).toString();
    const more = (count: number) => Array.from({ length: count }, (_, index) => `&${index.toString(36)}`).join('');
    assert.equal((await sendForm(app, 'token', form + more(40))).status, 200);
    for (const many of [more(60), more(16_000), '&'.repeat(60_000)]) {
      assertRefused(await sendForm(app, 'token', form + many), 400, 'invalid_request');
    }
  });

  test('invalid_request for a JSON body, and for a body that does not say what it is', async () => {
    const body = JSON.stringify({ ...grant, ...acme.client });
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x']) {
      assertRefused(await sendForm(app, 'token', body, { headers: { 'Content-Type': type } }), 400, 'invalid_request');
    }
  });

  test('nothing of the request is ever repeated', async () => {
    const marks = { grant_type: 'MARK1', client_id: 'MARK2', client_secret: 'MARK3', scope: 'MARK4', token: 'MARK5' };
    for (const [field] of Object.entries(marks)) {
      for (const endpoint of ['token', 'revoke', 'token/introspect']) {
        const form = { ...grant, ...acme.client, token: 'x', [field]: marks[field as keyof typeof marks] };
        const answer = await sendForm(app, endpoint, form);
        assert.doesNotMatch(JSON.stringify([answer.body, ...answer.headers]), /MARK/);
      }
    }
  });
});

describe('other answers of the token endpoint', () => {
  const path = '/realms/heliograph/protocol/openid-connect/token';

  test('404 in another realm', async () => {
    for (const realm of ['master', 'Heliograph', 'heliograph2']) {
      const answer = await sendForm(app, 'token', { ...grant, ...acme.client }, { realm });
      assert.deepEqual([answer.status, answer.body.code], [404, 'NOT_FOUND']);
    }
  });

  test('405 with Allow for any other method', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await send(app, method, path);
      assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST']);
      // RFC 6749's form, as for everything else that is refused here.
      if (method !== 'HEAD') assert.deepEqual(Object.keys(answer.body), ['error', 'error_description']);
    }
  });

  test('413 for more than 64 KiB', async () => {
    assert.equal((await sendForm(app, 'token', `x=${'y'.repeat(65_536)}`)).status, 413);
  });

  test('credentials in the address are ignored', async () => {
    const query = new URLSearchParams({ ...grant, ...acme.client }).toString();
    assert.equal((await sendForm(app, `token?${query}`, grant)).status, 401);
  });
});

describe('production', () => {
  test('invalid_scope until the operator has approved', async (t) => {
    const production = await createTestApp({ env: { HELIOGRAPH_ENV: 'production' }, extraRoutes: routes });
    t.after(() => production.close());
    const operator = await createOperator(production);
    const pending = await createRegistered(production, ['verify', 'sms']);
    assertRefused(await askForToken(production, pending.client, verifyScope), 400, 'invalid_scope');
    const useKey = () => send(production, 'GET', '/sms/v1/echo', { headers: { apikey: pending.apiKey } });
    assert.equal((await useKey()).status, 401);
    const list = await operator.send<{ data: { id: string }[] }>('GET', '/portal/v1/operator/registrations');
    for (const { id } of list.body.data) await operator.send('POST', `/portal/v1/operator/registrations/${id}/approve`);
    const token = await getToken(production, pending.client, 'verify:manage');
    assert.equal((await send(production, 'GET', '/verify/v1/echo', { headers: bearer(token) })).status, 200);
    assert.equal((await useKey()).status, 200);
  });
});

describe('discovery and JWKS', () => {
  test('the issuer is {public_url}/realms/{realm}, and every endpoint lies below it', async () => {
    const { status, body, headers } = await send(app, 'GET', '/realms/heliograph/.well-known/openid-configuration');
    assert.equal(status, 200);
    assert.equal(body.issuer, issuer);
    assert.equal(body.token_endpoint, `${issuer}/protocol/openid-connect/token`);
    assert.equal(body.revocation_endpoint, `${issuer}/protocol/openid-connect/revoke`);
    assert.equal(body.introspection_endpoint, `${issuer}/protocol/openid-connect/token/introspect`);
    assert.equal(body.jwks_uri, `${issuer}/protocol/openid-connect/certs`);
    assert.deepEqual(body.grant_types_supported, ['client_credentials']);
    assert.deepEqual(body.scopes_supported, ['openid', 'verify:manage', 'messaging:send']);
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
  });

  test('the metadata address of RFC 8414 answers the same document', async () => {
    const oidc = await send(app, 'GET', '/realms/heliograph/.well-known/openid-configuration');
    const oauth = await send(app, 'GET', '/.well-known/oauth-authorization-server/realms/heliograph');
    assert.deepEqual([oauth.status, oauth.body], [200, oidc.body]);
    assert.equal(oauth.headers.get('content-type'), oidc.headers.get('content-type'));
    assert.equal((await send(app, 'GET', '/.well-known/oauth-authorization-server/realms/other')).status, 404);
  });

  test('JWKS shows public halves only, each with kid, alg and use', async () => {
    const { body } = await send<{ keys: Record<string, unknown>[] }>(
      app,
      'GET',
      '/realms/heliograph/protocol/openid-connect/certs',
    );
    assert.equal(body.keys.length, 1);
    const [key = {}] = body.keys;
    assert.deepEqual(new Set(Object.keys(key)), new Set(['kty', 'crv', 'x', 'y', 'kid', 'alg', 'use']));
    assert.equal(key.kid, decodeProtectedHeader(await getToken(app, acme.client, 'verify:manage')).kid);
  });

  test('404 in another realm, 405 for POST', async () => {
    assert.equal((await send(app, 'GET', '/realms/x/.well-known/openid-configuration')).status, 404);
    assert.equal((await send(app, 'GET', '/realms/x/protocol/openid-connect/certs')).status, 404);
    assert.equal((await send(app, 'POST', '/realms/heliograph/protocol/openid-connect/certs')).status, 405);
  });
});

describe('a rotated secret', () => {
  test('with overlap: both secrets work until it is over, and tokens live on', async () => {
    const { developer, id, client } = await createRegistered(app, ['verify']);
    const token = await getToken(app, client, 'verify:manage');
    const rotated = await developer.send('POST', `/portal/v1/applications/${id}/client-secrets`, {
      overlap_seconds: 30,
    });
    const newer = { client_id: client.client_id, client_secret: String(rotated.body.client_secret) };
    for (const each of [client, newer]) assert.equal((await askForToken(app, each, verifyScope)).status, 200);
    app.clock.advance(30_000);
    assertRefused(await askForToken(app, client, verifyScope), 401, 'invalid_client');
    assert.equal((await askForToken(app, newer, verifyScope)).status, 200);
    assert.equal((await send(app, 'GET', '/verify/v1/echo', { headers: bearer(token) })).status, 200);
  });

  test('without: the old one and its tokens are dead at once, and the new one works at once', async () => {
    const { developer, id, client } = await createRegistered(app, ['verify']);
    const token = await getToken(app, client, 'verify:manage');
    const rotated = await developer.send('POST', `/portal/v1/applications/${id}/client-secrets`, {
      overlap_seconds: 0,
    });
    const newer = { client_id: client.client_id, client_secret: String(rotated.body.client_secret) };
    assertRefused(await askForToken(app, client, verifyScope), 401, 'invalid_client');
    assert.equal((await send(app, 'GET', '/verify/v1/echo', { headers: bearer(token) })).status, 401);
    const fresh = await getToken(app, newer, 'verify:manage');
    assert.equal((await send(app, 'GET', '/verify/v1/echo', { headers: bearer(fresh) })).status, 200);
  });
});

describe('a removed registration', () => {
  test('ends its tokens for good, also when the application registers again', async () => {
    const { developer, id, client } = await createRegistered(app, ['verify', 'messaging']);
    const token = await getToken(app, client, 'verify:manage');
    const messaging = await getToken(app, client, 'messaging:send');
    const use = () => send(app, 'GET', '/verify/v1/echo', { headers: bearer(token) });
    assert.equal((await use()).status, 200);
    await developer.send('DELETE', `/portal/v1/applications/${id}/registrations/verify`);
    assert.equal((await use()).status, 401);
    assertRefused(await askForToken(app, client, verifyScope), 400, 'invalid_scope');
    await register(developer, id, 'verify', 'free');
    assert.equal((await use()).status, 401);
    assert.equal((await send(app, 'GET', '/messaging/v1/echo', { headers: bearer(messaging) })).status, 200);
  });
});

function newClientId(): string {
  return acme.client.client_id.replace(/.{6}$/, (last) => (last === '000000' ? '111111' : '000000'));
}
