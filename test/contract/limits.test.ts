// run: on both lanes, on web processes
// The order of the contract's section 2 and the budgets of its section 4, through the whole app. The clock stands still
// unless a test turns it, so every count is exact.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { randomBase62 } from '../../src/platform/crypto/random.ts';
import { sayRaw } from '../socket/raw-connection.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  bearer,
  countStatuses,
  createEchoRoutes,
  createRegistered,
  getToken,
  sendForm,
  sendMany,
  type TestApplication,
} from '../support/applications.ts';
import { register, send } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { forgeToken } from '../support/forged-token.ts';

const { routes, calls } = createEchoRoutes();
const [sms, verify] = ['/sms/v1/echo', '/verify/v1/echo'];
const addressLimit = 100;
/** Many times what the address may send. */
const forged = inShort(550, 20_000);

let app: TestApp;
let acme: TestApplication;
let verifyToken: string;
let messagingToken: string;
before(async () => {
  app = await createTestApp({
    extraRoutes: routes,
    env: {
      HELIOGRAPH_ADDRESS_PER_MINUTE: String(addressLimit),
      HELIOGRAPH_ADDRESS_BURST: String(addressLimit),
      HELIOGRAPH_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  acme = await createRegistered(app, ['sms', 'verify', 'messaging'], 'enterprise');
  verifyToken = await getToken(app, acme.client, 'verify:manage');
  messagingToken = await getToken(app, acme.client, 'messaging:send');
});
after(() => app.close());

let nextAddress = 0;
/** Tests do not use one another's budget up: each comes from addresses of its own, by way of a proxy we trust. */
const newAddress = () => `198.51.${nextAddress >> 8}.${nextAddress++ & 255}`;
const from = (address: string, headers: Record<string, string> = {}) => ({ ...headers, 'X-Forwarded-For': address });
/** What only we could have made, and did not. */
const unknownToken = () => forgeToken({ keys: app.keys, nowMs: app.clock.nowMs() });
const unknownKey = () => app.app.registry.apiKeys.create().key;
const get = (path: string, headers: Record<string, string>) => send(app, 'GET', path, { headers });
const remaining = ({ headers }: { headers: Headers }) => Number(headers.get('ratelimit-remaining'));

async function newFree(): Promise<TestApplication> {
  app.clock.advance(60_000);
  return createRegistered(app, ['sms', 'verify', 'messaging'], 'free');
}

describe('the order on the three APIs', () => {
  test('401 before 404 and 405: who is not identified does not learn what is there', async () => {
    for (const [path, headers] of [
      ['/sms/v1/nothing', {}],
      ['/sms/v1', {}],
      ['/verify/v1/nothing/at/all', {}],
      ['/messaging/v1/nothing', { apikey: acme.apiKey }],
      ['/sms/v1/nothing', bearer(verifyToken)],
    ] as const) {
      assert.equal((await get(path, headers)).status, 401, path);
      assert.equal((await send(app, 'PUT', path, { headers })).status, 401, path);
    }
    assert.equal((await get('/sms/v1/nothing', { apikey: acme.apiKey })).status, 404);
    assert.equal((await send(app, 'PUT', sms, { headers: { apikey: acme.apiKey } })).status, 405);
  });

  test('403 before 404 and 405', async () => {
    assert.equal((await get('/verify/v1/nothing', bearer(messagingToken))).status, 403);
    assert.equal((await send(app, 'PUT', verify, { headers: bearer(messagingToken) })).status, 403);
    assert.equal((await get('/verify/v1/nothing', bearer(verifyToken))).status, 404);
  });

  test('401, 403 and 404 come before the body is read', async () => {
    const big = { text: 'x'.repeat(70_000) };
    assert.equal((await send(app, 'POST', verify, { body: big })).status, 401);
    assert.equal((await send(app, 'POST', verify, { body: big, headers: bearer(messagingToken) })).status, 403);
    assert.equal((await send(app, 'POST', '/verify/v1/no', { body: big, headers: bearer(verifyToken) })).status, 404);
    assert.equal((await send(app, 'POST', verify, { body: big, headers: bearer(verifyToken) })).status, 413);
  });

  test('429 before 403, 404, 405, 413, 415 and 400', async () => {
    const { client } = await newFree();
    const token = await getToken(app, client, 'messaging:send');
    await sendMany(app, 60, { path: '/messaging/v1/echo', headers: bearer(token) });
    const before = calls.length;
    for (const [method, path, body] of [
      ['GET', verify],
      ['GET', '/messaging/v1/nothing'],
      ['PUT', '/messaging/v1/echo'],
      ['POST', '/messaging/v1/echo', { text: 'x'.repeat(70_000) }],
      ['POST', '/messaging/v1/echo', { text: 7 }],
    ] as const) {
      assert.equal((await send(app, method, path, { body, headers: bearer(token) })).status, 429, path);
    }
    assert.equal(calls.length, before);
  });

  test('429 before 401: a credential that could be one, from an address with nothing left', async () => {
    const address = newAddress();
    for (let i = 0; i < addressLimit; i++) await get(sms, from(address, { apikey: unknownKey() }));
    const refused = await get(sms, from(address, { apikey: unknownKey() }));
    assert.equal(refused.status, 429);
    assert.deepEqual(Object.keys(refused.body), ['message']);
    assert.equal((await get(verify, from(address, bearer(unknownToken())))).status, 429);
    assert.equal((await get(verify, from(address, bearer('a.b.c')))).status, 401, 'a made-up one is always a 401');
  });

  test('403s, 400s, 404s and 405s of an identified caller count; a 429 does not', async () => {
    const { client } = await newFree();
    const token = await getToken(app, client, 'verify:manage');
    const asked = await Promise.all([
      get(verify, bearer(token)),
      get('/messaging/v1/echo', bearer(token)),
      get('/verify/v1/nothing', bearer(token)),
      send(app, 'PUT', verify, { headers: bearer(token) }),
      send(app, 'POST', verify, { body: { text: 7 }, headers: bearer(token) }),
      send(app, 'POST', verify, { body: { text: 'x'.repeat(70_000) }, headers: bearer(token) }),
    ]);
    assert.deepEqual(
      asked.map(({ status }) => status).sort((a, b) => a - b),
      [200, 400, 403, 404, 405, 413],
    );
    assert.equal(remaining(await get(verify, bearer(token))), 60 - 7);
    app.clock.advance(1000);
    const refused = countStatuses(await sendMany(app, 60, { path: verify, headers: bearer(token) }));
    assert.deepEqual(refused, { 200: 53, 429: 7 });
    app.clock.advance(59_000);
    assert.equal(remaining(await get(verify, bearer(token))), 60 - 54);
  });
});

describe('counted per registration', () => {
  test('over all its credentials, and apart from its other registrations', async () => {
    const { apiKey, developer, id, client } = await newFree();
    const { body } = await developer.send('POST', `/portal/v1/applications/${id}/keys`, { overlap_seconds: 60 });
    const tokens = [await getToken(app, client, 'verify:manage'), await getToken(app, client, 'verify:manage')];
    assert.equal(remaining(await get(sms, { apikey: apiKey })), 59);
    assert.equal(remaining(await get(sms, { apikey: String(body.api_key) })), 58);
    assert.deepEqual(
      [remaining(await get(verify, bearer(tokens[0] ?? ''))), remaining(await get(verify, bearer(tokens[1] ?? '')))],
      [59, 58],
    );
  });

  test('90 parallel requests at the limit admit exactly what fits, with a cold memory and a warm one', async () => {
    for (const warm of [false, true]) {
      const { apiKey } = await newFree();
      if (warm) await get(sms, { apikey: apiKey });
      const before = calls.length;
      const answers = await Promise.all(Array.from({ length: 90 }, () => get(sms, { apikey: apiKey })));
      const fits = warm ? 59 : 60;
      assert.deepEqual(countStatuses(answers), { 200: fits, 429: 90 - fits });
      assert.equal(calls.length - before, fits);
      const left = answers.filter(({ status }) => status === 200).map(remaining);
      assert.equal(new Set(left).size, fits);
    }
  });

  test('a plan change acts on the next request, with the same credential, up and down', async () => {
    const { apiKey, developer, id } = await newFree();
    const use = () => get(sms, { apikey: apiKey });
    for (let second = 0; second < 3; second++) {
      app.clock.advance(second === 0 ? 0 : 1000);
      await sendMany(app, 20, { path: sms, headers: { apikey: apiKey } });
    }
    assert.equal((await use()).status, 429);
    await register(developer, id, 'sms', 'pro');
    const raised = await use();
    assert.deepEqual([raised.status, remaining(raised)], [200, 600 - 61]);
    await register(developer, id, 'sms', 'free');
    const lowered = await use();
    assert.deepEqual([lowered.status, remaining(lowered)], [429, 0]);
    assert.equal(lowered.headers.get('ratelimit-limit'), '60');
    app.clock.advance(Number(lowered.headers.get('retry-after')) * 1000);
    assert.equal((await use()).status, 200);
  });
});

test('plan and API names are read in any case and answered in lower case', async () => {
  const { developer, id } = await newFree();
  const registrations = `/portal/v1/applications/${id}/registrations`;
  for (const [api, plan] of [
    ['SMS', 'PRO'],
    ['Verify', 'Enterprise'],
    ['mEssaging', 'fRee'],
  ] as const) {
    const { status, body } = await developer.send('POST', registrations, { api, plan });
    assert.deepEqual([status, body.api, body.plan], [200, api.toLowerCase(), plan.toLowerCase()]);
  }
  for (const wrong of [
    { api: 'SMSS', plan: 'pro' },
    { api: 'sms', plan: 'gold' },
    { api: 'ſms', plan: 'pro' },
  ]) {
    assert.equal((await developer.send('POST', registrations, wrong)).status, 400);
  }
  assert.equal((await developer.send('DELETE', `${registrations}/Sms`)).status, 204);
  assert.equal((await developer.send('DELETE', `${registrations}/SMS`)).status, 404);
});

test('a registration that is deleted and made again goes on with its windows, and with its block', async () => {
  const { id, apiKey, developer } = await newFree();
  const path = `/portal/v1/applications/${id}/registrations`;
  const used = await sendMany(app, 61, { path: sms, headers: { apikey: apiKey } });
  assert.deepEqual(countStatuses(used), { 200: 60, 429: 1 });
  assert.equal((await developer.send('DELETE', `${path}/sms`)).status, 204);
  const made = await register(developer, id, 'sms', 'free');
  assert.equal(made.status, 201);
  assert.equal((await get(sms, { apikey: made.body.credential?.api_key ?? '' })).status, 429);
  const usage = await developer.send<{ data: { api: string; remaining: number }[] }>(
    'GET',
    `/portal/v1/applications/${id}/usage`,
  );
  assert.equal(usage.body.data.find(({ api }) => api === 'sms')?.remaining, 0);
});

describe('addresses', () => {
  test('no credential, or one whose form is wrong, is a 401 at no cost, always', async () => {
    const address = newAddress();
    for (const [path, headers] of [
      [sms, {}],
      [sms, { apikey: 'wrong' }],
      [sms, { apikey: `${acme.apiKey.slice(0, -1)}!` }],
      [sms, { apikey: acme.apiKey.replace(/.{8}$/, 'AAAAAAAA') }],
      [verify, {}],
      [verify, { Authorization: 'Bearer wrong' }],
      [verify, { Authorization: 'Basic eDp4' }],
    ] as const) {
      const answer = await get(path, from(address, headers));
      assert.deepEqual([answer.status, remaining(answer)], [401, addressLimit]);
    }
    const many = await sendMany(app, 3 * addressLimit, { path: sms, headers: from(address, { apikey: 'wrong' }) });
    assert.deepEqual(countStatuses(many), { 401: 3 * addressLimit });
  });

  test(`${forged} forged credentials of every kind at once leave the budget of their address untouched`, async () => {
    const address = newAddress();
    const [head, body] = verifyToken.split('.');
    await get(verify, bearer(verifyToken));
    const random = (bytes: number) => randomBytes(bytes).toString('base64url');
    const forge = (claims: Record<string, unknown>, checked = true) =>
      forgeToken({ keys: app.keys, nowMs: app.clock.nowMs(), claims, checked });
    const pastMs = app.clock.nowMs() - 1;
    const token = (text: string) => ({ path: verify, headers: from(address, bearer(text)) });
    const key = (text: string) => ({ path: sms, headers: from(address, { apikey: text }) });
    const kinds = [
      () => token(`${random(30)}.${random(90)}.${random(64)}`),
      () => token(`${head}.${random(300)}.${random(64)}`),
      () => token(`${head}.${body}.${random(64)}`),
      () => token(forge({}, false)),
      () => token(forge({ exp_ms: pastMs, exp: Math.floor(pastMs / 1000) })),
      () => token(forge({ exp: Math.floor(pastMs / 1000) })),
      () => token(random(3000)),
      () => token(random(6000)),
      () => key(random(40)),
      () => key(`hg_sandbox_${randomBase62(32)}_${randomBase62(8)}`),
      () => key(random(6000)),
    ];
    const answers = await sendMany(app, forged, (index) => kinds[index % kinds.length]?.() ?? assert.fail());
    assert.deepEqual(countStatuses(answers), { 401: forged });
    assert.equal(remaining(await get(sms, from(address))), addressLimit);
    assert.equal((await get(verify, from(address, bearer(verifyToken)))).status, 200);
    assert.equal(remaining(await get(verify, from(address, bearer(unknownToken())))), addressLimit - 1, 'the control');
  });

  test('a well-formed credential that is not remembered uses the budget of its address; one that is does not', async () => {
    const address = newAddress();
    const key = unknownKey();
    assert.equal(remaining(await get(sms, from(address, { apikey: key }))), addressLimit - 1);
    // By now the gateway remembers that no such key exists.
    assert.equal(remaining(await get(sms, from(address, { apikey: key }))), addressLimit - 1);
    assert.equal(remaining(await get(verify, from(address, bearer(unknownToken())))), addressLimit - 2);
    await get(sms, { apikey: acme.apiKey });
    assert.equal((await get(sms, from(address, { apikey: acme.apiKey }))).headers.get('ratelimit-limit'), '6000');
    assert.equal(remaining(await get(sms, from(address))), addressLimit - 2);
  });

  test('without budget, who is remembered is served, and a 401 without a credential stays a 401', async () => {
    const address = newAddress();
    const other = await newFree();
    await get(sms, { apikey: acme.apiKey });
    await sendMany(app, addressLimit, { path: '/portal/v1/me', headers: from(address) });
    assert.equal((await get(sms, from(address, { apikey: acme.apiKey }))).status, 200);
    assert.equal((await get(sms, from(address, { apikey: other.apiKey }))).status, 429);
    const nobody = await get(sms, from(address));
    assert.deepEqual([nobody.status, remaining(nobody), nobody.headers.get('retry-after')], [401, 0, null]);
    assert.equal((await get(sms, from(newAddress(), { apikey: other.apiKey }))).status, 200);
  });

  test('without budget, who was let in before is looked up again after a change', async () => {
    const address = newAddress();
    const { apiKey, client, developer, id } = await newFree();
    const token = await getToken(app, client, 'verify:manage');
    const uses = [
      [sms, { apikey: apiKey }],
      [verify, bearer(token)],
    ] as const;
    for (const [path, headers] of uses) assert.equal((await get(path, headers)).status, 200);
    await sendMany(app, addressLimit, { path: '/portal/v1/me', headers: from(address) });
    await register(developer, id, 'sms', 'pro');
    for (const [path, headers] of uses) assert.equal((await get(path, from(address, headers))).status, 200);
    await developer.send('DELETE', `/portal/v1/applications/${id}`);
    for (const [path, headers] of uses) assert.equal((await get(path, from(address, headers))).status, 401);
    // Both are known to be dead from now on, and are refused without a lookup.
    for (const [path, headers] of uses) assert.equal((await get(path, from(address, headers))).status, 401);
  });

  test('token, revoke and introspect have a budget of their own and never charge a registration', async () => {
    const address = newAddress();
    const { client, apiKey } = await newFree();
    const token = await getToken(app, client, 'verify:manage');
    const used = remaining(await get(verify, bearer(token)));
    const ask = (endpoint: string) =>
      sendForm(app, endpoint, { ...client, token, grant_type: 'client_credentials' }, { headers: from(address) });
    for (let i = 0; i < addressLimit; i++) {
      const answer = await ask(['token', 'token/introspect'][i % 2] ?? '');
      assert.equal(remaining(answer), addressLimit - 1 - i);
    }
    for (const endpoint of ['token', 'revoke', 'token/introspect']) {
      const refused = await ask(endpoint);
      assert.deepEqual([refused.status, Object.keys(refused.body)], [429, ['message']]);
      assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    }
    assert.equal((await get(sms, from(address, { apikey: apiKey }))).status, 200);
    assert.equal((await get('/portal/v1/me', from(address))).status, 401);
    assert.equal(remaining(await get(verify, bearer(token))), used - 1);
  });

  test('the portal counts by address, and browsing does not keep anybody from asking for tokens', async () => {
    const address = newAddress();
    for (let i = 1; i <= addressLimit; i++) {
      assert.equal(remaining(await get('/portal/v1/me', from(address))), addressLimit - i);
    }
    assert.equal((await get('/portal/v1/me', from(address))).status, 429);
    assert.equal((await get('/portal/v1/me', from(address, { Cookie: acme.developer.cookie }))).status, 429);
    assert.equal((await sendForm(app, 'token', {}, { headers: from(address) })).status, 400);
  });

  test('health, metrics, docs and keys are never refused, and say how the address stands', async () => {
    const address = newAddress();
    await sendMany(app, addressLimit + 1, { path: '/portal/v1/me', headers: from(address) });
    const openTo = ['/healthz', '/readyz', '/openapi.json', '/realms/heliograph/protocol/openid-connect/certs'];
    for (const path of openTo) {
      const answer = await get(path, from(address));
      assert.deepEqual([answer.status, remaining(answer)], [200, 0], path);
    }
    for (const path of ['/docs', '/', '/metrics', '/nothing']) {
      const { status } = await fetch(app.url + path, { redirect: 'manual', headers: from(address) });
      assert.notEqual(status, 429, path);
    }
  });

  test('IPv6 counts by /64, and IPv4 in IPv6 clothes as IPv4', async () => {
    const left = async (address: string) => remaining(await get('/portal/v1/me', from(address)));
    assert.equal(await left('2001:db8:1:1::1'), addressLimit - 1);
    assert.equal(await left('2001:db8:1:1:ffff:ffff:ffff:ffff'), addressLimit - 2);
    assert.equal(await left('2001:db8:1:2::1'), addressLimit - 1);
    assert.equal(await left('192.0.2.77'), addressLimit - 1);
    assert.equal(await left('::ffff:192.0.2.77'), addressLimit - 2);
  });

  test('X-Forwarded-For counts from the right, and what callers put before it counts for nothing', async () => {
    const address = newAddress();
    for (let i = 1; i <= 5; i++) {
      const answer = await get('/portal/v1/me', from(`10.0.0.${i}, nonsense, ${address}`));
      assert.equal(remaining(answer), addressLimit - i);
    }
  });

  test('X-Forwarded-For is believed from trusted proxies only', async (t) => {
    const bare = await createTestApp({ extraRoutes: routes });
    t.after(() => bare.close());
    for (let i = 1; i <= 5; i++) {
      const answer = await send(bare, 'GET', '/portal/v1/me', { headers: from(newAddress()) });
      assert.equal(remaining(answer), 6000 - i);
    }
  });

  test('a route that counts by address charges it once, also for a credential not seen before', async () => {
    const address = newAddress();
    const { apiKey } = await newFree();
    const inbox = async () => remaining(await get('/sandbox/v1/inbox', from(address, { apikey: apiKey })));
    assert.deepEqual([await inbox(), await inbox()], [addressLimit - 1, addressLimit - 2]);
    assert.equal(remaining(await get(sms, { apikey: apiKey })), 59);
  });
});

describe('a key that was replaced', () => {
  test('lives for exactly its overlap, with a warm memory', async () => {
    const { apiKey, developer, id } = await newFree();
    const use = async () => (await get(sms, { apikey: apiKey })).status;
    assert.equal(await use(), 200);
    await developer.send('POST', `/portal/v1/applications/${id}/keys`, { overlap_seconds: 30 });
    assert.equal(await use(), 200);
    app.clock.advance(29_999);
    assert.equal(await use(), 200);
    app.clock.advance(1);
    assert.equal(await use(), 401);
  });
});

describe('credentials of the wrong kind, sent twice, or of both kinds', () => {
  const message = async (path: string, headers: Record<string, string>) => {
    const answer = await get(path, headers);
    assert.equal(answer.status, 401);
    return String(answer.body.message);
  };

  test('an API key where a token is needed: the message says so, and never repeats the secret', async () => {
    for (const headers of [{ apikey: acme.apiKey }, bearer(acme.apiKey)]) {
      const text = await message(verify, headers as Record<string, string>);
      assert.match(text, /needs an access token.*an API key does not open it/);
      assert.ok(!text.includes(acme.apiKey));
    }
  });

  test('the error for a token where an API key is needed says so, without the token', async () => {
    for (const headers of [bearer(verifyToken), { apikey: verifyToken }, { apikey: `Bearer ${verifyToken}` }]) {
      const text = await message(sms, headers as Record<string, string>);
      assert.match(text, /needs an API key.*a token does not open it/);
      assert.ok(!text.includes(verifyToken));
    }
  });

  test('a key with quotes or spaces around it gets an error that says so', async () => {
    for (const apikey of [`"${acme.apiKey}"`, `'${acme.apiKey}'`, `Bearer ${acme.apiKey}`]) {
      assert.match(await message(sms, { apikey }), /the key alone/);
    }
  });

  test('if the right kind is there, the other kind is ignored', async () => {
    assert.equal((await get(sms, { apikey: acme.apiKey, ...bearer(verifyToken) })).status, 200);
    assert.equal((await get(sms, { apikey: acme.apiKey, Authorization: 'nonsense' })).status, 200);
    assert.equal((await get(verify, { apikey: acme.apiKey, ...bearer(verifyToken) })).status, 200);
    assert.equal((await get(verify, { apikey: 'nonsense', ...bearer(verifyToken) })).status, 200);
    // And it does not help either.
    assert.equal((await get(sms, { apikey: 'wrong', ...bearer(verifyToken) })).status, 401);
    assert.equal((await get(verify, { apikey: acme.apiKey, ...bearer('a.b.c') })).status, 401);
  });

  test('a key sent twice is none, be it the same one', async () => {
    for (const second of [acme.apiKey, 'other', '']) {
      const [answer] = await sayRaw(
        app.port,
        `GET ${sms} HTTP/1.1\r\nHost: x\r\nConnection: close\r\napikey: ${acme.apiKey}\r\nApiKey: ${second}\r\n\r\n`,
      );
      assert.equal(answer?.status, 401);
      assert.match(answer?.body ?? '', /sent twice/);
    }
  });
});
