// Section 7 of the contract: the preview, and production without a carrier.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { createApplication, register, send, signUp } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';
import { countMessages, createSender, type Refusal, type Sender, text } from '../support/texts.ts';

describe('POST …/messages/preview', () => {
  let app: TestApp;
  let acme: Sender;
  before(async () => {
    app = await createTestApp({ delivery: 'held' });
    acme = await createSender(app);
  });
  after(() => app.close());

  const preview = (body: unknown, base = '/sms/v1/messages', headers = acme.key) =>
    send(app, 'POST', `${base}/preview`, { body, headers });

  test('200 {segments, offenders, with_smart_encoding}, the same through both APIs; sends nothing', async () => {
    const expected = {
      segments: { count: 2, encoding: 'UCS-2', characters: 72, remaining: 62 },
      offenders: [
        { character: '’', index: 0, substitute: "'" },
        { character: '…', index: 71, substitute: '...' },
      ],
      with_smart_encoding: { count: 1, encoding: 'GSM-7', characters: 74, remaining: 86 },
    };
    const body = { message: `’${'x'.repeat(70)}…` };
    const sms = await preview(body);
    assert.equal(sms.status, 200);
    assert.equal(JSON.stringify(sms.body), JSON.stringify(expected));
    assert.equal(sms.headers.get('location'), null);
    const messaging = await preview(body, '/messaging/v1/messages', acme.token);
    assert.deepEqual([messaging.status, messaging.body], [200, expected]);
    assert.equal(await countMessages(app, acme.id), 0);
  });

  test('what has no look-alike, and what is plain', async () => {
    const emoji = await preview({ message: 'Hi 👋' });
    assert.deepEqual(emoji.body.offenders, [{ character: '👋', index: 3, substitute: null }]);
    assert.deepEqual(emoji.body.segments, emoji.body.with_smart_encoding);
    assert.deepEqual((await preview({ message: 'Hi' })).body.offenders, []);
  });

  test('a preview gives the length of a text that is too long to be sent', async () => {
    const { status, body } = await preview({ message: 'x'.repeat(1531) });
    assert.equal(status, 200);
    assert.equal((body.segments as { count: number }).count, 11);
  });

  test('400 for no text, and for what no text can have', async () => {
    for (const body of [
      {},
      { message: '' },
      { message: 5 },
      { message: null },
      [],
      { message: 'a\0' },
      { message: '\ud83d' },
    ]) {
      const { status, body: error } = await preview(body);
      assert.equal(status, 400, JSON.stringify(body));
      assert.match((error as unknown as Refusal).details[0]?.field ?? '', /^(message|body)$/);
    }
  });
});

describe('production', () => {
  let app: TestApp;
  let key: Record<string, string>;
  let token: Record<string, string>;
  let applicationId: string;
  before(async () => {
    app = await createTestApp({ env: { HELIOGRAPH_ENV: 'production', HELIOGRAPH_SENDERS: 'open' } });
    const ada = await signUp(app);
    const operator = await createOperator(app);
    applicationId = await createApplication(ada);
    const sms = await register(ada, applicationId, 'sms', 'pro');
    const messaging = await register(ada, applicationId, 'messaging', 'pro');
    for (const { body } of [sms, messaging]) {
      await operator.send('POST', `/portal/v1/operator/registrations/${body.id}/approve`);
    }
    key = { apikey: sms.body.credential?.api_key ?? '' };
    const { client_id = '', client_secret = '' } = messaging.body.credential ?? {};
    token = bearer(await getToken(app, { client_id, client_secret }, 'messaging:send'));
  });
  after(() => app.close());

  test('without a carrier: 503 UNAVAILABLE with Retry-After, never a 201, and no row', async () => {
    const calls: [string, Record<string, string>, unknown][] = [
      ['/sms/v1/messages', key, text],
      ['/sms/v1/messages', { ...key, 'Idempotency-Key': 'k' }, text],
      ['/sms/v1/messages', { ...key, 'Idempotency-Key': 'k' }, text],
      ['/messaging/v1/messages', token, text],
      ['/messaging/v1/messages/batch', token, { messages: [{}, text] }],
      // Test numbers are ordinary numbers here.
      ['/sms/v1/messages', key, { ...text, to: '+15005550100' }],
    ];
    for (const [path, headers, body] of calls) {
      const answer = await send<Refusal>(app, 'POST', path, { body, headers });
      assert.deepEqual([answer.status, answer.body.code], [503, 'UNAVAILABLE'], path);
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9][0-9]*$/);
    }
    assert.equal(await countMessages(app, applicationId), 0);
    assert.equal((await app.db.database.query('select 1 from idempotency')).count, 0);
  });

  test('to: also refuses what libphonenumber calls impossible', async () => {
    const body = { ...text, to: '+4412345' };
    const answer = await send<Refusal>(app, 'POST', '/sms/v1/messages', { body, headers: key });
    assert.deepEqual([answer.status, answer.body.details[0]?.field], [400, 'to']);
  });

  test('a preview works; of the sandbox nothing exists', async () => {
    const preview = await send(app, 'POST', '/sms/v1/messages/preview', { body: { message: 'x' }, headers: key });
    assert.equal(preview.status, 200);
    for (const headers of [{}, key, token]) {
      for (const path of ['/sandbox/v1/inbox', '/sandbox/v1/inbox/stream']) {
        const answer = await send<Refusal>(app, 'GET', path, { headers });
        assert.deepEqual([answer.status, answer.body.code], [404, 'NOT_FOUND']);
      }
    }
  });
});
