// What the portal's pages read beside registrations and credentials: records, the service itself, its health.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fromUuid, uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { asDeveloper, send, signUp } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';

interface Detail {
  id: string;
  api: string;
  status: string;
  correlation_id: string;
  attempts: number;
  possible_duplicates: number;
  timeline: { at: string; event: string; detail: string }[];
}
interface List {
  data: Detail[];
  next_cursor: string | null;
}

let app: TestApp;
let acme: TestApplication;
let messaging: Record<string, string>;
let verify: Record<string, string>;
before(async () => {
  app = await createTestApp();
  acme = await createRegistered(app, ['sms', 'verify', 'messaging'], 'pro');
  messaging = bearer(await getToken(app, acme.client, 'messaging:send'));
  verify = bearer(await getToken(app, acme.client, 'verify:manage'));
});
after(() => app.close());

const base = () => `/portal/v1/applications/${acme.id}`;
const get = <Body>(path: string) => acme.developer.send<Body>('GET', base() + path);
const text = { to: '+447700900123', from: 'ACME', message: 'Hello' };
const events = ({ timeline }: Detail) => timeline.map(({ event }) => event);

async function post(path: string, headers: Record<string, string>, body: object) {
  const answer = await send<{ id: string }>(app, 'POST', path, { headers, body });
  assert.ok(answer.status === 200 || answer.status === 201, JSON.stringify(answer.body));
  return { id: answer.body.id, correlationId: answer.headers.get('x-correlation-id') };
}
const sendSms = (body: object = {}) => post('/sms/v1/messages', { apikey: acme.apiKey }, { ...text, ...body });

describe('messages', () => {
  test('of both APIs or of one, filtered, newest first', async () => {
    const first = await sendSms({ reference: 'one' });
    const second = await sendSms({ to: '+447700900199' });
    const other = await post('/messaging/v1/messages', messaging, text);
    const ids = async (query: string) => (await get<List>(`/messages${query}`)).body.data.map(({ id }) => id);
    assert.deepEqual(await ids(''), [other.id, second.id, first.id]);
    assert.deepEqual(await ids('?api=sms'), [second.id, first.id]);
    assert.deepEqual(await ids('?api=messaging'), [other.id]);
    assert.deepEqual(await ids('?reference=one'), [first.id]);
    assert.deepEqual(await ids('?to=+447700900199'), [second.id]);
    for (const typed of ['+44 7700 900-199', '07700 900199', '447700900199', '0199', ' 900199 ']) {
      assert.deepEqual(await ids(`?to=${encodeURIComponent(typed)}`), [second.id], typed);
    }
    assert.deepEqual(await ids('?api=sms&to=770090&limit=2'), [second.id, first.id]);
    assert.deepEqual(await ids('?to=4242'), []);
    assert.deepEqual(await ids('?status=canceled'), []);
    assert.deepEqual(await ids('?status=canceled&to=0199'), []);
    const page = await get<List>('/messages?limit=1');
    assert.deepEqual(await ids(`?limit=1&cursor=${page.body.next_cursor}`), [second.id]);
  });

  test('one with its timeline, from acceptance to the phone', async () => {
    const { id, correlationId } = await sendSms();
    const read = async () => (await get<Detail>(`/messages/${id}`)).body;
    await eventually('it is delivered', async () => {
      app.clock.advance(500);
      return (await read()).status === 'delivered';
    });
    const message = await read();
    assert.deepEqual(events(message), ['accepted', 'sent', 'delivered']);
    assert.deepEqual(
      [message.api, message.correlation_id, message.attempts, message.possible_duplicates],
      ['sms', correlationId, 1, 0],
    );
  });

  test('one that fails says why; one that waits says until when', async () => {
    const failing = await sendSms({ to: '+15005550114' });
    await eventually('it failed', async () => (await get<Detail>(`/messages/${failing.id}`)).body.status === 'failed');
    const { timeline } = (await get<Detail>(`/messages/${failing.id}`)).body;
    assert.deepEqual(timeline.at(-1)?.event, 'failed');
    const sendAt = new Date(app.clock.nowMs() + 3_600_000).toISOString();
    const waiting = (await get<Detail>(`/messages/${(await sendSms({ send_at: sendAt })).id}`)).body;
    assert.deepEqual(waiting.timeline.at(-1), {
      at: sendAt,
      event: 'scheduled',
      detail: 'To be sent at this time',
    });
  });
});

describe('verifications', () => {
  test('a list, and one with its texts, its tries and its end', async () => {
    const { id, correlationId } = await post('/verify/v1/verifications', verify, {
      to: '+15005550102',
      channel: 'sms',
    });
    await post(`/verify/v1/verifications/${id}`, verify, { code: '000000' });
    const pending = (await get<Detail>(`/verifications/${id}`)).body;
    assert.deepEqual(events(pending).slice(0, 2).sort(), ['accepted', 'started']);
    assert.match(pending.timeline.find(({ event }) => event === 'checked')?.detail ?? '', /4 attempts left/);
    await post(`/verify/v1/verifications/${id}`, verify, { code: '123456' });
    const approved = (await get<Detail>(`/verifications/${id}`)).body;
    assert.deepEqual([approved.status, approved.correlation_id], ['approved', correlationId]);
    assert.match(approved.timeline.find(({ event }) => event === 'approved')?.detail ?? '', /after 1 wrong code/);
    assert.equal(Object.hasOwn(approved, 'proof'), false);
    for (const typed of ['+1 500 555 0102', '0102', '5005550102']) {
      const found = await get<List>(`/verifications?to=${encodeURIComponent(typed)}`);
      assert.deepEqual(
        found.body.data.map((each) => each.id),
        [id],
        typed,
      );
    }
    assert.deepEqual((await get<List>('/verifications?to=0102&status=pending')).body.data, []);
    const own = await post('/verify/v1/verifications', verify, {
      ...{ to: '+15005550103', channel: 'sms', code: '482913' },
    });
    const outcome = { headers: verify, body: { outcome: 'failed' } };
    await send(app, 'PUT', `/verify/v1/verifications/${own.id}/outcome`, outcome);
    const reported = (await get<Detail>(`/verifications/${own.id}`)).body;
    assert.match(reported.timeline.find(({ event }) => event === 'failed')?.detail ?? '', /^The application reported/);
    const list = await get<List>('/verifications?status=approved&to=+15005550102');
    assert.deepEqual(
      list.body.data.map((each) => each.id),
      [id],
    );
  });

  test('each end has its sentence', async () => {
    const start = (to: string) => post('/verify/v1/verifications', verify, { to, channel: 'sms' });
    const blocked = await start('+15005550112');
    assert.deepEqual(events((await get<Detail>(`/verifications/${blocked.id}`)).body), ['blocked']);
    const canceled = await start('+15005550103');
    await send(app, 'DELETE', `/verify/v1/verifications/${canceled.id}`, { headers: verify });
    const failed = await start('+15005550104');
    for (let i = 0; i < 5; i++) await post(`/verify/v1/verifications/${failed.id}`, verify, { code: '000000' });
    const expired = await start('+15005550113');
    app.clock.advance(3000);
    for (const [{ id }, end] of [
      [canceled, 'canceled'],
      [failed, 'failed'],
      [expired, 'expired'],
    ] as const) {
      assert.ok(events((await get<Detail>(`/verifications/${id}`)).body).includes(end), end);
    }
  });
});

describe('a span of time', () => {
  test('of messages, of verifications and of requests: since is in it, until is not', async () => {
    const own = await createRegistered(app, ['sms', 'verify'], 'pro');
    const headers = bearer(await getToken(app, own.client, 'verify:manage'));
    const times: string[] = [];
    const made: { messages: string[]; verifications: string[] } = { messages: [], verifications: [] };
    for (const to of ['+15005550106', '+15005550107', '+15005550108']) {
      app.clock.advance(60_000);
      times.push(new Date(app.clock.nowMs()).toISOString());
      made.messages.push((await post('/sms/v1/messages', { apikey: own.apiKey }, { ...text, to })).id);
      made.verifications.push((await post('/verify/v1/verifications', headers, { to, channel: 'sms' })).id);
      app.clock.advance(60_000);
    }
    const [first = '', second = '', third = ''] = times;
    const read = async (path: string) => {
      const { status, body } = await own.developer.send<List>('GET', `/portal/v1/applications/${own.id}/${path}`);
      assert.equal(status, 200, path);
      return body;
    };
    const idsOf = (body: List) => body.data.map(({ id }) => id);
    for (const kind of ['messages', 'verifications'] as const) {
      const [oldest, middle, newest] = made[kind];
      assert.deepEqual(idsOf(await read(`${kind}?since=${second}`)), [newest, middle], kind);
      assert.deepEqual(idsOf(await read(`${kind}?until=${third}`)), [middle, oldest], kind);
      assert.deepEqual(idsOf(await read(`${kind}?since=${second}&until=${third}`)), [middle], kind);
      assert.deepEqual(idsOf(await read(`${kind}?since=${first}&until=9999-01-01T00:00:00Z&to=+15005550106`)), [
        oldest,
      ]);
      const page = await read(`${kind}?since=${second}&limit=1`);
      assert.deepEqual(idsOf(page), [newest], kind);
      const next = await read(`${kind}?since=${second}&limit=1&cursor=${page.next_cursor}`);
      assert.deepEqual([idsOf(next), next.next_cursor], [[middle], null], kind);
    }
    assert.equal((await read(`requests?since=${second}&until=${third}`)).data.length, 2);
    assert.deepEqual((await read(`messages?until=${first}&status=failed`)).data, []);
  });

  test('400 for one that is no time, or that ends before it begins', async () => {
    for (const path of ['messages', 'verifications', 'requests', 'messages.csv', 'verifications.csv']) {
      for (const [query, field] of [
        ['since=yesterday', 'since'],
        ['until=2026-02-30T00:00:00Z', 'until'],
        ['since=2026-02-02T00:00:00Z&until=2026-02-01T00:00:00Z', 'since'],
        [`since=${'9'.repeat(500)}`, 'since'],
      ]) {
        const { status, body } = await get<{ details: { field: string }[] }>(`/${path}?${query}`);
        assert.deepEqual([status, body.details[0]?.field], [400, field], `${path}?${query}`);
      }
    }
  });
});

describe('records as a CSV file', () => {
  const download = (path: string) =>
    fetch(`${app.url}${base()}${path}`, { headers: { cookie: acme.developer.cookie } });

  test('messages: every one that matches, over several pages; no cell is a formula', async () => {
    const reference = 'for the file';
    const formulas = ['=1+1', '+SUM(A1)', '-2+3', '@cmd', 'said "yes", then\nleft'];
    for (let batch = 0; batch < 3; batch++) {
      const messages = Array.from({ length: 100 }, (_, n) => ({ ...text, reference, message: formulas[n] ?? 'Hello' }));
      const { status } = await send(app, 'POST', '/messaging/v1/messages/batch', {
        headers: messaging,
        body: { messages },
      });
      assert.equal(status, 200);
    }
    const answer = await download(`/messages.csv?api=messaging&reference=${encodeURIComponent(reference)}`);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(answer.headers.get('content-disposition'), `attachment; filename="messages-${acme.id}.csv"`);
    const file = await answer.text();
    const titles = 'id,created_at,status,to,from,message,segments,encoding,reference,error,sent_at,delivered_at,api';
    assert.ok(file.startsWith(`${titles}\r\n`), file.slice(0, 200));
    assert.equal(new Set(file.match(/^msg_[0-9a-z]{26}/gm)).size, 300);
    for (const cell of [
      ",'=1+1,",
      ",'+SUM(A1),",
      ",'-2+3,",
      ",'@cmd,",
      ',"said ""yes"", then\nleft",',
      ',+447700900123,',
    ]) {
      assert.ok(file.includes(cell), `the cell ${JSON.stringify(cell)}`);
    }
    assert.doesNotMatch(file, /(^|,)"?[=@]/m);
    assert.equal(await (await download('/messages.csv?api=messaging&reference=none')).text(), `${titles}\r\n`);
  });

  test('verifications, with their filters', async () => {
    const { id } = await post('/verify/v1/verifications', verify, { to: '+15005550112', channel: 'sms' });
    const lines = (await (await download('/verifications.csv?status=blocked')).text()).split('\r\n');
    assert.equal(
      lines[0],
      'id,created_at,status,reason,to,channel,attempts,sends,delivery,reference,approved_at,expires_at',
    );
    assert.match(lines[1] ?? '', new RegExp(`^${id},[^,]+,blocked,block_list,\\+15005550112,sms,0,0,,,,`));
  });

  test('404 for another account, 401 without a session', async () => {
    const eve = await signUp(app);
    for (const path of ['/messages.csv', '/verifications.csv', '/failures']) {
      assert.equal((await eve.send('GET', base() + path)).status, 404);
      assert.equal((await send(app, 'GET', base() + path)).status, 401);
    }
  });
});

test('what failed last: requests, messages and verifications, newest first, at most 10', async () => {
  const own = await createRegistered(app, ['sms', 'verify'], 'pro');
  const headers = bearer(await getToken(app, own.client, 'verify:manage'));
  const read = async () => {
    const { body } = await own.developer.send<{
      data: { type: string; id: string; api: string; status: string; subject: string; reason: string | null }[];
    }>('GET', `/portal/v1/applications/${own.id}/failures`);
    return body.data;
  };
  assert.deepEqual(await read(), []);
  const refused = await send(app, 'POST', '/sms/v1/messages', { headers: { apikey: own.apiKey }, body: {} });
  const correlationId = refused.headers.get('x-correlation-id');
  app.clock.advance(1000);
  const failing = await post('/sms/v1/messages', { apikey: own.apiKey }, { ...text, to: '+15005550114' });
  await eventually('it failed', async () => (await read()).some(({ id }) => id === failing.id));
  app.clock.advance(1000);
  const blocked = await post('/verify/v1/verifications', headers, { to: '+15005550112', channel: 'sms' });
  const found = await read();
  assert.deepEqual(
    found.map(({ type, id, api, status, subject }) => [type, id, api, status, subject]),
    [
      ['verification', blocked.id, 'verify', 'blocked', '+15005550112'],
      ['message', failing.id, 'sms', 'failed', '+15005550114'],
      ['request', correlationId, 'sms', '400', 'POST /sms/v1/messages'],
    ],
  );
  for (const { reason } of found) assert.ok(reason, 'each says why');
  for (let i = 0; i < 12; i++)
    await send(app, 'POST', '/sms/v1/messages', { headers: { apikey: own.apiKey }, body: {} });
  assert.equal((await read()).length, 10);
});

test('404: what is not there, what is another API’s, what is another account’s', async () => {
  const message = await sendSms();
  const verification = await post('/verify/v1/verifications', verify, { to: '+15005550105', channel: 'sms' });
  const { rows } = await app.db.database.query<{ id: string }>('select id from message where verification_id = $1', [
    uuidOf(verification.id),
  ]);
  for (const path of [
    '/messages/msg_00000000000000000000000000',
    '/messages/%00',
    `/messages/${verification.id}`,
    `/messages/${fromUuid('msg', rows[0]?.id ?? '')}`,
    '/verifications/ver_00000000000000000000000000',
    '/verifications/%00',
    `/verifications/${message.id}`,
  ]) {
    assert.equal((await get(path)).status, 404, path);
  }
  const stranger = await signUp(app);
  const notMine = '/portal/v1/applications/%00';
  for (const path of ['/messages', `/messages/${message.id}`, '/verifications', `/verifications/${verification.id}`]) {
    assert.equal((await stranger.send('GET', base() + path)).status, 404, path);
    assert.equal((await stranger.send('GET', notMine + path)).status, 404, path);
    assert.equal((await send(app, 'GET', base() + path)).status, 401, path);
  }
});

test('GET /portal/v1/service: what a page has to know before anybody has signed in', async () => {
  const { status, body } = await send(app, 'GET', '/portal/v1/service');
  assert.equal(status, 200);
  assert.deepEqual(body, {
    name: 'Heliograph',
    version: '0.0.0-test',
    environment: 'sandbox',
    base_url: app.config.publicUrl,
    token_url: `${app.config.publicUrl}/realms/heliograph/protocol/openid-connect/token`,
    plans: [
      { name: 'free', per_minute: 60, burst: 60 },
      { name: 'pro', per_minute: 600, burst: 200 },
      { name: 'enterprise', per_minute: 6000, burst: 2000 },
    ],
    scopes: { verify: 'openid verify:manage', messaging: 'openid messaging:send' },
    sso: null,
  });
});

test('GET /portal/v1/operator/health: for operators; for others it is not there', async () => {
  assert.equal((await acme.developer.send('GET', '/portal/v1/operator/health')).status, 404);
  const token = await app.app.people.createLink('operator@example.com', { makesOperator: true });
  const password = 'another sentence, known to no one';
  const signedIn = await send(app, 'POST', '/portal/v1/password-resets', { body: { token, password } });
  const operator = asDeveloper(app, 'operator@example.com', password, signedIn);
  const { status, body } = await operator.send<{
    checks: object[];
    postgres: {
      version: string;
      connections: number;
      most_connections: number;
      answer_ms: number;
      synchronous_standby: null;
      hosts: [];
    };
    redis: string;
    nodes: object[];
    queue: { waiting: number };
    accounts: number;
    applications: number;
    pending_registrations: number;
  }>('GET', '/portal/v1/operator/health');
  assert.equal(status, 200);
  assert.ok(body.checks.some((check) => JSON.stringify(check) === '{"name":"database","ok":true}'));
  assert.equal(body.nodes.length, 1);
  const { version, connections, most_connections, answer_ms } = body.postgres;
  assert.match(version, /^\d+/);
  assert.ok(connections > 0 && connections <= most_connections, `${connections} of ${most_connections} connections`);
  assert.ok(answer_ms >= 0, `${answer_ms} ms`);
  assert.deepEqual([body.postgres.synchronous_standby, body.postgres.hosts], [null, []], 'a single host');
  assert.equal(body.redis, 'none');
  assert.equal(body.pending_registrations, 0);
  assert.ok(body.accounts >= 2 && body.applications >= 1);
});
