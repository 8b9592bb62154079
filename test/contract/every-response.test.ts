// run: on web processes
// "Every response of every route carries four headers" (contract, section 2): each route of the product is asked in every
// way that gets another status out of it, and every response is checked. New routes are found in the table of routes.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parseRateLimit } from 'ratelimit-header-parser';
import { bodyLimit } from '../../src/http/request/body.ts';
import type { Auth, Route } from '../../src/http/route.ts';
import { sidOf } from '../../src/twilio/sid.ts';
import { sayRaw } from '../socket/raw-connection.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  bearer,
  createRegistered,
  getToken,
  sendForm,
  sendMany,
  type TestApplication,
} from '../support/applications.ts';
import { createTestDatabase } from '../support/database.ts';
import { asDeveloper, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { createFaultProxy } from '../support/fault-proxy.ts';
import { exchange } from '../support/http.ts';
import { createTwilioAccount } from '../twilio/caller.ts';

const addressLimit = 300;
const env = { HELIOGRAPH_ADDRESS_PER_MINUTE: String(addressLimit), HELIOGRAPH_ADDRESS_BURST: String(addressLimit) };

let app: TestApp;
let acme: TestApplication;
let verifyToken: string;
let messagingToken: string;
let operator: TestDeveloper;
let sid: Record<string, string>;
before(async () => {
  app = await createTestApp({ env });
  acme = await createRegistered(app, ['sms', 'verify', 'messaging'], 'enterprise');
  verifyToken = await getToken(app, acme.client, 'verify:manage');
  messagingToken = await getToken(app, acme.client, 'messaging:send');
  operator = await makeOperator(app);
  sid = { Authorization: (await createTwilioAccount(acme)).basic };
});
after(() => app.close());

async function makeOperator(on: TestApp): Promise<TestDeveloper> {
  const token = await on.app.people.createLink('operator@example.com', { makesOperator: true });
  const password = 'another sentence, known to no one';
  const signedIn = await send(on, 'POST', '/portal/v1/password-resets', { body: { token, password } });
  return asDeveloper(on, 'operator@example.com', password, signedIn);
}

const seenIds = new Set<string>();

/** The four headers, and that they agree with one another and with the status. */
function assertHeaders(status: number, headers: { get(name: string): string | null }, what: string): void {
  const number = (name: string) => {
    assert.match(headers.get(name) ?? '(none)', /^\d+$/, `${name} of ${what}`);
    return Number(headers.get(name));
  };
  const id = headers.get('x-correlation-id') ?? '';
  assert.match(id, /^req_[0-9a-z]{26}$/, what);
  assert.ok(!seenIds.has(id), what);
  seenIds.add(id);
  const [limit, remaining, reset] = [
    number('ratelimit-limit'),
    number('ratelimit-remaining'),
    number('ratelimit-reset'),
  ];
  assert.ok(remaining <= limit && reset <= 120, what);
  const [, quota] = /^"minute";q=(\d+);w=60, "burst";q=\d+;w=1$/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
  assert.equal(quota, String(limit), what);
  // Parsers in use misread this header of the draft, and then miss those above.
  assert.equal(headers.get('ratelimit'), null, what);
  const read = parseRateLimit(new Headers(sentLimits.map((name) => [name, headers.get(name) ?? ''])));
  assert.deepEqual([read?.limit, read?.remaining], [limit, remaining], what);
  if (status !== 429) return;
  assert.equal(remaining, 0, what);
  assert.ok(number('retry-after') >= 1 && reset >= number('retry-after'), what);
}

const sentLimits = ['ratelimit-limit', 'ratelimit-policy', 'ratelimit-remaining', 'ratelimit-reset'];

/** What every route finds some of what it needs in; what it does not know it ignores. */
const anyBody = {
  name: 'ACME',
  email: 'nobody@example.com',
  password: 'a sentence that only I would think of',
  api: 'sms',
  plan: 'free',
  to: '+15005550100',
  from: 'ACME',
  channel: 'sms',
  message: 'hello',
  messages: [{ to: '+15005550100', from: 'ACME', message: 'hello' }],
  overlap_seconds: 60,
  token: 'x',
  code: '123456',
};

function credentialFor(auth: Auth, developer: TestDeveloper): Record<string, string> {
  switch (auth.kind) {
    case 'apikey':
      return { apikey: acme.apiKey };
    case 'bearer':
      return bearer(auth.scope === 'messaging:send' ? messagingToken : verifyToken);
    case 'sid':
      return sid;
    case 'person':
    case 'developer':
    case 'try':
      return { Cookie: developer.cookie };
    case 'operator':
      return { Cookie: operator.cookie };
    default:
      return {};
  }
}

function wrongTokenFor(auth: Auth): string {
  return auth.kind === 'bearer' && auth.scope === 'verify:manage' ? messagingToken : verifyToken;
}

const takesBody = (method: string) => ['POST', 'PUT', 'PATCH'].includes(method);
const bodiesFor = ({ longestBody = bodyLimit }: Route): Pick<Ways, 'type' | 'body'>[] => [
  { body: 'x'.repeat(longestBody + 1) },
  { body: 'not what it should be', type: 'text/plain' },
  { body: '{"a":' },
  { body: '{}' },
];

interface Ways {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  type?: string;
  body?: string;
}

/** Sends a request, checks the headers, and returns the status. */
async function ask(on: { url: string }, route: Route, ways: Ways = {}): Promise<number> {
  const { method = route.method, path = route.path, headers = {} } = ways;
  const form = route.consumes === 'form';
  const type = ways.type ?? (form ? 'application/x-www-form-urlencoded' : 'application/json');
  const body =
    ways.body ??
    (form
      ? new URLSearchParams({
          grant_type: 'client_credentials',
          scope: 'openid verify:manage',
          ...acme.client,
          token: 'x',
        }).toString()
      : JSON.stringify(anyBody));
  const withBody = takesBody(method);
  const answer = await exchange(on.url + path, {
    method,
    headers: { ...(withBody && { 'Content-Type': type }), ...headers },
    ...(withBody && { body }),
  });
  assertHeaders(answer.status, answer.headers, `${method} ${path} ${answer.status}`);
  if (answer.status === 429) assert.deepEqual(Object.keys(JSON.parse(answer.body)), ['message']);
  return answer.status;
}

/** The route's path with ids that are there, as far as they are known. */
function pathTo(route: Route, { id, keyId }: TestApplication): string {
  return route.path
    .replace(/\{(?:application_)?id\}/, id)
    .replace('{key_id}', keyId)
    .replace(/\{(?:service|account)_sid\}/, (name) => sidOf(name === '{service_sid}' ? 'VA' : 'AC', id))
    .replace('{api}', 'sms');
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const authOf = ({ auth }: Route) => [auth].flat()[0] ?? assert.fail();
const isLimited = (route: Route) => !['none', 'metrics'].includes(authOf(route).kind);

describe('every route', () => {
  const statuses = new Map<string, Set<number>>();
  const everSeen = () => new Set([...statuses.values()].flatMap((each) => [...each]));

  test('in every way that gets another status out of it', async () => {
    const shared = await createRegistered(app, ['sms', 'verify', 'messaging'], 'free');
    for (const [place, route] of app.app.routes.entries()) {
      // What a route deletes must not be missed by the next.
      const own = route.method === 'DELETE' ? await createRegistered(app, ['sms', 'verify'], 'free') : shared;
      const credential = credentialFor(authOf(route), own.developer);
      const path = pathTo(route, own);
      const nowhere = route.path.replaceAll(/\{\w+\}/g, 'nothing');
      const ofAnyRoute: Ways[] = [
        { path: nowhere, headers: credential },
        { path, headers: { apikey: 'wrong', Authorization: 'Bearer wrong', Cookie: 'heliograph_session=wrong' } },
        { path, headers: bearer(wrongTokenFor(authOf(route))) },
        { path, headers: { ...credential, 'Sec-Fetch-Site': 'cross-site' } },
        { path: `${path}/%zz`, headers: credential },
        { path: `${path}?limit=nonsense`, headers: credential },
      ];
      const nextTwo = [0, 1].map((next) => ofAnyRoute[(2 * place + next) % ofAnyRoute.length] ?? assert.fail());
      const ways: Ways[] = [
        // In short a route that reads JSON is asked in the next two of these; of forms they are the only ones that get a 400.
        ...(route.consumes === undefined ? inShort(nextTwo, ofAnyRoute) : ofAnyRoute),
        { path, headers: {} },
        { path, headers: credential, method: 'PUT' },
        { path, headers: credential, method: 'OPTIONS' },
        ...(takesBody(route.method) ? bodiesFor(route).map((each) => ({ path, headers: credential, ...each })) : []),
        { path, headers: credential },
        { path, headers: credential, method: route.method === 'GET' ? 'HEAD' : route.method },
      ];
      const seen = new Set<number>();
      for (const way of ways) seen.add(await ask(app, route, way));
      statuses.set(nameOf(route), seen);
      // The routes of a minute stay below the limit of the address, which the next test has to reach.
      app.clock.advance(5000);
    }
    assert.deepEqual(
      [...everSeen()].filter((status) => status >= 500),
      [],
    );
  });

  test('429, on every route that is limited; the others are never refused', async () => {
    app.clock.advance(120_000);
    const own = await createRegistered(app, ['sms', 'verify', 'messaging'], 'free');
    const [verify, messaging] = [
      await getToken(app, own.client, 'verify:manage'),
      await getToken(app, own.client, 'messaging:send'),
    ];
    for (const [path, headers] of [
      ['/sms/v1/nothing', { apikey: own.apiKey }],
      ['/verify/v1/nothing', bearer(verify)],
      ['/messaging/v1/nothing', bearer(messaging)],
    ] as const) {
      await sendMany(app, 61, { path, headers });
    }
    const ownSid = { Authorization: (await createTwilioAccount(own)).basic };
    await sendMany(app, addressLimit, { path: '/portal/v1/me', headers: {} });
    const tokenPath = '/realms/heliograph/protocol/openid-connect/token';
    await sendMany(app, addressLimit, { method: 'POST', path: tokenPath, headers: {} });
    for (const route of app.app.routes) {
      const auth = authOf(route);
      const headers = {
        ...(auth.kind === 'apikey' && { apikey: own.apiKey }),
        ...(auth.kind === 'bearer' && bearer(auth.scope === 'messaging:send' ? messaging : verify)),
        ...(auth.kind === 'sid' && ownSid),
      };
      const status = await ask(app, route, { path: pathTo(route, own), headers });
      assert.equal(status === 429, isLimited(route), nameOf(route));
      statuses.get(nameOf(route))?.add(status);
    }
    app.clock.advance(120_000);
  });

  test('what a route can answer was provoked: 405 on all, 401 where a credential is needed, 400, 413 and 415 where a body is read', () => {
    for (const route of app.app.routes) {
      const seen = statuses.get(nameOf(route)) ?? new Set();
      const wanted = [405];
      if (['apikey', 'bearer', 'sid', 'person', 'developer'].includes(authOf(route).kind)) wanted.push(401);
      if (takesBody(route.method)) wanted.push(413, route.consumes === undefined ? 415 : 400);
      for (const status of wanted) assert.ok(seen.has(status), `${status} on ${nameOf(route)}: ${[...seen]}`);
    }
    for (const status of [200, 201, 204, 400, 401, 403, 404, 405, 413, 415, 429]) {
      assert.ok(everSeen().has(status), `${status} was provoked`);
    }
  });
});

test('503, on every route that needs the database while it is away', async (t) => {
  const db = await createTestDatabase();
  const proxy = await createFaultProxy(db.connection);
  const away = await createTestApp({
    db: {
      ...db,
      database: db.another({ connection: proxy.connection }),
      another: (options) => db.another({ connection: proxy.connection, ...options }),
    },
    delivery: 'held',
  });
  t.after(async () => {
    proxy.set({ kind: 'pass' });
    await away.close();
    await db.drop();
    await proxy.close();
  });
  const own = await createRegistered(away, ['sms', 'verify', 'messaging'], 'enterprise');
  const token = await getToken(away, own.client, 'verify:manage');
  const { basic } = await createTwilioAccount(own);
  proxy.set({ kind: 'reset' });
  const unreachable: Partial<Record<Auth['kind'], Record<string, string>>> = {
    apikey: { apikey: own.apiKey },
    bearer: bearer(token),
    sid: { Authorization: basic },
    developer: { Cookie: own.developer.cookie },
    operator: { Cookie: own.developer.cookie },
  };
  for (const route of away.app.routes) {
    const headers = unreachable[authOf(route).kind];
    const status = await ask(away, route, { path: pathTo(route, own), headers: headers ?? {} });
    if (headers !== undefined) assert.equal(status, 503, nameOf(route));
  }
});

test('a throttled sign-in is a 429 like any other', async () => {
  const { email } = await signUp(app);
  for (let i = 0; i < 10; i++) {
    const body = { email, password: `not the password ${i}` };
    const answer = await send(app, 'POST', '/portal/v1/sessions', { body });
    assertHeaders(answer.status, answer.headers, `try ${i}: ${answer.status}`);
    if (answer.status === 429) return assert.deepEqual(Object.keys(answer.body), ['message']);
  }
  assert.fail('ten wrong passwords were not slowed down');
});

describe('what is no request at all', () => {
  const said: [string, string, number][] = [
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n', 400],
    ['HTTP/1.1 without Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    ['20,000 bytes of headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
  ];
  for (const [what, bytes, status] of said) {
    test(`${status}: ${what}`, async () => {
      const [answer] = await sayRaw(app.port, bytes);
      assert.equal(answer?.status, status);
      assertHeaders(status, { get: (name) => answer?.headers[name] ?? null }, what);
    });
  }

  test('a body that is no form, at the token endpoint', async () => {
    const answer = await sendForm(app, 'token', '{}', { headers: { 'Content-Type': 'application/json' } });
    assertHeaders(answer.status, answer.headers, 'JSON at the token endpoint');
  });
});
