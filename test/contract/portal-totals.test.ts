// The portal's lists: messages of both APIs, totals up to a maximum, and batches.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { send } from '../support/developer.ts';

interface List {
  data: { id: string; api: string; correlation_id: string }[];
  next_cursor: string | null;
  batches: { correlation_id: string; size: number; statuses: { status: string; count: number }[] }[];
}

const text = { to: '+447700900123', from: 'ACME', message: 'Hello' };
let app: TestApp;
let acme: TestApplication;
let token: Record<string, string>;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  acme = await createRegistered(app, ['sms', 'verify', 'messaging'], 'pro');
  token = bearer(await getToken(app, acme.client, 'messaging:send'));
});
after(() => app.close());

const get = async <Body>(path: string) =>
  (await acme.developer.send<Body>('GET', `/portal/v1/applications/${acme.id}${path}`)).body;

async function post(path: string, headers: Record<string, string>, body: object) {
  const answer = await send<{ id: string }>(app, 'POST', path, { headers, body });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer;
}

test('messages of both APIs are one list, a filter shows one of them, and totals count what the list shows', async () => {
  const sent: string[] = [];
  for (const path of ['/sms/v1/messages', '/messaging/v1/messages', '/sms/v1/messages', '/messaging/v1/messages']) {
    const headers = path.startsWith('/sms') ? { apikey: acme.apiKey } : token;
    sent.unshift((await post(path, headers, text)).body.id);
  }
  assert.deepEqual(
    (await get<List>('/messages')).data.map(({ id }) => id),
    sent,
  );
  const read: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: List = await get<List>(`/messages?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
    read.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  assert.deepEqual(read, sent);
  const { data } = await get<List>('/messages?api=messaging');
  assert.deepEqual(
    data.map(({ id, api }) => [id, api]),
    [
      [sent[0], 'messaging'],
      [sent[2], 'messaging'],
    ],
  );
  assert.deepEqual(await get('/messages/total'), { total: 4, more: false });
  assert.deepEqual(await get('/messages/total?api=sms'), { total: 2, more: false });
  assert.deepEqual(await get('/messages/total?status=failed'), { total: 0, more: false });
  assert.deepEqual(await get('/verifications/total'), { total: 0, more: false });
  assert.deepEqual(await get('/requests/total'), { total: 4, more: false });
});

test('a batch has its request and its count by status, also on a page that shows only a part of it', async () => {
  const messages = Array.from({ length: 5 }, (_, index) => ({ ...text, to: `+4477009002${10 + index}` }));
  const blocked = { ...text, to: '+15005550114' };
  const sent = await post('/messaging/v1/messages/batch', token, { messages: [...messages, blocked] });
  const correlationId = sent.headers.get('x-correlation-id');
  const { data, batches } = await get<List>('/messages?limit=3');
  assert.deepEqual(
    data.map((each) => each.correlation_id),
    [correlationId, correlationId, correlationId],
  );
  assert.equal(batches.length, 1);
  assert.deepEqual([batches[0]?.correlation_id, batches[0]?.size], [correlationId, 6]);
  const counted = batches[0]?.statuses.reduce((sum, { count }) => sum + count, 0);
  assert.equal(counted, 6);
});

test('a total stops at its maximum, however many there are', async () => {
  await app.db.database.query(
    `insert into message (id, application_id, correlation_id, created_at, updated_at, expires_at, characters, api, channel,
       status, encoding, segment_count, remaining, carrier, recipient, sender)
     select overlay(m.id::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, application_id, correlation_id, created_at,
       updated_at, expires_at, characters, api, channel, status, encoding, segment_count, remaining, carrier, recipient,
       sender
     from (select * from message limit 1) m, generate_series(1, 1100) n on conflict do nothing`,
  );
  assert.deepEqual(await get('/messages/total'), { total: 1000, more: true });
});
