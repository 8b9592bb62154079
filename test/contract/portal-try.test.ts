// A developer's calls from the portal: by the session, and otherwise as a call with a key or a token.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { asDeveloper, createApplication, send, signUp, type TestDeveloper } from '../support/developer.ts';

const text = { to: '+447700900123', from: 'ACME', message: 'Hello' };
const start = { to: '+15005550100', channel: 'sms' };
let app: TestApp;
let acme: TestApplication;
before(async () => {
  app = await createTestApp();
  acme = await createRegistered(app, ['sms', 'verify', 'messaging'], 'free');
});
after(() => app.close());

const path = (rest: string, id = acme.id) => `/portal/v1/applications/${id}/try${rest}`;
const call = <Body = Record<string, unknown>>(rest: string, body: unknown, by = acme.developer, id = acme.id) =>
  by.send<Body>('POST', path(rest, id), body);

interface Story {
  path: string;
  sent_from: string;
  status: number;
  to: string | null;
  record_id: string;
}

describe('the same act as the API', () => {
  test("a text of each API: the API's own answer, the four headers, a record that the API shows", async () => {
    const sms = await call<{ id: string }>('/sms/v1/messages', text);
    assert.equal(sms.status, 201, JSON.stringify(sms.body));
    assert.equal(sms.headers.get('location'), `/sms/v1/messages/${sms.body.id}`);
    assert.equal(sms.headers.get('ratelimit-limit'), '60');
    assert.equal(sms.headers.get('ratelimit-remaining'), '59');
    const read = await send(app, 'GET', `/sms/v1/messages/${sms.body.id}`, { headers: { apikey: acme.apiKey } });
    assert.equal(read.status, 200);
    const messaging = await call<{ id: string }>('/messaging/v1/messages', text);
    assert.equal(messaging.status, 200);
    const token = bearer(await getToken(app, acme.client, 'messaging:send'));
    const other = await send(app, 'GET', `/messaging/v1/messages/${messaging.body.id}`, { headers: token });
    assert.equal(other.status, 200);
  });

  test('a verification is started and checked', async () => {
    const started = await call<{ id: string }>('/verify/v1/verifications', start);
    assert.equal(started.status, 200);
    const wrong = await call(`/verify/v1/verifications/${started.body.id}`, { code: '000000' });
    assert.deepEqual([wrong.status, wrong.body.valid], [200, false]);
    const right = await call(`/verify/v1/verifications/${started.body.id}`, { code: '123456' });
    assert.deepEqual([right.status, right.body.status], [200, 'approved']);
  });

  test("a bad body is the API's 400", async () => {
    const { status, body } = await call<{ code: string; details: { field: string }[] }>('/sms/v1/messages', {});
    assert.deepEqual([status, body.code], [400, 'INVALID_ARGUMENT']);
    assert.deepEqual(body.details.map(({ field }) => field).sort(), ['from', 'message', 'to']);
  });

  test("its trace names the API's path, the number, and the portal; its usage is counted", async () => {
    const sent = await call<{ id: string }>('/sms/v1/messages', text);
    const id = sent.headers.get('x-correlation-id');
    const story = await acme.developer.send<Story>('GET', `/portal/v1/requests/${id}`);
    assert.deepEqual([story.body.path, story.body.sent_from, story.body.status], ['/sms/v1/messages', 'portal', 201]);
    const by = await send(app, 'POST', '/sms/v1/messages', { headers: { apikey: acme.apiKey }, body: text });
    const list = await acme.developer.send<{ data: (Story & { correlation_id: string })[] }>(
      'GET',
      `/portal/v1/applications/${acme.id}/requests`,
    );
    const found = (each: string | null) => list.body.data.find(({ correlation_id }) => correlation_id === each);
    assert.deepEqual(
      [found(id)?.sent_from, found(id)?.path, found(id)?.to, found(id)?.record_id],
      ['portal', '/sms/v1/messages', text.to, sent.body.id],
    );
    assert.equal(found(by.headers.get('x-correlation-id'))?.sent_from, 'api');
  });
});

test("calls of the portal and of a key share the registration's windows: one 429 for both, with one field", async () => {
  const own = await createRegistered(app, ['sms'], 'free');
  for (let sent = 0; sent < 60; sent++) {
    const answer =
      sent % 2 === 0
        ? await call('/sms/v1/messages', text, own.developer, own.id)
        : await send(app, 'POST', '/sms/v1/messages', { headers: { apikey: own.apiKey }, body: text });
    assert.equal(answer.status, 201, `${sent}: ${JSON.stringify(answer.body)}`);
  }
  const refused = await call('/sms/v1/messages', text, own.developer, own.id);
  assert.equal(refused.status, 429);
  assert.deepEqual(Object.keys(refused.body), ['message']);
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  assert.equal(refused.headers.get('ratelimit-remaining'), '0');
  const byKey = await send(app, 'POST', '/sms/v1/messages', { headers: { apikey: own.apiKey }, body: text });
  assert.equal(byKey.status, 429);
  const list = await own.developer.send<{ data: Story[] }>(
    'GET',
    `/portal/v1/applications/${own.id}/requests?status=429`,
  );
  assert.deepEqual(new Set(list.body.data.map(({ sent_from }) => sent_from)), new Set(['api', 'portal']));
});

describe('refused without a charge', () => {
  test('401 without a session, 404 for another account, 409 without an approved registration', async () => {
    const nobody = await send(app, 'POST', path('/sms/v1/messages'), { body: text });
    assert.equal(nobody.status, 401);
    const other = await signUp(app);
    assert.equal((await call('/sms/v1/messages', text, other)).status, 404);
    assert.equal((await call('/sms/v1/messages', text, other, 'app_nope')).status, 404);
    const bare = await createApplication(acme.developer, 'Bare');
    const refused = await call('/sms/v1/messages', text, acme.developer, bare);
    assert.deepEqual([refused.status, refused.body.code], [409, 'INCOMPATIBLE_STATE']);
  });

  test('403 from another site, and for a viewer', async () => {
    const headers = { cookie: acme.developer.cookie, 'sec-fetch-site': 'cross-site' };
    const foreign = await send(app, 'POST', path('/sms/v1/messages'), { headers, body: text });
    assert.equal(foreign.status, 403);
    const viewer = await joinAsViewer();
    assert.equal((await call('/sms/v1/messages', text, viewer)).status, 403);
  });
});

async function joinAsViewer(): Promise<TestDeveloper> {
  const [email, password] = ['viewer-of-try@example.com', acme.developer.password];
  const invitation = { email, role: 'viewer' };
  const { body } = await acme.developer.send<{ link: string }>('POST', '/portal/v1/members/invitations', invitation);
  const token = body.link.split('/').at(-1);
  const answer = await send(app, 'POST', '/portal/v1/invitations/accept', { body: { token, password } });
  return asDeveloper(app, email, password, answer);
}
