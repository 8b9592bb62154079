// run: with many processes
// One node with several web processes: limits that are exact, revocations that all of them know, and kill -9 of any.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { statusCode } from '../../src/messages/message-row.ts';
import { fromUuid } from '../../src/platform/ids.ts';
import {
  bearer,
  countStatuses,
  createRegistered,
  getToken,
  type KeptConnection,
  type PlainRequest,
  revokeToken,
  type Volley,
} from '../support/applications.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { send, signUp, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { type EventStream, openEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { urlOf } from '../support/node-settings.ts';
import { makeFolder, waitUntilGone } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';
import { type LoadedText, startTextLoad } from '../support/text-load.ts';
import { allServe, connectToEach, parentOf, webProcessesOf, withOnly } from '../support/web-processes.ts';

const processes = inShort(2, 4);
const addressPerMinute = 300;
const passwordPerMinute = 1;
const plans = { free: { per_minute: 60, burst: 60 }, enterprise: { per_minute: 1_000_000, burst: 1_000_000 } };

let db: TestDatabase;
let service: Service;
let developer: TestDeveloper;
let connections: KeptConnection[];
const dataDir = makeFolder('processes');

function startNode(): Promise<Service> {
  return startService({
    dataDir,
    asTerminal: true,
    // As `npm start` and `npx heliograph start` do: it starts a node again that was killed.
    command: ['node', 'cli/bin/heliograph.mjs', 'start'],
    env: {
      DATABASE_URL: urlOf(db.connection),
      HELIOGRAPH_SECRET: 'a secret of all processes',
      HELIOGRAPH_PROCESSES: String(processes),
      HELIOGRAPH_PLANS: JSON.stringify(plans),
      // So that each test can be at an address of its own.
      HELIOGRAPH_TRUSTED_PROXIES: '127.0.0.1',
      HELIOGRAPH_ADDRESS_PER_MINUTE: String(addressPerMinute),
      HELIOGRAPH_ADDRESS_BURST: String(addressPerMinute),
      HELIOGRAPH_PASSWORD_PER_MINUTE: String(passwordPerMinute),
    },
  });
}

before(async () => {
  await buildService();
  db = await createTestDatabase();
  service = await startNode();
  await service.ready;
  await service.printed('sandbox-credentials.json');
  developer = await signUp(service);
  connections = await connectToEach(service, 8);
});
after(async () => {
  for (const connection of connections) connection.close();
  await endServices();
  await db.drop();
});

/** Sends this many at once over all connections, which are at all processes. */
async function volley(count: number, request: PlainRequest): Promise<Volley[]> {
  const answers: Volley[] = [];
  let left = count;
  await Promise.all(
    connections.map(async (connection) => {
      while (left-- > 0) answers.push(await connection.ask(request));
    }),
  );
  return answers;
}

describe('limits over all processes', () => {
  test('a registration gets its limit, no more and no less, and each answer says what is left', async () => {
    const own = await createRegistered(service, ['sms'], 'free', developer);
    // What is not there counts as a request, and costs nothing else.
    const answers = await volley(300, { path: '/sms/v1/nothing', headers: { apikey: own.apiKey } });
    assert.deepEqual(countStatuses(answers), { 404: 60, 429: 240 });
    const remaining = answers
      .filter(({ status }) => status === 404)
      .map((answer) => Number(answer.headers['ratelimit-remaining']));
    assert.deepEqual(
      remaining.sort((one, other) => one - other),
      Array.from({ length: 60 }, (_, left) => left),
    );
    for (const { status, headers } of answers) {
      if (status === 429) assert.ok(Number(headers['retry-after']) >= 1, 'a refusal says when to come again');
    }
  });

  test('the limits of addresses of visitors and of clients hold over all processes, apart from each other', async () => {
    const from = { 'X-Forwarded-For': '203.0.113.1' };
    const visits = await volley(400, { path: '/portal/v1/me', headers: from });
    assert.deepEqual(countStatuses(visits), { 401: addressPerMinute, 429: 100 });
    const token = '/realms/heliograph/protocol/openid-connect/token';
    const clients = await volley(400, { method: 'POST', path: token, headers: from });
    assert.deepEqual(countStatuses(clients), { 400: addressPerMinute, 429: 100 });
  });

  test('a new token pays its address once, whichever processes its first burst comes to', async () => {
    const own = await createRegistered(service, ['verify'], 'enterprise', developer);
    const token = await getToken(service, own.client, 'verify:manage');
    const headers = { ...bearer(token), 'X-Forwarded-For': '203.0.113.3' };
    const count = 2 * addressPerMinute;
    const answers = await volley(count, { path: '/verify/v1/nothing', headers });
    assert.deepEqual(countStatuses(answers), { 404: count });
    const [visit] = await volley(1, { path: '/portal/v1/me', headers: { 'X-Forwarded-For': '203.0.113.3' } });
    assert.equal(visit?.headers['ratelimit-remaining'], String(addressPerMinute - 2));
  });

  test('a 503 gives its slot back to the registration, and no count is left of it', async () => {
    const own = await createRegistered(service, ['sms'], 'free', developer);
    const headers = { apikey: own.apiKey };
    const unserved = await db.database.transaction(async (tx) => {
      // No one can read a message for longer than any statement may wait.
      await tx.query('lock table message in access exclusive mode');
      return volley(40, { path: '/sms/v1/messages/msg_01m7jte03h000jrdpev7c11ye0', headers });
    });
    assert.deepEqual(countStatuses(unserved), { 503: 40 });
    const answers = await volley(60, { path: '/sms/v1/nothing', headers });
    assert.deepEqual(countStatuses(answers), { 404: 60 });
    const usage = await developer.send<{ data: { totals: { admitted: number } }[] }>(
      'GET',
      `/portal/v1/applications/${own.id}/usage`,
    );
    assert.equal(usage.body.data[0]?.totals.admitted, 60);
  });

  test('the limit of passwords of one address holds over all processes', async () => {
    const body = { email: 'nobody@example.com', password: 'not the password of anybody' };
    const tries = Array.from({ length: 12 }, () =>
      send(service, 'POST', '/portal/v1/sessions', { body, headers: { 'X-Forwarded-For': '203.0.113.2' } }),
    );
    assert.deepEqual(countStatuses(await Promise.all(tries)), { 401: passwordPerMinute, 429: 12 - passwordPerMinute });
  });
});

test('a key that was deleted and a token that was revoked are dead in every process when that is answered', async () => {
  const own = await createRegistered(service, ['sms', 'verify'], 'enterprise', developer);
  const everywhere = async (request: PlainRequest) => {
    const answers = await Promise.all(connections.map((connection) => connection.ask(request)));
    return countStatuses(answers);
  };
  for (let round = 0; round < inShort(2, 50); round++) {
    const key = (await developer.send('POST', `/portal/v1/applications/${own.id}/keys`, { overlap_seconds: 3600 }))
      .body;
    const from = { 'X-Forwarded-For': `203.0.113.${100 + round}` };
    const byKey = { path: '/sms/v1/nothing', headers: { ...from, apikey: String(key.api_key) } };
    assert.deepEqual(await everywhere(byKey), { 404: connections.length });
    await developer.send('DELETE', `/portal/v1/applications/${own.id}/keys/${key.id}`);
    assert.deepEqual(await everywhere(byKey), { 401: connections.length }, `key ${round}`);

    const token = await getToken(service, own.client, 'verify:manage');
    const byToken = { path: '/verify/v1/nothing', headers: { ...from, ...bearer(token) } };
    assert.deepEqual(await everywhere(byToken), { 404: connections.length });
    await revokeToken(service, own.client, token);
    assert.deepEqual(await everywhere(byToken), { 401: connections.length }, `token ${round}`);
  }
});

test('any process shows the metrics and the usage of all', async () => {
  const own = await createRegistered(service, ['sms'], 'free', developer);
  await volley(50, { path: '/sms/v1/messages/msg_01m7jte03h000jrdpev7c11ye0', headers: { apikey: own.apiKey } });
  for (let turn = 0; turn < 3; turn++) {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    assert.match(text, /route="\/sms\/v1\/messages\/\{id\}",status="404"\} 50$/m);
    assert.match(text, new RegExp(`^heliograph_web_processes ${processes}$`, 'm'));
    const usage = await developer.send<{ data: object[] }>(
      'GET',
      `/portal/v1/applications/${own.id}/requests?limit=100`,
    );
    assert.equal(usage.body.data.length, 50);
  }
});

/** Every text was accepted once, and ends. */
async function assertLedger(texts: LoadedText[], answered: Map<string, string>): Promise<void> {
  assert.equal(answered.size, texts.length);
  const numbers = texts.map(({ to }) => to);
  const { rows } = await db.database.query<{ id: string; recipient: string }>(
    'select id, recipient from message where recipient = any($1)',
    [numbers],
  );
  const stored = new Map(rows.map(({ id, recipient }) => [recipient, fromUuid('msg', id)]));
  assert.equal(rows.length, texts.length, 'none is stored twice');
  for (const to of numbers) assert.equal(stored.get(to), answered.get(to), 'what was answered is what is stored');
  await eventually('every text ends', async () => {
    const open = await db.database.query<{ count: number }>(
      'select count(*)::integer as count from message where recipient = any($1) and status <> $2',
      [numbers, statusCode('delivered')],
    );
    return open.rows[0]?.count === 0;
  });
}

const textsOf = (prefix: string, count: number): LoadedText[] =>
  Array.from({ length: count }, (_, index) => ({
    to: `+447700${prefix}${String(index).padStart(3, '0')}`,
    message: 'Hello',
  }));

test('an application has 5 streams on the node, not on each process, and those of a killed process are free again', async () => {
  const own = await createRegistered(service, ['sms'], 'enterprise', developer);
  const pids = webProcessesOf(service);
  const streams: EventStream[] = [];
  async function openAt(number: number, count: number): Promise<number[]> {
    const pid = pids.get(number) ?? assert.fail('it has a number');
    const opened = await withOnly([...pids.values()], pid, () =>
      Promise.all(
        Array.from({ length: count }, () => openEvents(service, '/events/v1/stream', { apikey: own.apiKey })),
      ),
    );
    streams.push(...opened);
    return opened.map(({ status }) => status).sort();
  }
  assert.deepEqual(await openAt(1, 3), [200, 200, 200]);
  assert.deepEqual(await openAt(2, 4), [200, 200, 409, 409]);
  const killed = pids.get(1) ?? assert.fail('it has a number');
  process.kill(killed, 'SIGKILL');
  await eventually('it is replaced', () => webProcessesOf(service).get(1) !== killed);
  await allServe(service, processes);
  pids.set(1, webProcessesOf(service).get(1) ?? 0);
  assert.deepEqual(await openAt(2, 5), [200, 200, 200, 409, 409]);
  for (const stream of streams) stream.close();
});

test('kill -9 of a web process: the others go on, it is replaced, and no text is lost or doubled', async () => {
  const texts = textsOf('900', inShort(120, 900));
  const load = startTextLoad(service, texts);
  for (let kill = 1; kill <= inShort(1, 3); kill++) {
    await eventually('the load runs', () => load.answered.size >= kill * 60);
    const pid = webProcessesOf(service).get(kill) ?? assert.fail('it has a number');
    process.kill(pid, 'SIGKILL');
    await eventually('it is replaced', () => webProcessesOf(service).get(kill) !== pid);
  }
  await load.finished;
  await assertLedger(texts, load.answered);
  await allServe(service, processes);
  const text = await (await fetch(`${service.url}/metrics`)).text();
  assert.match(text, /^heliograph_web_processes_replaced_total [1-9]/m);
  assert.match(text, /route="\/sms\/v1\/messages\/\{id\}",status="404"\} 50$/m, 'what it had counted is not lost');
});

test('kill -9 of the parent: every process ends with it, the launcher starts a new node, and no text is lost or doubled', async () => {
  const texts = textsOf('901', inShort(70, 600));
  const load = startTextLoad(service, texts);
  await eventually('the load runs', () => load.answered.size >= 30);
  const pids = [...webProcessesOf(service).values()];
  const node = parentOf(pids[0] ?? assert.fail('there are two'));
  assert.notEqual(node, service.pid, 'the launcher is another process');
  process.kill(node, 'SIGKILL');
  for (const pid of pids) assert.ok(await waitUntilGone(pid, 10_000), `process ${pid} lives on without its parent`);
  await service.printed('Heliograph ended (SIGKILL). Restarting it.');
  await load.finished;
  await assertLedger(texts, load.answered);
  await allServe(service, processes);
  for (const pid of webProcessesOf(service).values()) assert.ok(!pids.includes(pid), 'they are new ones');
});

test('Ctrl-C reaches all of them: what is in flight is answered, and all end in order', async () => {
  const pids = [...webProcessesOf(service).values()];
  const replacements = service.output().split('it is replaced').length;
  const body = { to: '+447700902000', from: 'ACME', message: 'Hello' };
  const own = await createRegistered(service, ['sms'], 'enterprise', developer);
  const sending = Array.from({ length: 20 }, () =>
    send(service, 'POST', '/sms/v1/messages', { body, headers: { apikey: own.apiKey } }).then(({ status }) => status),
  );
  await Promise.race(sending);
  service.kill('SIGINT');
  for (const status of await Promise.all(sending)) assert.equal(status, 201);
  assert.deepEqual((await service.ended).code, 0, service.output());
  for (const pid of pids) assert.ok(await waitUntilGone(pid, 1000), `process ${pid} is left`);
  assert.equal(service.output().split('it is replaced').length, replacements, 'none ended by itself');
});
