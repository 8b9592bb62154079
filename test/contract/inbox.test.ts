// Section 11 of the contract: GET /sandbox/v1/inbox.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken } from '../support/applications.ts';
import { createApplication, send, signUp } from '../support/developer.ts';
import { createSender, type Page, type Refusal, type Sender, type TextRecord } from '../support/texts.ts';

const path = '/sandbox/v1/inbox';

interface Item {
  to: string;
  from: string;
  text: string;
  message_id: string;
  verification_id: string | null;
  segments: TextRecord['segments'];
  received_at: string;
}

let app: TestApp;
let acme: Sender;
let eve: Sender;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  acme = await createSender(app);
  eve = await createSender(app, { apis: ['sms'] });
});
after(() => app.close());

async function arrive(who: Sender, given: Record<string, unknown> = {}): Promise<TextRecord> {
  const { body } = await who.sms(given);
  await app.delivery.workers()[0]?.runUntilIdle();
  return body;
}

const get = (headers: Record<string, string>, query = '') =>
  send<Page<Item>>(app, 'GET', `${path}?${query}`, { headers });
const idsOf = ({ body }: { body: Page<Item> }) => body.data.map(({ message_id }) => message_id);

describe('200 {data, next_cursor}', () => {
  test('each text with every field in its order', async () => {
    const who = await createSender(app, { apis: ['sms'] });
    assert.deepEqual((await get(who.key)).body, { data: [], next_cursor: null });
    const { body: sent } = await who.sms({ message: 'Grüße “👋”', from: '80123', reference: 'not shown' });
    app.clock.advance(7);
    await app.delivery.workers()[0]?.runUntilIdle();
    const { status, body } = await get(who.key);
    assert.equal(status, 200);
    const expected: Item = {
      to: sent.to,
      from: '80123',
      text: 'Grüße “👋”',
      message_id: sent.id,
      verification_id: null,
      segments: sent.segments,
      received_at: new Date(app.clock.nowMs()).toISOString(),
    };
    assert.equal(JSON.stringify(body), JSON.stringify({ data: [expected], next_cursor: null }));
  });

  test('only what arrived: not what failed, was undelivered, canceled or has not left', async () => {
    const who = await createSender(app, { apis: ['sms'] });
    for (const last of ['11', '12', '14']) await arrive(who, { to: `+150055501${last}` });
    const queued = await who.sms();
    await send(app, 'DELETE', `/sms/v1/messages/${queued.body.id}`, { headers: who.key });
    await who.sms({ send_at: new Date(app.clock.nowMs() + 60_000).toISOString() });
    await app.delivery.workers()[0]?.runUntilIdle();
    assert.deepEqual((await get(who.key)).body.data, []);
  });

  test('newest first, in pages, and ?to= with the plus encoded or not', async () => {
    const who = await createSender(app, { apis: ['sms'] });
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) ids.unshift((await arrive(who, { to: `+44770090000${i % 2}` })).id);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { body: Page<Item> } = await get(who.key, `limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...idsOf(page));
      cursor = page.body.next_cursor;
    }
    assert.deepEqual(seen, ids);
    const odd = ids.filter((_, i) => i % 2 === 1);
    for (const to of ['%2B447700900001', '+447700900001']) assert.deepEqual(idsOf(await get(who.key, `to=${to}`)), odd);
    const first = await get(who.key, 'to=%2B447700900001&limit=2');
    assert.deepEqual(
      idsOf(await get(who.key, `to=%2B447700900001&limit=2&cursor=${first.body.next_cursor}`)),
      odd.slice(2),
    );
    assert.equal((await get(who.key, 'to=%00')).status, 400);
    assert.equal((await get(who.key, 'limit=100')).body.next_cursor, null);
  });

  test('a text that was sent again after an unknown outcome is there twice, as on a real phone', async () => {
    const who = await createSender(app, { apis: ['sms'] });
    const { id } = await arrive(who);
    await app.db.database.query(
      `insert into handset_text (application_id, recipient, message_id, attempt, received_at, delivered)
       select application_id, recipient, message_id, 2, received_at, delivered from handset_text where message_id = $1`,
      [uuidOf(id)],
    );
    assert.deepEqual(idsOf(await get(who.key)), [id, id]);
  });

  test('400 for a limit or cursor that is not one', async () => {
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=x',
      'cursor=x',
      'cursor=-1',
      'cursor=',
      'cursor=99999999999999999999',
    ]) {
      const { status, body } = await get(acme.key, query);
      assert.equal(status, 400, query);
      assert.equal((body as unknown as Refusal).details[0]?.field, query.split('=')[0]);
    }
  });
});

describe('who may look', () => {
  test('an API key, a token of either scope and a portal session with application_id see the same inbox', async () => {
    const { id } = await arrive(acme);
    await acme.messaging();
    await app.delivery.workers()[0]?.runUntilIdle();
    await arrive(eve);
    const expected = await get(acme.key);
    assert.deepEqual([expected.body.data.length, expected.body.data[1]?.message_id], [2, id]);
    const verify = bearer(await getToken(app, acme.client, 'verify:manage'));
    const { cookie } = acme.developer;
    for (const answer of [
      await get(acme.token),
      await get(verify),
      await get({ cookie }, `application_id=${acme.id}`),
      // A key names its inbox.
      await get(acme.key, `application_id=${eve.id}`),
    ]) {
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, expected.body);
    }
  });

  test('401 for no credential, an unknown key, a wrong token, a session that is none', async () => {
    for (const headers of [{}, { apikey: 'x' }, bearer('a.b.c'), { cookie: 'session=x' }]) {
      for (const rest of ['', '/stream']) {
        const answer = await send(app, 'GET', path + rest, { headers });
        assert.deepEqual([answer.status, answer.body.code], [401, 'UNAUTHENTICATED']);
      }
    }
  });

  test("a portal session: 400 without application_id, 404 for another's or one that is not there", async () => {
    const { cookie } = acme.developer;
    for (const rest of ['', '/stream']) {
      const missing = await send<Refusal>(app, 'GET', path + rest, { headers: { cookie } });
      assert.deepEqual([missing.status, missing.body.details[0]?.field], [400, 'application_id']);
      for (const id of [eve.id, 'app_00000000000000000000000000', 'x', '', 'x'.repeat(65)]) {
        const query = `?application_id=${id}`;
        const answer = await send<Refusal>(app, 'GET', path + rest + query, { headers: { cookie } });
        assert.deepEqual([answer.status, answer.body.code], [404, 'NOT_FOUND'], id);
      }
    }
    assert.equal((await get({ cookie }, 'application_id=%00')).status, 400);
    const own = await createApplication(await signUp(app));
    assert.equal((await get({ cookie }, `application_id=${own}`)).status, 404);
  });

  test("counts by address, not against the registration's quota", async () => {
    const free = await createRegistered(app, ['sms'], 'free');
    const key = { apikey: free.apiKey };
    const before = await send(app, 'GET', '/sms/v1/messages', { headers: key });
    for (let i = 0; i < 25; i++) {
      const answer = await get(key);
      assert.deepEqual([answer.status, answer.headers.get('ratelimit-limit')], [200, '6000']);
    }
    const after = await send(app, 'GET', '/sms/v1/messages', { headers: key });
    const remaining = ({ headers }: { headers: Headers }) => Number(headers.get('ratelimit-remaining'));
    assert.deepEqual([after.status, remaining(after)], [200, remaining(before) - 1]);
  });
});
