// The credentials of Twilio's shape: what the portal makes, what opens the routes, and when it no longer does.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { minuteMs } from '../../src/platform/clock.ts';
import { rotateKeyRing } from '../../src/platform/crypto/open-key-ring.ts';
import { idOf } from '../../src/twilio/sid.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { register, send, signUp } from '../support/developer.ts';
import { exchange } from '../support/http.ts';
import { testSecret } from '../support/key-ring.ts';
import { createOperator } from '../support/operator.ts';
import { dumpAll } from '../support/texts.ts';
import {
  type AccountBody,
  assertTwilioError,
  basicOf,
  createTwilioCaller,
  type NewAccountBody,
  type TwilioCaller,
} from './caller.ts';

let app: TestApp;
/** Another node on the same database. */
let other: TestApp;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  other = await createTestApp({ delivery: 'held', db: app.db, clock: app.clock });
});
after(async () => {
  await other.close();
  await app.close();
});

const list = (caller: TwilioCaller) => `/twilio${caller.messages}.json`;
async function statusesOf(caller: TwilioCaller, token = caller.account.auth_token): Promise<number[]> {
  const headers = { authorization: basicOf(caller.account.account_sid, token) };
  const answers = await Promise.all([app, other].map((node) => send(node, 'GET', list(caller), { headers })));
  return answers.map(({ status }) => status);
}
async function rotate(caller: TwilioCaller, overlap_seconds: number): Promise<string> {
  const path = `${caller.path}/tokens`;
  const { status, body } = await caller.developer.send<NewAccountBody>('POST', path, { overlap_seconds });
  assert.equal(status, 201, JSON.stringify(body));
  return body.auth_token;
}

describe('in the portal', () => {
  test('201: the sids are the id of the application, and the token is shown once and stored nowhere', async () => {
    const { account, id, developer, path } = await createTwilioCaller(app);
    assert.match(account.auth_token, /^[0-9a-f]{32}$/);
    assert.deepEqual(
      [idOf('AC', account.account_sid), idOf('VA', account.service_sid), idOf('MG', account.messaging_service_sid)],
      [id, id, id],
    );
    assert.equal(account.base_url, `${app.config.publicUrl}/twilio`);
    const read = await developer.send<AccountBody>('GET', path);
    const { auth_token, ...shown } = account;
    assert.deepEqual([read.status, read.body], [200, shown]);
    assert.ok(!(await dumpAll(app)).includes(auth_token), 'no row of any table has the token');
    assert.equal((await developer.send('POST', path)).body.code, 'ALREADY_EXISTS');
  });

  test('404: without one, of another account, of no application', async () => {
    const { developer, path } = await createTwilioCaller(app);
    const stranger = await signUp(app);
    for (const [method, target] of [
      ['GET', path],
      ['POST', path],
      ['DELETE', path],
    ] as const)
      assert.equal((await stranger.send(method, target)).status, 404, method);
    assert.equal((await stranger.send('POST', `${path}/tokens`, { overlap_seconds: 0 })).status, 404);
    assert.equal((await developer.send('DELETE', path)).status, 204);
    assert.equal((await developer.send('GET', path)).status, 404);
    assert.equal((await developer.send('DELETE', path)).status, 404);
    assert.equal((await developer.send('POST', `${path}/tokens`, { overlap_seconds: 0 })).status, 404);
  });

  test('409: a sixth token while five are in force; without an overlap they end', async () => {
    const caller = await createTwilioCaller(app);
    for (let made = 0; made < 4; made++) await rotate(caller, 600);
    const path = `${caller.path}/tokens`;
    assert.equal((await caller.developer.send('POST', path, { overlap_seconds: 600 })).body.code, 'INCOMPATIBLE_STATE');
    await rotate(caller, 0);
    assert.equal((await caller.developer.send<AccountBody>('GET', caller.path)).body.tokens.length, 1);
    assert.equal((await caller.developer.send('POST', path, { overlap_seconds: -1 })).status, 400);
    assert.equal((await caller.developer.send('POST', path, { overlap_seconds: '0' })).status, 400);
  });
});

describe('a token', () => {
  test('opens the routes on every node, also with SK in place of AC', async () => {
    const caller = await createTwilioCaller(app);
    assert.deepEqual(await statusesOf(caller), [200, 200]);
    const { account_sid, auth_token } = caller.account;
    const key = basicOf(account_sid.replace(/^AC/, 'SK'), auth_token);
    assert.equal((await caller.get(`${caller.messages}.json`, key)).status, 200);
    assert.equal((await caller.get(`${caller.messages}.json`, key.replace('Basic', 'basic  '))).status, 200);
  });

  test('after a rotation the older one is valid until the overlap ends', async () => {
    const caller = await createTwilioCaller(app);
    assert.deepEqual(await statusesOf(caller), [200, 200]);
    const newer = await rotate(caller, 60);
    assert.deepEqual(await statusesOf(caller), [200, 200]);
    assert.deepEqual(await statusesOf(caller, newer), [200, 200]);
    const { body } = await caller.developer.send<AccountBody>('GET', caller.path);
    assert.deepEqual(
      body.tokens.map(({ ends_at }) => ends_at !== null),
      [false, true],
    );
    // A longer overlap later does not prolong it.
    const newest = await rotate(caller, 600);
    app.clock.advance(59_999);
    assert.deepEqual(await statusesOf(caller), [200, 200]);
    app.clock.advance(1);
    assert.deepEqual(await statusesOf(caller), [401, 401]);
    assert.deepEqual(await statusesOf(caller, newer), [200, 200]);
    assert.deepEqual(await statusesOf(caller, newest), [200, 200]);
  });

  test('without an overlap, and when it is deleted, no node admits it once that is answered', async () => {
    const caller = await createTwilioCaller(app);
    assert.deepEqual(await statusesOf(caller), [200, 200]);
    const newer = await rotate(caller, 0);
    assert.deepEqual(await statusesOf(caller), [401, 401]);
    assert.deepEqual(await statusesOf(caller, newer), [200, 200]);
    assert.equal((await caller.developer.send('DELETE', caller.path)).status, 204);
    assert.deepEqual(await statusesOf(caller, newer), [401, 401]);
    const again = await caller.developer.send<NewAccountBody>('POST', caller.path);
    assert.equal(again.body.account_sid, caller.account.account_sid);
    assert.deepEqual(await statusesOf(caller, newer), [401, 401]);
    assert.deepEqual(await statusesOf(caller, again.body.auth_token), [200, 200]);
    assert.equal((await caller.developer.send('DELETE', `/portal/v1/applications/${caller.id}`)).status, 204);
    assert.deepEqual(await statusesOf(caller, again.body.auth_token), [401, 401]);
  });

  test('of a disabled account it is a 401, and it works again when the account is enabled', async () => {
    const caller = await createTwilioCaller(app);
    const operator = await createOperator(app);
    const { body } = await caller.developer.send<{ id: string }>('GET', '/portal/v1/me');
    const accounts = `/portal/v1/operator/accounts/${body.id}`;
    assert.equal((await operator.send('POST', `${accounts}/disable`, { reason: 'unpaid' })).status, 200);
    assert.deepEqual(await statusesOf(caller), [401, 401]);
    assert.equal((await operator.send('POST', `${accounts}/enable`)).status, 200);
    assert.deepEqual(await statusesOf(caller), [200, 200]);
  });

  test('stays valid when the key ring rotates, and new ones derive from the new key', async () => {
    const own = await createTestApp({ delivery: 'held' });
    try {
      const before = await createTwilioCaller(own);
      await rotateKeyRing({ database: own.db.database, clock: own.clock, secret: testSecret });
      await own.keys.reread();
      own.clock.advance(2 * minuteMs);
      const after = await createTwilioCaller(own);
      const { rows } = await own.db.database.query<{ versions: number }>(
        'select count(distinct ring_version) as versions from twilio_token',
      );
      assert.equal(rows[0]?.versions, 2);
      for (const caller of [before, after]) assert.equal((await caller.get(`${caller.messages}.json`)).status, 200);
    } finally {
      await own.close();
    }
  });
});

describe('401, 20003', () => {
  const wrong = { status: 401, code: 20003 };

  test('credentials that are missing, malformed, unknown, or of another application', async () => {
    const caller = await createTwilioCaller(app);
    const stranger = await createTwilioCaller(app);
    const { account_sid: sid, auth_token: token } = caller.account;
    const changed = token.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    const values = [
      undefined,
      'Basic',
      'Basic ',
      'Basic @@@',
      `Basic ${'A'.repeat(4000)}`,
      `Bearer ${token}`,
      basicOf(sid, ''),
      basicOf('', token),
      basicOf(sid, changed),
      basicOf(sid, `${token}0`),
      basicOf(sid, token.toUpperCase().replace(/[0-9]/g, 'A')),
      basicOf(stranger.account.account_sid, token),
      basicOf(sid.replace(/^AC/, 'VA'), token),
      basicOf(`AC${'0'.repeat(32)}`, token),
    ];
    for (const value of values) {
      const answer = await send(app, 'GET', list(caller), {
        headers: value === undefined ? { apikey: caller.apiKey } : { authorization: value },
      });
      assertTwilioError(answer, wrong);
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Basic realm="[^"]+"$/);
      assert.ok(!JSON.stringify(answer.body).includes(token));
    }
    // Native routes take no account sid, and these take no key.
    const native = await send(app, 'GET', '/sms/v1/messages', { headers: { authorization: caller.basic } });
    assert.equal(native.status, 401);
  });

  test('made-up tokens cost their address nothing, at any rate', async () => {
    const narrow = await createTestApp({
      delivery: 'held',
      env: { HELIOGRAPH_ADDRESS_PER_MINUTE: '20', HELIOGRAPH_ADDRESS_BURST: '20' },
    });
    try {
      const caller = await createTwilioCaller(narrow);
      const forged = Array.from({ length: 50 }, (_, n) => String(n).padStart(32, '0'));
      for (const token of forged) {
        const answer = await caller.get(`${caller.messages}.json`, basicOf(caller.account.account_sid, token));
        assert.equal(answer.status, 401);
      }
      assert.equal((await caller.get(`${caller.messages}.json`)).status, 200);
    } finally {
      await narrow.close();
    }
  });
});

test('403, 20403: the application is not registered for that API, until it is', async () => {
  const caller = await createTwilioCaller(app, { apis: ['sms'] });
  const read = () => caller.get(`${caller.verify}/Verifications/+447700900123`);
  assertTwilioError(await read(), { status: 403, code: 20403 });
  assertTwilioError(await read(), { status: 403, code: 20403 });
  assert.equal((await caller.get(`${caller.messages}.json`)).status, 200);
  assert.equal((await register(caller.developer, caller.id, 'verify', 'free')).status, 201);
  assertTwilioError(await read(), { status: 404, code: 20404 });
});

test('404, 405, 413 and 415 are in the same shape, after the credentials were right', async () => {
  const caller = await createTwilioCaller(app);
  const headers = { authorization: caller.basic };
  assertTwilioError(await send(app, 'GET', '/twilio/2010-04-01/Calls.json', { headers }), { status: 404, code: 20404 });
  assertTwilioError(await send(app, 'GET', '/twilio/nowhere', { headers: {} }), { status: 401, code: 20003 });
  for (const target of [
    `${caller.messages}/SM${'0'.repeat(32)}.json`,
    `${caller.verify}/Verifications/VE${'0'.repeat(32)}`,
  ]) {
    const answer = await send(app, 'DELETE', `/twilio${target}`, { headers });
    assertTwilioError(answer, { status: 405, code: 20004 });
    assert.match(answer.headers.get('allow') ?? '', /GET.*POST/);
    assertTwilioError(await send(app, 'DELETE', `/twilio${target}`), { status: 401, code: 20003 });
  }
  const post = async (body: string, type: string) => {
    const answer = await exchange(`${app.url}${list(caller)}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': type },
      body,
    });
    return { ...answer, body: JSON.parse(answer.body) };
  };
  assertTwilioError(await post('{}', 'application/json'), { status: 415, code: 20415 });
  const form = 'application/x-www-form-urlencoded';
  assertTwilioError(await post(`Body=${'x'.repeat(70_000)}`, form), { status: 413, code: 20413 });
  assertTwilioError(await post('To=1&'.repeat(60), form), { status: 400, code: 60200 });
});

describe('limits', () => {
  test('a call counts on the registration of its API, together with the native calls', async () => {
    const caller = await createTwilioCaller(app, { plan: 'pro' });
    const remaining = ({ headers }: { headers: Headers }) => Number(headers.get('ratelimit-remaining'));
    assert.equal(remaining(await send(app, 'GET', '/sms/v1/messages', { headers: caller.key })), 599);
    assert.equal(remaining(await caller.get(`${caller.messages}.json`)), 598);
    assert.equal(remaining(await caller.get(`${caller.verify}/Verifications/+447700900123`)), 599);
    // A 404 of an identified caller counts too, and so does another account's sid.
    assert.equal(remaining(await caller.get(`/2010-04-01/Accounts/AC${'0'.repeat(32)}/Messages.json`)), 597);
  });

  test('429 has its one field, and the four headers', async () => {
    const caller = await createTwilioCaller(app, { plan: 'free' });
    const headers = { authorization: caller.basic };
    for (let sent = 0; sent < 60; sent++)
      assert.equal((await send(app, 'GET', list(caller), { headers })).status, 200, `${sent}`);
    const { status, body, headers: got } = await send(app, 'GET', list(caller), { headers });
    assert.deepEqual([status, Object.keys(body)], [429, ['message']]);
    assert.deepEqual([got.get('ratelimit-limit'), got.get('ratelimit-remaining')], ['60', '0']);
    assert.ok(Number(got.get('retry-after')) >= 1);
  });
});
