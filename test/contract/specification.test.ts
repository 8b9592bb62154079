// run: on both lanes
// Every row and numbered sentence of the specification that the edge and the identity provider answer for, in its order
// and in its words. Behind them stand services of the test's own, which note what reaches them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { requireApplication } from '../../src/http/route.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  askForToken,
  bearer,
  createEchoRoutes,
  createRegistered,
  getToken,
  messagingScope,
  revokeToken,
  sendForm,
  type TestApplication,
  verifyScope,
} from '../support/applications.ts';
import { createApplication, register, send, signUp } from '../support/developer.ts';

const { routes, calls } = createEchoRoutes();
const [sms, verify, messaging] = ['/sms/v1/echo', '/verify/v1/echo', '/messaging/v1/echo'];
const body = { text: 'hello' };
const post = (path: string, headers: Record<string, string>) => send(app, 'POST', path, { body, headers });

let app: TestApp;
let acme: TestApplication;
let verifyToken: string;
let messagingToken: string;
before(async () => {
  app = await createTestApp({ extraRoutes: routes });
  acme = await createRegistered(app, ['sms', 'verify', 'messaging'], 'enterprise');
  verifyToken = await getToken(app, acme.client, 'verify:manage');
  messagingToken = await getToken(app, acme.client, 'messaging:send');
});
after(() => app.close());

describe('What the service does', () => {
  test('A separate Messaging API is reached with an OpenID Connect token that carries the scope messaging:send', async () => {
    assert.equal((await post(messaging, bearer(messagingToken))).status, 200);
    assert.equal((await post(messaging, bearer(verifyToken))).status, 403);
    assert.equal((await post(messaging, { apikey: acme.apiKey })).status, 401);
  });

  test('Every API is rate limited and every response carries rate-limit headers and a correlation header', async () => {
    const ids = new Set<string>();
    for (const [path, headers] of [
      [sms, { apikey: acme.apiKey }],
      [verify, bearer(verifyToken)],
      [messaging, bearer(messagingToken)],
    ] as const) {
      const first = await post(path, headers);
      const second = await post(path, headers);
      assert.equal(first.headers.get('ratelimit-limit'), '6000');
      const spent =
        Number(first.headers.get('ratelimit-remaining')) - Number(second.headers.get('ratelimit-remaining'));
      assert.equal(spent, 1);
      assert.equal(second.headers.get('ratelimit-reset'), '60');
      ids.add(first.headers.get('x-correlation-id') ?? '').add(second.headers.get('x-correlation-id') ?? '');
    }
    assert.equal(ids.size, 6);
  });

  test('Requests without valid credentials are rejected before they reach the service behind the API', async () => {
    const before = calls.length;
    const otherKey = app.app.registry.apiKeys.create().key;
    for (const path of [sms, verify, messaging]) {
      for (const headers of [{}, { apikey: 'nonsense' }, { apikey: otherKey }, bearer('a.b.c'), bearer('nonsense')]) {
        assert.equal((await post(path, headers)).status, 401, `${path} ${JSON.stringify(headers)}`);
      }
    }
    assert.equal((await post(verify, bearer(messagingToken))).status, 403);
    assert.equal(calls.length, before);
  });
});

describe('Token response', () => {
  test('The token endpoint returns a JSON object with an access_token field (string, bearer token)', async () => {
    const answer = await askForToken(app, acme.client, verifyScope);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(typeof answer.body.access_token, 'string');
    assert.equal(answer.body.token_type, 'Bearer');
  });
});

describe('Endpoints: POST {token_url}', () => {
  test('path of the form /realms/<realm>/protocol/openid-connect/token', async () => {
    const owner = await signUp(app);
    const { credential } = (await register(owner, await createApplication(owner), 'verify', 'free')).body;
    assert.match(credential?.token_url ?? '', /^http:\/\/[^/]+\/realms\/heliograph\/protocol\/openid-connect\/token$/);
  });

  test('form-encoded: grant_type, client_id, client_secret, scope', async () => {
    const form = { grant_type: 'client_credentials', ...acme.client, scope: verifyScope };
    assert.equal((await sendForm(app, 'token', form)).status, 200);
    for (const field of Object.keys(form)) {
      const answer = await sendForm(
        app,
        'token',
        Object.entries(form).filter(([name]) => name !== field),
      );
      assert.equal(answer.status, field.startsWith('client') ? 401 : 400, field);
    }
  });

  test('grant_type: the literal client_credentials', async () => {
    for (const grant_type of ['authorization_code', 'password', 'refresh_token', 'CLIENT_CREDENTIALS', ' ']) {
      const answer = await sendForm(app, 'token', { grant_type, ...acme.client, scope: verifyScope });
      assert.deepEqual([answer.status, answer.body.error], [400, 'unsupported_grant_type'], grant_type);
    }
  });

  test('scope: space-separated list: openid plus one of verify:manage or messaging:send', async () => {
    for (const scope of [verifyScope, messagingScope, 'verify:manage openid', 'messaging:send openid']) {
      assert.equal((await askForToken(app, acme.client, scope)).status, 200, scope);
    }
    for (const scope of ['', 'openid', 'verify:manage', 'openid sms:send', 'openid verify:manage messaging:send']) {
      const answer = await askForToken(app, acme.client, scope);
      assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_scope'], scope);
    }
  });
});

describe('Authentication', () => {
  test('Credential header: apikey: <API_KEY>, and Authorization: Bearer <ACCESS_TOKEN>', async () => {
    assert.equal((await post(sms, { apikey: acme.apiKey })).status, 201);
    assert.equal((await post(verify, bearer(verifyToken))).status, 200);
    for (const headers of [{ 'X-Api-Key': acme.apiKey }, { Authorization: acme.apiKey }, bearer(acme.apiKey)]) {
      assert.equal((await post(sms, headers as Record<string, string>)).status, 401);
    }
    for (const headers of [{ Authorization: verifyToken }, { apikey: verifyToken }, { token: verifyToken }]) {
      assert.equal((await post(verify, headers as Record<string, string>)).status, 401);
    }
    assert.equal((await post(`${sms}?apikey=${acme.apiKey}`, {})).status, 401);
    assert.equal((await post(`${verify}?access_token=${verifyToken}`, {})).status, 401);
  });

  test('Authorization by scope: none for the SMS Messaging API', async () => {
    assert.equal((await post(sms, { apikey: acme.apiKey })).status, 201);
  });

  test('Validation: stateful; validated on every request', async () => {
    const token = await getToken(app, acme.client, 'verify:manage');
    for (let i = 0; i < 3; i++) assert.equal((await post(verify, bearer(token))).status, 200);
    await revokeToken(app, acme.client, token);
    assert.equal((await post(verify, bearer(token))).status, 401);
  });
});

describe('API key (SMS Messaging)', () => {
  test('1. A key is self-service: sign up, create an application, then register it against the SMS Messaging API', async () => {
    const owner = await signUp(app);
    const id = await createApplication(owner);
    const { credential } = (await register(owner, id, 'sms', 'free')).body;
    assert.equal((await post(sms, { apikey: credential?.api_key ?? '' })).status, 201);
  });

  test('2. Registration is auto-approved in the sandbox; the key is issued instantly and accepted at once', async () => {
    const owner = await signUp(app);
    for (let i = 0; i < 20; i++) {
      const made = await register(owner, await createApplication(owner), 'sms', 'free');
      assert.equal(made.body.status, 'approved');
      const answer = await post(sms, { apikey: made.body.credential?.api_key ?? '' });
      assert.equal(answer.status, 201);
    }
  });

  test('3. The key is shown once, at issue', async () => {
    const owner = await signUp(app);
    const id = await createApplication(owner);
    const key = (await register(owner, id, 'sms', 'free')).body.credential?.api_key ?? '';
    for (const path of ['', '/keys', '/registrations']) {
      const shown = await owner.send('GET', `/portal/v1/applications/${id}${path}`);
      assert.ok(!JSON.stringify(shown.body).includes(key.slice(15, -4)));
    }
    assert.equal((await register(owner, id, 'sms', 'pro')).body.credential, null);
  });

  test('4. The key is sent in the apikey header on every request', async () => {
    assert.equal((await post(sms, { apikey: acme.apiKey })).status, 201);
    assert.equal((await post(sms, {})).status, 401);
    assert.equal((await post(sms, { APIKEY: acme.apiKey })).status, 201);
  });

  test('5. The key is used only to authenticate and is not passed on to the service behind the API', async () => {
    await post(sms, { apikey: acme.apiKey, ...bearer(verifyToken), Cookie: acme.developer.cookie });
    const call = calls.at(-1);
    const { applicationId, api } = requireApplication(call ?? assert.fail());
    assert.deepEqual([applicationId, api], [acme.id, 'sms']);
    for (const secret of [acme.apiKey, acme.apiKey.slice(11, 43), verifyToken, acme.developer.cookie.slice(-43)]) {
      assert.ok(!wholeOf(call).includes(secret));
    }
    await post(verify, bearer(verifyToken));
    assert.ok(!wholeOf(calls.at(-1)).includes(verifyToken.slice(-40)));
    assert.ok(!app.logLines.join('').includes(acme.apiKey));
    assert.ok(!app.logLines.join('').includes(verifyToken.slice(-40)));
  });
});

/** All of a call that can be reached from it, getters and what JSON would leave out included. */
function wholeOf(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (seen.has(value)) return '';
  seen.add(value);
  return Reflect.ownKeys(value)
    .map((key) => `${String(key)}=${wholeOf((value as Record<PropertyKey, unknown>)[key], seen)}`)
    .join('\n');
}

describe('OpenID Connect (Verification and Messaging)', () => {
  test('1. A token is requested from the token endpoint with the client credentials grant. A single machine-to-machine client is used', async () => {
    const tokens = [verifyToken, messagingToken].map(claimsOf);
    assert.equal(tokens[0]?.client_id, acme.client.client_id);
    assert.equal(tokens[1]?.client_id, acme.client.client_id);
  });

  test('2. The requested scope decides which API the token opens. A token for one scope does not open the other API', async () => {
    assert.equal((await post(verify, bearer(verifyToken))).status, 200);
    assert.equal((await post(messaging, bearer(messagingToken))).status, 200);
    assert.equal((await post(messaging, bearer(verifyToken))).status, 403);
    assert.equal((await post(verify, bearer(messagingToken))).status, 403);
  });

  test("3. On every request the token's signature, issuer and expiry are checked, and the token must carry the scope the endpoint requires", async () => {
    const [head = '', payload = '', signature = ''] = verifyToken.split('.');
    const foreign = Buffer.from(JSON.stringify({ ...claimsOf(verifyToken), iss: 'https://evil.example' }));
    assert.equal((await post(verify, bearer(`${head}.${foreign.toString('base64url')}.${signature}`))).status, 401);
    assert.equal((await post(verify, bearer(`${head}.${payload}.${'A'.repeat(signature.length)}`))).status, 401);
    assert.equal((await post(verify, bearer(verifyToken))).status, 200);
    assert.equal((await post(messaging, bearer(verifyToken))).status, 403);
  });

  test('4. Revoking a token takes effect immediately across the platform', async (t) => {
    const other = await createTestApp({ db: app.db, clock: app.clock, extraRoutes: routes });
    t.after(() => other.close());
    const token = await getToken(app, acme.client, 'verify:manage');
    for (const node of [app, other]) {
      const answer = await send(node, 'POST', verify, { body, headers: bearer(token) });
      assert.equal(answer.status, 200);
    }
    await revokeToken(app, acme.client, token);
    for (const node of [other, app]) {
      assert.equal((await send(node, 'POST', verify, { body, headers: bearer(token) })).status, 401);
    }
  });

  test('5. In production credentials are issued per application', async () => {
    const others = await createRegistered(app, ['sms', 'verify']);
    assert.notEqual(others.apiKey, acme.apiKey);
    assert.notEqual(others.client.client_id, acme.client.client_id);
    const mixed = { client_id: others.client.client_id, client_secret: acme.client.client_secret };
    assert.equal((await askForToken(app, mixed, verifyScope)).status, 401);
  });
});

describe('Outcomes', () => {
  test('No token: 401 Unauthorized', async () => {
    const answer = await post(verify, {});
    assert.equal(answer.status, 401);
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="heliograph"');
  });

  test('Malformed or expired token: 401 Unauthorized', async (t) => {
    for (const token of ['x', 'a.b', 'a.b.c', `${verifyToken}x`, verifyToken.slice(0, -9)]) {
      const answer = await post(verify, bearer(token));
      assert.equal(answer.status, 401);
      assert.match(answer.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
    }
    const short = await createTestApp({ env: { HELIOGRAPH_TOKEN_SECONDS: '60' }, extraRoutes: routes });
    t.after(() => short.close());
    const { client } = await createRegistered(short, ['verify']);
    const token = await getToken(short, client, 'verify:manage');
    const use = () => send(short, 'POST', verify, { body, headers: bearer(token) });
    short.clock.advance(59_999);
    assert.equal((await use()).status, 200);
    short.clock.advance(1);
    const expired = await use();
    assert.equal(expired.status, 401);
    assert.match(expired.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
  });

  test('Valid token without the required scope: 403 Forbidden', async () => {
    const answer = await post(messaging, bearer(verifyToken));
    assert.equal(answer.status, 403);
    assert.match(answer.headers.get('www-authenticate') ?? '', /error="insufficient_scope", scope="messaging:send"/);
  });

  test('Valid token with the required scope: 200 OK (success)', async () => {
    assert.equal((await post(verify, bearer(verifyToken))).status, 200);
    assert.equal((await post(messaging, bearer(messagingToken))).status, 200);
  });

  test('401 means the caller is not identified; 403 means the caller is identified and not permitted', async () => {
    const unidentified = await post(verify, bearer('a.b.c'));
    const identified = await post(verify, bearer(messagingToken));
    // Who is identified sees its own plan; who is not sees its address's budget.
    assert.deepEqual(
      [unidentified.status, unidentified.headers.get('ratelimit-policy')],
      [401, '"minute";q=6000;w=60, "burst";q=1000;w=1'],
    );
    assert.deepEqual(
      [identified.status, identified.headers.get('ratelimit-policy')],
      [403, '"minute";q=6000;w=60, "burst";q=2000;w=1'],
    );
  });
});

describe('Errors', () => {
  test('401: Credential missing, malformed, expired or otherwise invalid', async () => {
    const deleted = await createRegistered(app, ['sms']);
    assert.equal((await post(sms, { apikey: deleted.apiKey })).status, 201);
    await deleted.developer.send('DELETE', `/portal/v1/applications/${deleted.id}/keys/${deleted.keyId}`);
    for (const headers of [{}, { apikey: '' }, { apikey: 'x' }, { apikey: deleted.apiKey }]) {
      const answer = await post(sms, headers as Record<string, string>);
      assert.deepEqual([answer.status, answer.body.code], [401, 'UNAUTHENTICATED']);
      assert.equal(answer.headers.get('www-authenticate'), 'Key realm="heliograph"');
    }
  });

  test('403: a messaging:send token on the Verification API, or a verify:manage token on the Messaging API', async () => {
    assert.equal((await post(verify, bearer(messagingToken))).body.code, 'PERMISSION_DENIED');
    assert.equal((await post(messaging, bearer(verifyToken))).body.code, 'PERMISSION_DENIED');
  });
});

describe('Versioning', () => {
  test('The version is carried in the path prefix: /verify/v1 and /sms/v1', async () => {
    assert.equal((await post('/sms/v2/echo', { apikey: acme.apiKey })).status, 404);
    assert.equal((await post('/sms/echo', { apikey: acme.apiKey })).status, 404);
    assert.equal((await post('/sms/v1/nothing', { apikey: acme.apiKey })).status, 404);
    assert.equal((await post('/verify/v1/nothing', bearer(verifyToken))).status, 404);
  });
});

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
}
