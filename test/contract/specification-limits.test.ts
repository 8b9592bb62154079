// run: on both lanes, on web processes
// The specification's Limits, and what Errors says of a 429, row by row and in its words. No test waits: it turns the clock.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  bearer,
  countStatuses,
  createEchoRoutes,
  createRegistered,
  getToken,
  openKeptConnection,
  sendMany,
  type TestApplication,
} from '../support/applications.ts';
import { register, send } from '../support/developer.ts';

const { routes, calls } = createEchoRoutes();
const path = '/sms/v1/echo';
const roomy = { HELIOGRAPH_ADDRESS_PER_MINUTE: '1000000', HELIOGRAPH_ADDRESS_BURST: '1000000' };

let app: TestApp;
before(async () => {
  app = await createTestApp({ extraRoutes: routes, env: roomy });
});
after(() => app.close());

const use = ({ apiKey }: TestApplication) => send(app, 'GET', path, { headers: { apikey: apiKey } });
const useMany = ({ apiKey }: TestApplication, count: number) =>
  sendMany(app, count, { path, headers: { apikey: apiKey } });

/** As many requests as a plan allows in a minute, in bursts that it allows in a second. */
async function spend(application: TestApplication, perMinute: number, burst: number): Promise<void> {
  for (let sent = 0; sent < perMinute; sent += burst) {
    if (sent > 0) app.clock.advance(1000);
    assert.deepEqual(countStatuses(await useMany(application, burst)), { 200: burst });
  }
}

describe('Limits', () => {
  test('Per-minute quota: Counted per registered application over a sliding window', async () => {
    const one = await createRegistered(app, ['sms', 'verify'], 'free');
    const other = await createRegistered(app, ['sms'], 'free');
    await spend(one, 60, 20);
    app.clock.advance(1000);
    assert.equal((await use(one)).status, 429);
    assert.equal((await use(other)).status, 200);
    const token = await getToken(app, one.client, 'verify:manage');
    assert.equal((await send(app, 'GET', '/verify/v1/echo', { headers: bearer(token) })).status, 200);
    // It slides: what was sent in the first second is free a minute after it, and no more than that.
    app.clock.advance(57_000);
    assert.deepEqual(countStatuses(await useMany(one, 21)), { 200: 20, 429: 1 });
  });

  test('Burst protection: A one-second window that smooths bursts', async () => {
    const application = await createRegistered(app, ['sms'], 'pro');
    assert.deepEqual(countStatuses(await useMany(application, 250)), { 200: 200, 429: 50 });
    const refused = await use(application);
    assert.match(String(refused.body.message), /^Burst protection/);
    assert.equal(refused.headers.get('retry-after'), '1');
    app.clock.advance(1000);
    assert.equal((await use(application)).status, 200);
  });

  test('both controls must be satisfied and either can return 429', async () => {
    const application = await createRegistered(app, ['sms'], 'pro');
    await useMany(application, 200);
    assert.match(String((await use(application)).body.message), /^Burst protection/);
    for (let second = 0; second < 2; second++) {
      app.clock.advance(1000);
      assert.deepEqual(countStatuses(await useMany(application, 200)), { 200: 200 });
    }
    app.clock.advance(1000);
    const refused = await use(application);
    assert.equal(refused.status, 429);
    assert.match(String(refused.body.message), /^Per-minute quota/);
    assert.equal(refused.headers.get('retry-after'), '57');
  });

  for (const [plan, perMinute, burst] of [
    ['Free', 60, 60],
    ['Pro', 600, 200],
    ['Enterprise', 6000, 2000],
  ] as const) {
    test(`${plan}: ${perMinute} requests per minute`, async () => {
      const application = await createRegistered(app, ['sms'], plan.toLowerCase());
      await spend(application, perMinute, burst);
      app.clock.advance(1000);
      const refused = await use(application);
      assert.equal(refused.status, 429);
      assert.equal(refused.headers.get('ratelimit-limit'), String(perMinute));
      assert.match(String(refused.body.message), /^Per-minute quota/);
    });
  }

  test('Free: the number it promises can be seen in a plain loop, and the minute refuses first', async () => {
    const application = await createRegistered(app, ['sms'], 'free');
    for (let sent = 0; sent < 60; sent++) assert.equal((await use(application)).status, 200);
    const refused = await use(application);
    assert.equal(refused.status, 429);
    assert.match(String(refused.body.message), /^Per-minute quota: at most 60 requests/);
    assert.equal(refused.headers.get('retry-after'), '60');
  });

  test('a higher plan is obtained by registering against it, with no code change and no new credential', async () => {
    const application = await createRegistered(app, ['sms'], 'free');
    await spend(application, 60, 20);
    app.clock.advance(1000);
    assert.equal((await use(application)).status, 429);
    const raised = await register(application.developer, application.id, 'sms', 'pro');
    assert.deepEqual([raised.status, raised.body.plan, raised.body.credential], [200, 'pro', null]);
    const next = await use(application);
    assert.equal(next.status, 200);
    assert.equal(next.headers.get('ratelimit-limit'), '600');
    assert.equal(next.headers.get('ratelimit-remaining'), '539');
  });

  test('Usage is metered against the plan', async () => {
    const application = await createRegistered(app, ['sms'], 'free');
    const { body } = await application.developer.send('POST', `/portal/v1/applications/${application.id}/keys`, {
      overlap_seconds: 600,
    });
    const second = { ...application, apiKey: String(body.api_key) };
    for (let left = 59; left > 50; left--) {
      const { headers } = await use(left % 2 === 0 ? application : second);
      assert.equal(headers.get('ratelimit-remaining'), String(left));
    }
  });
});

describe('Response headers on every response', () => {
  test('RateLimit-Limit: Requests permitted in the window; RateLimit-Remaining: Requests still available', async () => {
    const application = await createRegistered(app, ['sms'], 'free');
    const { headers } = await use(application);
    assert.equal(headers.get('ratelimit-limit'), '60');
    assert.equal(headers.get('ratelimit-remaining'), '59');
  });

  test('RateLimit-Reset: Seconds until the quota is restored', async () => {
    const application = await createRegistered(app, ['sms'], 'free');
    await use(application);
    app.clock.advance(30_000);
    const { headers } = await use(application);
    assert.equal(headers.get('ratelimit-remaining'), '58');
    const reset = Number(headers.get('ratelimit-reset'));
    app.clock.advance(reset * 1000);
    assert.equal((await use(application)).headers.get('ratelimit-remaining'), '59');
  });

  test('X-Correlation-ID: Unique identifier of the request', async () => {
    const application = await createRegistered(app, ['sms'], 'pro');
    const answers = await useMany(application, 150);
    assert.equal(new Set(answers.map(({ headers }) => headers['x-correlation-id'])).size, 150);
    const mine = await send(app, 'GET', path, { headers: { apikey: application.apiKey, 'X-Correlation-ID': 'mine' } });
    assert.notEqual(mine.headers.get('x-correlation-id'), 'mine');
  });
});

describe('Errors: 429', () => {
  test('A 429 carries RateLimit-Remaining: 0, a Retry-After header (integer seconds), and a JSON body with a single string field message', async () => {
    const application = await createRegistered(app, ['sms'], 'free');
    await useMany(application, 60);
    const refused = await use(application);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('ratelimit-remaining'), '0');
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.match(refused.headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(Object.keys(refused.body), ['message']);
    assert.equal(typeof refused.body.message, 'string');
  });

  test('The client must wait Retry-After seconds before retrying', async () => {
    const application = await createRegistered(app, ['sms'], 'free');
    await useMany(application, 20);
    app.clock.advance(10_400);
    await useMany(application, 20);
    app.clock.advance(10_350);
    await useMany(application, 20);
    app.clock.advance(1_001);
    const refused = await use(application);
    const seconds = Number(refused.headers.get('retry-after'));
    assert.equal(seconds, 39);
    app.clock.advance(seconds * 1000);
    assert.equal((await use(application)).status, 200);
  });

  test('retrying sooner keeps it rejected longer', async () => {
    const application = await createRegistered(app, ['sms'], 'free');
    await spend(application, 60, 20);
    app.clock.advance(1000);
    const first = Number((await use(application)).headers.get('retry-after'));
    app.clock.advance((first - 10) * 1000);
    const early = await use(application);
    assert.equal(early.status, 429);
    assert.equal(early.headers.get('retry-after'), '11');
    app.clock.advance(10_000);
    const stillEarly = await use(application);
    assert.equal(stillEarly.status, 429);
    app.clock.advance(Number(stillEarly.headers.get('retry-after')) * 1000);
    assert.equal((await use(application)).status, 200);
  });

  test('the very next retry keeps it rejected longer; requests that were on their way do not', async () => {
    const application = await createRegistered(app, ['sms'], 'free');
    const headers = { apikey: application.apiKey };
    const connections = Array.from({ length: 4 }, () => openKeptConnection(app));
    for (const connection of connections) assert.equal(await connection.get(path, headers), 200);
    await useMany(application, 56);
    app.clock.advance(1000);
    const waitFor = async () => (await use(application)).headers.get('retry-after');
    const refusals = await Promise.all(connections.map((connection) => connection.get(path, headers)));
    assert.deepEqual(refusals, [429, 429, 429, 429]);
    assert.equal(await waitFor(), '59', 'none of those four could know');
    app.clock.advance(1);
    // Any answer informs its connection; the clock stands still, so that one comes after the opening.
    assert.equal(await connections[0]?.get('/healthz', {}), 200);
    assert.equal(await connections[0]?.get(path, headers), 429);
    app.clock.advance(9);
    assert.equal(await waitFor(), '60', 'a retry 1 ms after the refusal');
    for (const connection of connections) connection.close();
  });

  test('Limits are checked before the request is processed, so a rejected request has no other effect', async () => {
    const application = await createRegistered(app, ['sms'], 'free');
    await useMany(application, 60);
    const before = calls.length;
    for (const body of [{ text: 'hello' }, {}, 'not an object']) {
      const answer = await send(app, 'POST', path, { body, headers: { apikey: application.apiKey } });
      assert.equal(answer.status, 429);
    }
    assert.equal(calls.length, before);
  });
});
