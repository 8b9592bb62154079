// Section 8 of the contract: the record and operations of section 7, with 200 as the success status, plus `channel`.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import {
  countMessages,
  createSender,
  type Page,
  type Refusal,
  type Sender,
  type TextRecord,
  text,
} from '../support/texts.ts';

const path = '/messaging/v1/messages';

let app: TestApp;
let acme: Sender;
let eve: Sender;
before(async () => {
  app = await createTestApp();
  acme = await createSender(app);
  eve = await createSender(app);
});
after(() => app.close());

const read = (id: string, who = acme) =>
  send<TextRecord>(app, 'GET', `${path}/${id}`, { headers: who.token }).then(({ body }) => body);

describe('POST /messaging/v1/messages', () => {
  test('Valid token with the required scope → 200 OK, Location, the record of section 7', async () => {
    const { status, headers, body } = await acme.messaging({ reference: 'r' });
    assert.equal(status, 200);
    assert.equal(headers.get('location'), `${path}/${body.id}`);
    const sms = await acme.sms({ reference: 'r' });
    assert.deepEqual(Object.keys(body), Object.keys(sms.body));
    assert.deepEqual({ ...body, id: '' }, { ...sms.body, id: '' });
  });

  test('a text of the Messaging API is delivered', async () => {
    const { body } = await acme.messaging();
    await eventually('it to be sent', async () => (await read(body.id)).status === 'sent');
    app.clock.advance(100);
    await eventually('it to be delivered', async () => (await read(body.id)).status === 'delivered');
  });

  test('channel is sms unless said', async () => {
    assert.equal((await acme.messaging()).body.channel, 'sms');
    assert.equal((await acme.messaging({ channel: 'sms' })).body.channel, 'sms');
  });

  test('400 UNSUPPORTED_CHANNEL names the one that works, and nothing is sent', async () => {
    const before = await countMessages(app, acme.id);
    for (const channel of ['whatsapp', 'SMS', '', 'x'.repeat(1000)]) {
      const { status, body } = await acme.messaging({ channel });
      const { code, details, message } = body as unknown as Refusal;
      assert.deepEqual([status, code], [400, 'UNSUPPORTED_CHANNEL'], channel);
      assert.match(message, /sms/);
      assert.deepEqual(details, [{ field: 'channel', message: 'must be sms' }]);
    }
    assert.equal(await countMessages(app, acme.id), before);
  });

  test('400: every bad field is listed, the channel among them', async () => {
    for (const wrong of [{ to: 'x' }, { to: 5 }, { to: undefined }, { validity_seconds: 1 }]) {
      const { status, body } = await acme.messaging({ ...wrong, channel: 'fax' });
      const { code, details } = body as unknown as Refusal;
      assert.deepEqual([status, code], [400, 'INVALID_ARGUMENT']);
      assert.deepEqual(new Set(details.map(({ field }) => field)), new Set(['channel', Object.keys(wrong)[0]]));
      assert.equal(details.length, 2);
      assert.equal(details.find(({ field }) => field === 'channel')?.message, 'must be sms');
    }
    for (const channel of [5, null, ['sms']]) {
      const { status, body } = await acme.messaging({ channel });
      const { code, details } = body as unknown as Refusal;
      assert.deepEqual([status, code, details[0]?.field], [400, 'INVALID_ARGUMENT', 'channel']);
    }
  });

  test('401 for the API key of the other API, 403 for a token of the other scope; nothing is sent', async () => {
    const before = await countMessages(app, acme.id);
    const verify = bearer(await getToken(app, acme.client, 'verify:manage'));
    for (const rest of ['', '/preview', '/batch']) {
      const body = { ...text, messages: [text] };
      assert.equal((await send(app, 'POST', path + rest, { body, headers: acme.key })).status, 401);
      assert.equal((await send(app, 'POST', path + rest, { body, headers: verify })).status, 403);
    }
    assert.equal((await send(app, 'POST', '/sms/v1/messages', { body: text, headers: acme.token })).status, 401);
    assert.equal(await countMessages(app, acme.id), before);
  });
});

describe('the other operations', () => {
  test('list, read and cancel see what was sent through this API by this application', async () => {
    const send_at = new Date(app.clock.nowMs() + 60_000).toISOString();
    const { body } = await acme.messaging({ reference: 'mine', send_at });
    await acme.sms({ reference: 'mine', send_at });
    await eve.messaging({ reference: 'mine', send_at });
    const list = await send<Page<TextRecord>>(app, 'GET', `${path}?reference=mine&to=+447700900123&status=scheduled`, {
      headers: acme.token,
    });
    assert.deepEqual([list.status, list.body], [200, { data: [body], next_cursor: null }]);
    assert.deepEqual(await read(body.id), body);
    for (const method of ['GET', 'DELETE']) {
      assert.equal((await send(app, method, `${path}/${body.id}`, { headers: eve.token })).status, 404);
      assert.equal((await send(app, method, `/sms/v1/messages/${body.id}`, { headers: acme.key })).status, 404);
    }
    const canceled = await send(app, 'DELETE', `${path}/${body.id}`, { headers: acme.token });
    assert.deepEqual([canceled.status, canceled.body.status], [200, 'canceled']);
    assert.equal((await send(app, 'DELETE', `${path}/${body.id}`, { headers: acme.token })).status, 409);
  });
});
