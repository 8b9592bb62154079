// The operator's risk check before a code is sent: section 21 of the contract.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { composeRisk } from '../../src/compose/verify/risk.ts';
import { prefixOf } from '../../src/messages/numbers/number-prefix.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { readConfig } from '../../src/settings/settings.ts';
import { lockNames } from '../../src/verify/pending-store.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

interface Asked {
  path: string;
  body: Record<string, unknown> | string;
  headers: IncomingMessage['headers'];
}

/** An HTTP service as the operator's: it records what it is asked, and answers as a test says. */
async function createService() {
  const asked: Asked[] = [];
  const service = {
    asked,
    url: '',
    answer: (_asked: Asked, response: ServerResponse): void => {
      response.end('{"decision":"allow"}');
    },
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const body = request.headers['content-type'] === 'application/json' ? JSON.parse(text) : text;
    const each = { path: request.url ?? '', body, headers: request.headers };
    asked.push(each);
    service.answer(each, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return service;
}

type Service = Awaited<ReturnType<typeof createService>>;
/** By its settings: tests with the same ones share an app, and have a caller each. */
const worlds = new Map<string, { service: Service; app: TestApp }>();
after(async () => {
  for (const { service, app } of worlds.values()) {
    await app.close();
    await service.close();
  }
});

async function world(env: Record<string, string> = {}) {
  const settings = JSON.stringify(env);
  const { service, app } = worlds.get(settings) ?? (await createWorld(env));
  worlds.set(settings, { service, app });
  service.asked.length = 0;
  service.answer = json({ decision: 'allow' });
  return { service, app, acme: await createVerifyCaller(app) };
}

async function createWorld(env: Record<string, string>) {
  const service = await createService();
  const app = await createTestApp({
    env: {
      HELIOGRAPH_RISK_URL: `${service.url}/risk`,
      ...env,
      ...(env.HELIOGRAPH_RISK_TOKEN_URL && { HELIOGRAPH_RISK_TOKEN_URL: `${service.url}/token` }),
    },
  });
  return { service, app };
}

const json =
  (body: unknown, status = 200) =>
  (_: Asked, response: ServerResponse) => {
    response.statusCode = status;
    response.end(JSON.stringify(body));
  };

interface Explained {
  decision: string;
  reason: string | null;
  rules: { rule: string; seen: unknown }[];
}

async function explain(acme: VerifyCaller, to: string, headers = {}): Promise<Explained> {
  return (await acme.send<Explained>('POST', '/verify/v1/guard/explain', { to }, headers)).body;
}

/** The details of a verification's story, as the portal shows them. */
async function prechecks(app: TestApp, id: string): Promise<string | null> {
  const { rows } = await app.db.database.query<{ precheck: string | null }>(
    `select precheck from verification order by id desc limit 1`,
  );
  assert.ok(id !== '');
  return rows[0]?.precheck ?? null;
}

describe('plain JSON', () => {
  test('it is asked with the number, its country and the application, once a minute for a number', async () => {
    const { service, app, acme } = await world({ HELIOGRAPH_RISK_AUTHORIZATION: 'Bearer its-secret' });
    const to = acme.newNumber();
    const { body } = await acme.start({ to });
    assert.deepEqual([body.status, body.sent], ['pending', true]);
    const [first] = service.asked;
    const { application_id: id, ...rest } = (first?.body ?? {}) as Record<string, unknown>;
    assert.deepEqual([first?.path, rest], ['/risk', { to, country: 'GB' }]);
    assert.match(String(id), /^app_/);
    assert.equal(first?.headers.authorization, 'Bearer its-secret');
    assert.equal(await prechecks(app, body.id), '- allow answer -');
    app.clock.advance(58_000);
    assert.equal((await acme.start({ to })).body.sends, 2);
    assert.equal(service.asked.length, 1, 'the answer is kept for a minute');
    assert.equal(await prechecks(app, body.id), '- allow cache -');
    app.clock.advance(2000);
    assert.equal((await acme.start({ to })).body.sends, 3);
    assert.equal(service.asked.length, 2);
    assert.ok(!app.logLines.join().includes('its-secret'));
  });

  test('a block: the start is blocked with the reason risk, and nothing is sent; a pending code goes on', async () => {
    const { service, app, acme } = await world();
    service.answer = json({ decision: 'block', reason: 'Stolen phone | 1' });
    const to = acme.newNumber();
    const { status, body } = await acme.start({ to });
    assert.deepEqual(
      [status, body.status, body.reason, body.sent, body.delivery],
      [200, 'blocked', 'risk', false, null],
    );
    assert.equal((await acme.read(body.id)).body.reason, 'risk');
    assert.deepEqual((await acme.texts(to, 0)).length, 0);
    const explained = await explain(acme, to);
    assert.deepEqual([explained.decision, explained.reason], ['block', 'risk']);
    assert.deepEqual(explained.rules.at(-1), { rule: 'risk', limit: null, seen: 'block (stolen_phone_1)' });
    service.answer = json({ decision: 'allow' });
    const other = await acme.pending();
    service.answer = json({ decision: 'block' });
    app.clock.advance(61_000);
    const again = await acme.start({ to: other.to });
    assert.deepEqual([again.body.status, again.body.id === other.id], ['blocked', false]);
    assert.equal((await acme.check(other.id, other.code)).body.valid, true);
  });

  test('it is asked after the guard, never for a test number, and by an explanation with its stored answer', async () => {
    const { service, acme } = await world({ HELIOGRAPH_GUARD: '{"blocked":["+4479"]}' });
    assert.equal((await acme.start({ to: '+447911123456' })).body.reason, 'block_list');
    assert.equal((await explain(acme, '+447911123456')).reason, 'block_list');
    assert.equal((await acme.start({ to: '+15005550100' })).body.status, 'pending');
    assert.equal(service.asked.length, 0);
    const to = acme.newNumber();
    const keyed = { 'idempotency-key': 'explained' };
    const first = await explain(acme, to, keyed);
    assert.equal(first.rules.at(-1)?.seen, 'allow');
    assert.deepEqual(await explain(acme, to, keyed), first);
    assert.equal(service.asked.length, 1);
  });

  test('it is asked before a pending code is sent again, although the guard would block a new start', async () => {
    const { service, app, acme } = await world({ HELIOGRAPH_GUARD: '{"per_number":1}' });
    const { id, to } = await acme.pending();
    service.answer = json({ decision: 'block' });
    app.clock.advance(61_000);
    const again = await acme.start({ to });
    assert.deepEqual([again.body.status, again.body.reason], ['blocked', 'risk']);
    assert.equal((await acme.read(id)).body.sends, 1);
    const asked = service.asked.length;
    app.clock.advance(600_000);
    assert.equal((await acme.start({ to })).body.reason, 'destination_limit');
    assert.equal(service.asked.length, asked, 'nothing would be sent');
  });

  test('a limit that ends between the guard and the send lets no number through unasked', async () => {
    const { service, app, acme } = await world({ HELIOGRAPH_GUARD: '{"per_number":1}' });
    const { id, to } = await acme.pending();
    const [asked] = service.asked.map(({ body }) => body as { application_id: string });
    const applicationId = asked?.application_id;
    assert.ok((await acme.send('DELETE', `/verify/v1/verifications/${id}`)).status < 300);
    // Its token has ended by then.
    app.clock.advance(86_399_000);
    const later = await createVerifyCaller(app, acme);
    service.answer = json({ decision: 'block' });
    let started: ReturnType<typeof acme.start> | undefined;
    await app.db.database.transaction(async (tx) => {
      await lockNames(tx, [`${applicationId} ${prefixOf(to)}`]);
      started = later.start({ to });
      await eventually('the start waits', async () => {
        const { rows } = await app.db.database.query<{ waits: boolean }>(
          `select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
             and query like '%pg_advisory_xact_lock%') as waits`,
        );
        return rows[0]?.waits;
      });
      app.clock.advance(2000);
    });
    const { body } = (await started) ?? assert.fail();
    assert.deepEqual([body.status, body.reason], ['blocked', 'destination_limit']);
    assert.equal(service.asked.length, 1);
    const next = await later.start({ to });
    assert.deepEqual([next.body.status, next.body.reason, service.asked.length], ['blocked', 'risk', 2]);
  });

  test('one application that floods it leaves room for the others', async () => {
    const service = await createService();
    const config = readConfig({ HELIOGRAPH_RISK_URL: `${service.url}/risk` });
    const { ask = assert.fail(), drain } = composeRisk({ config, clock: systemClock });
    const numbers = Array.from({ length: 80 }, (_, index) => `+4477009001${String(index).padStart(2, '0')}`);
    // All at once, so that it does not matter how fast the machine is.
    const flood = numbers.map((to) => ask({ applicationId: 'app_acme', to }));
    const other = ask({ applicationId: 'app_beta', to: '+447700900199' });
    const isBusy = ({ reason }: { reason: string | null }) => reason === 'busy';
    assert.equal((await Promise.all(flood)).filter(isBusy).length, 16);
    assert.equal(isBusy(await other), false);
    // Its questions have ended.
    assert.equal(isBusy(await ask({ applicationId: 'app_acme', to: '+447700900198' })), false);
    await drain();
    await service.close();
  });

  test('parallel starts of a number ask once', async () => {
    const { service, acme } = await world();
    const to = acme.newNumber();
    const held: ServerResponse[] = [];
    service.answer = (_, response) => held.push(response);
    const starts = Promise.all(Array.from({ length: 8 }, () => acme.start({ to })));
    while (held.length === 0) await new Promise((done) => setTimeout(done, 5));
    for (const response of held) response.end('{"decision":"allow"}');
    const ids = new Set((await starts).map(({ body }) => body.id));
    assert.deepEqual([ids.size, service.asked.length], [1, 1]);
  });
});

describe('without an answer', () => {
  const bad: [name: string, answer: (asked: Asked, response: ServerResponse) => void, reason: string][] = [
    ['nothing within 800 ms', () => {}, 'timeout'],
    ['half an answer', (_, response) => void response.write('{"decision":'), 'timeout'],
    ['not JSON', (_, response) => void response.end('allow'), 'unreadable'],
    ['another word', json({ decision: 'ALLOW' }), 'unreadable'],
    ['more than 16 KiB', json({ decision: 'allow', more: 'x'.repeat(17_000) }), 'unreadable'],
    [
      'a redirect',
      (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'status_302',
    ],
    ['its own failure', json({}, 500), 'status_500'],
    ['a broken connection', (_, response) => void response.destroy(), 'unreachable'],
  ];

  test('the settings decide, allow by default, and the story says so', async () => {
    const { service, app, acme } = await world();
    for (const [name, answer, reason] of bad) {
      service.answer = answer;
      const { body } = await acme.start({ to: acme.newNumber() });
      assert.equal(body.status, 'pending', name);
      assert.equal(await prechecks(app, body.id), `- allow failure ${reason}`, name);
      service.answer = json({ decision: 'allow' });
      await acme.start({ to: acme.newNumber() });
    }
    service.answer = json({ decision: 'allow', more: 'x'.repeat(15_000) });
    assert.equal((await acme.start({ to: acme.newNumber() })).body.status, 'pending');
    assert.equal(await prechecks(app, 'x'), '- allow answer -', 'an answer of 15 KiB is read');
  });

  test('HELIOGRAPH_RISK_ON_FAILURE=block blocks; after five failures it is asked again after ten seconds', async () => {
    const { service, app, acme } = await world({ HELIOGRAPH_RISK_ON_FAILURE: 'block' });
    service.answer = json({}, 503);
    for (let count = 0; count < 5; count++) {
      const { body } = await acme.start({ to: acme.newNumber() });
      assert.deepEqual([body.status, body.reason], ['blocked', 'risk']);
    }
    const asked = service.asked.length;
    service.answer = json({ decision: 'allow' });
    assert.equal((await acme.start({ to: acme.newNumber() })).body.status, 'blocked');
    assert.equal(await prechecks(app, 'x'), '- block failure not_asked');
    assert.equal(service.asked.length, asked);
    app.clock.advance(10_000);
    for (let count = 0; count < 3; count++)
      assert.equal((await acme.start({ to: acme.newNumber() })).body.status, 'pending');
  });
});

test('a step of the clock keeps no answer longer, and no pause', async () => {
  const { service, app, acme } = await world();
  const seen = async (to: string) => (await explain(acme, to)).rules.at(-1)?.seen;
  // Later than its token and the keys of the service.
  app.clock.advance(1_300_000);
  const to = acme.newNumber();
  assert.equal(await seen(to), 'allow');
  const stepBack = () => app.clock.set(app.clock.nowMs() - 600_000);
  stepBack();
  app.clock.advance(61_000);
  service.answer = json({ decision: 'block' });
  assert.equal(await seen(to), 'block');
  service.answer = json({}, 503);
  for (let count = 0; count < 5; count++) await seen(acme.newNumber());
  stepBack();
  app.clock.advance(11_000);
  service.answer = json({ decision: 'allow' });
  assert.equal(await seen(acme.newNumber()), 'allow');
});

describe('CAMARA SIM Swap', () => {
  test('the check with maxAge; a swapped SIM blocks, and a number it does not know is no failure of the service', async () => {
    const { service, app, acme } = await world({
      ...{ HELIOGRAPH_RISK_PRESET: 'camara-sim-swap', HELIOGRAPH_RISK_MAX_AGE_HOURS: '48' },
      ...{ HELIOGRAPH_RISK_TOKEN_URL: 'set', HELIOGRAPH_RISK_CLIENT_ID: 'me', HELIOGRAPH_RISK_CLIENT_SECRET: 'a:b/ü' },
    });
    let tokens = 0;
    let check = json({ swapped: false });
    service.answer = (asked, response) =>
      asked.path === '/token'
        ? json({ access_token: `token-${++tokens}`, token_type: 'Bearer', expires_in: 3600 })(asked, response)
        : check(asked, response);
    const to = acme.newNumber();
    assert.equal((await acme.start({ to })).body.status, 'pending');
    const [token, asked] = service.asked;
    assert.equal(token?.body, 'grant_type=client_credentials&scope=sim-swap%3Acheck');
    assert.equal(token?.headers.authorization, `Basic ${Buffer.from('me:a%3Ab%2F%C3%BC').toString('base64')}`);
    assert.deepEqual([asked?.path, asked?.body], ['/risk/check', { phoneNumber: to, maxAge: 48 }]);
    assert.equal(asked?.headers.authorization, 'Bearer token-1');
    check = json({ swapped: true });
    assert.equal((await acme.start({ to: acme.newNumber() })).body.reason, 'risk');
    assert.equal(await prechecks(app, 'x'), '- block answer sim_swap');
    assert.equal(tokens, 1, 'a token is kept');
    check = json({ code: 'IDENTIFIER_NOT_FOUND', status: 404 }, 404);
    for (let count = 0; count < 7; count++)
      assert.equal((await acme.start({ to: acme.newNumber() })).body.status, 'pending');
    assert.equal(await prechecks(app, 'x'), '- allow failure status_404');
    check = json({ code: 'UNAUTHENTICATED', status: 401 }, 401);
    await acme.start({ to: acme.newNumber() });
    check = json({ swapped: false });
    await acme.start({ to: acme.newNumber() });
    assert.equal(tokens, 2, 'a refused token is asked for again');
    assert.equal(await prechecks(app, 'x'), '- allow answer -');
    app.clock.advance(3600_000);
    await createVerifyCaller(app, acme).then((later) => later.start({ to: later.newNumber() }));
    assert.equal(tokens, 3, 'and one that has ended');
  });
});
