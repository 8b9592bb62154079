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
  test('each API apart, filtered, newest first', async () => {
    const first = await sendSms({ reference: 'one' });
    const second = await sendSms({ to: '+447700900199' });
    const other = await post('/messaging/v1/messages', messaging, text);
    const ids = async (query: string) => (await get<List>(`/messages${query}`)).body.data.map(({ id }) => id);
    assert.deepEqual(await ids(''), [second.id, first.id]);
    assert.deepEqual(await ids('?api=messaging'), [other.id]);
    assert.deepEqual(await ids('?reference=one'), [first.id]);
    assert.deepEqual(await ids('?to=+447700900199'), [second.id]);
    assert.deepEqual(await ids('?status=canceled'), []);
    const page = await get<List>('/messages?limit=1');
    assert.deepEqual(await ids(`?limit=1&cursor=${page.body.next_cursor}`), [first.id]);
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
      detail: 'The text will be sent at this time.',
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
    assert.match(pending.timeline.find(({ event }) => event === 'checked')?.detail ?? '', /4 tries are left/);
    await post(`/verify/v1/verifications/${id}`, verify, { code: '123456' });
    const approved = (await get<Detail>(`/verifications/${id}`)).body;
    assert.deepEqual([approved.status, approved.correlation_id], ['approved', correlationId]);
    assert.match(approved.timeline.find(({ event }) => event === 'approved')?.detail ?? '', /after 1 wrong code/);
    assert.equal(Object.hasOwn(approved, 'proof'), false);
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
  });
});

test('GET /portal/v1/operator/health: for operators; for others it is not there', async () => {
  assert.equal((await acme.developer.send('GET', '/portal/v1/operator/health')).status, 404);
  const token = await app.app.developers.createLink('operator@example.com', true);
  const password = 'another sentence, known to nobody';
  const signedIn = await send(app, 'POST', '/portal/v1/password-resets', { body: { token, password } });
  const operator = asDeveloper(app, 'operator@example.com', password, signedIn);
  const { status, body } = await operator.send<{
    checks: object[];
    nodes: object[];
    queue: { waiting: number };
    accounts: number;
    applications: number;
    pending_registrations: number;
  }>('GET', '/portal/v1/operator/health');
  assert.equal(status, 200);
  assert.ok(body.checks.some((check) => JSON.stringify(check) === '{"name":"database","ok":true}'));
  assert.equal(body.nodes.length, 1);
  assert.equal(body.pending_registrations, 0);
  assert.ok(body.accounts >= 2 && body.applications >= 1);
});
