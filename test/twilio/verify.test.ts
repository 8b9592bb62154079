// run: on both lanes
// Twilio's Verify API over ours: every row of the table in section 19 of the contract that is about verifications.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { idOf } from '../../src/twilio/sid.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { send } from '../support/developer.ts';
import type { VerificationBody } from '../support/verify-caller.ts';
import { assertTwilioError, createTwilioCaller, otherCode, type TwilioCaller } from './caller.ts';

let app: TestApp;
let acme: TwilioCaller;
let token: Record<string, string>;
before(async () => {
  app = await createTestApp({
    env: { HELIOGRAPH_GUARD: JSON.stringify({ countries: ['GB', 'DE'], blocked: ['+4477009001'] }) },
  });
  acme = await createTwilioCaller(app);
  token = bearer(await getToken(app, acme.client, 'verify:manage'));
});
after(() => app.close());

interface Shown {
  sid: string;
  to: string;
  channel: string;
  status: string;
  valid: boolean;
  send_code_attempts: { time: string; channel: string; attempt_sid: string }[];
  url: string;
}

const begin = (form: Record<string, string>) => acme.post<Shown>(`${acme.verify}/Verifications`, form);
const start = (form: Record<string, string>) => begin({ Channel: 'sms', ...form });
const check = (form: Record<string, string>) => acme.post<Shown>(`${acme.verify}/VerificationCheck`, form);
const update = (which: string, Status: string) => acme.post<Shown>(`${acme.verify}/Verifications/${which}`, { Status });
const read = (which: string) => acme.get<Shown>(`${acme.verify}/Verifications/${which}`);
const native = async (sid: string) => {
  const path = `/verify/v1/verifications/${idOf('VE', sid)}`;
  return (await send<VerificationBody>(app, 'GET', path, { headers: token })).body;
};

/** A fresh verification, with its code as its owner reads it on the phone. */
async function pending(form: Record<string, string> = {}) {
  const To = acme.newNumber();
  const { status, body } = await start({ To, ...form });
  assert.equal(status, 201, JSON.stringify(body));
  const [code = ''] = await acme.codes(To);
  return { To, sid: body.sid, code, body };
}

const notFound = { status: 404, code: 20404 };
const invalid = { status: 400, code: 60200 };

describe('start', () => {
  test('201 is the verification of the native API, with Location; url leads to it', async () => {
    const To = acme.newNumber();
    const { status, headers, body } = await start({ To, Tags: '{"a":1}', RateLimits: '{"b":"c"}' });
    assert.equal(status, 201);
    assert.equal(headers.get('location'), `/verify/v1/verifications/${idOf('VE', body.sid)}`);
    assert.deepEqual([body.to, body.channel, body.status, body.valid], [To, 'sms', 'pending', false]);
    assert.equal(body.send_code_attempts.length, 1);
    assert.equal(body.url, `${app.config.publicUrl}/twilio${acme.verify}/Verifications/${body.sid}`);
    const record = await native(body.sid);
    assert.deepEqual([record.to, record.status, record.sends], [To, 'pending', 1]);
    assert.deepEqual((await read(body.sid)).body, body);
    assert.deepEqual((await read(encodeURIComponent(To))).body, body);
    assert.deepEqual((await read(To)).body, body, 'a plus in a path is a plus');
  });

  test('201 within the resend time leaves send_code_attempts as they are; later there is one more, newest last', async () => {
    const { To, sid, body } = await pending();
    const again = await start({ To });
    assert.equal(again.status, 201);
    assert.deepEqual([again.body.sid, again.body.send_code_attempts], [sid, body.send_code_attempts]);
    app.clock.advance(2000);
    const later = await start({ To });
    assert.deepEqual([later.body.sid, later.body.send_code_attempts.length], [sid, 2]);
    assert.deepEqual(later.body.send_code_attempts[0], body.send_code_attempts[0]);
  });

  test('call and whatsapp: each attempt has its channel, in the answer and in a read', async () => {
    const To = acme.newNumber();
    const attempts = ({ body }: { body: Shown }) => body.send_code_attempts.map(({ channel }) => channel);
    const called = await start({ To, Channel: 'call', Locale: 'de' });
    assert.equal(called.status, 201);
    assert.deepEqual([called.body.channel, attempts(called)], ['call', ['CALL']]);
    const texted = await start({ To, Channel: 'whatsapp' });
    assert.deepEqual([texted.body.sid, texted.body.channel], [called.body.sid, 'whatsapp']);
    assert.deepEqual(attempts(texted), ['CALL', 'WHATSAPP']);
    const last = await start({ To, Channel: 'sms' });
    assert.deepEqual([last.body.channel, attempts(last)], ['sms', ['CALL', 'WHATSAPP', 'SMS']]);
    assert.deepEqual((await read(last.body.sid)).body, last.body);
    const { deliveries } = await native(last.body.sid);
    assert.deepEqual(
      deliveries.map(({ channel }) => channel),
      ['voice', 'whatsapp', 'sms'],
    );
    const [code = ''] = await acme.codes(To, 3);
    const checked = await check({ To, Code: code });
    assert.deepEqual([checked.body.status, checked.body.channel], ['approved', 'sms']);
    assert.deepEqual(attempts(await read(last.body.sid)), ['CALL', 'WHATSAPP', 'SMS']);
  });

  test('400, 60203: a sixth send', async () => {
    const { To, sid } = await pending();
    for (let sends = 2; sends <= 5; sends++) {
      app.clock.advance(2000);
      assert.equal((await start({ To })).body.send_code_attempts.length, sends);
    }
    app.clock.advance(2000);
    const sixth = await start({ To });
    assertTwilioError(sixth, { status: 400, code: 60203 });
    assert.equal(sixth.headers.get('location'), `/verify/v1/verifications/${idOf('VE', sid)}`);
    assert.equal((await native(sid)).sends, 5);
  });

  test('201: a start whose code expires before it could be sent again is no sixth send', async () => {
    const { To, sid } = await pending({ CustomCode: '4829137' });
    app.clock.advance(595_000);
    assert.equal((await start({ To, CustomCode: '4829137' })).body.send_code_attempts.length, 2);
    const again = await start({ To, CustomCode: '4829137' });
    assert.deepEqual([again.status, again.body.sid, again.body.send_code_attempts.length], [201, sid, 2]);
  });

  test('400, 60200: Channel inbound, which sends nothing, does not replace a code', async () => {
    const { To, sid } = await pending();
    const refused = await start({ To, Channel: 'inbound' });
    assertTwilioError(refused, invalid);
    assert.match(String((refused.body as unknown as { message: string }).message), /: Channel /);
    assert.equal((await native(sid)).status, 'pending');
  });

  test('400, 60200: without a Channel, the message names those of Twilio', async () => {
    const refused = await begin({ To: acme.newNumber() });
    assertTwilioError(refused, invalid);
    assert.match(String((refused.body as unknown as { message: string }).message), /sms, call or whatsapp/);
  });

  test('CustomCode is the code of the text, DeviceIp and Locale are taken', async () => {
    const { code, sid, body } = await pending({ CustomCode: '4829137', Locale: 'de', DeviceIp: '203.0.113.7' });
    assert.equal(code, '4829137');
    assert.ok(!JSON.stringify(body).includes('4829137'));
    assert.equal((await native(sid)).code_length, 7);
  });

  test('400, 60200: every bad parameter is named as the caller knows it', async () => {
    const To = acme.newNumber();
    const wrong: [Record<string, string>, RegExp][] = [
      [{ To: '' }, /: To /],
      [{ To: '07700900123' }, /: To /],
      [{ To: 'x'.repeat(65) }, /: To must have at most/],
      [{ To: '+4477\0' }, /: To must not contain/],
      [{ To, Channel: '' }, /: Channel /],
      [{ To, Channel: 'pigeon' }, /: Channel /],
      [{ To, Channel: 'SMS' }, /: Channel must be sms, call or whatsapp/],
      [{ To, Channel: 'voice' }, /: Channel must be sms, call or whatsapp/],
      [{ To, Channel: 'inbound' }, /: Channel /],
      [{ To, Locale: 'de_DE' }, /: Locale /],
      [{ To, CustomCode: '12' }, /: CustomCode /],
      [{ To, CustomCode: 'abcdef' }, /: CustomCode /],
      [{ To, AppHash: 'short' }, /: AppHash /],
      [{ To, Amount: '10', Payee: 'me' }, /: Amount is not supported/],
      [{ To, CustomFriendlyName: 'Bank' }, /: CustomFriendlyName is not supported/],
      [{ To, TemplateSid: 'HJ1' }, /: TemplateSid is not supported/],
    ];
    for (const [form, named] of wrong) {
      const answer = await start(form);
      assertTwilioError(answer, invalid);
      assert.match(String((answer.body as unknown as { message: string }).message), named, JSON.stringify(form));
    }
    const missing = await acme.post(`${acme.verify}/Verifications`, { To });
    assertTwilioError(missing, invalid);
    const twice = await acme.post(`${acme.verify}/Verifications`, [
      ['To', To],
      ['To', To],
      ['Channel', 'sms'],
    ]);
    assertTwilioError(twice, invalid);
    assertTwilioError(await read(encodeURIComponent(To)), notFound);
  });

  test('400, 60605, 60205 or 60410: the guard blocks; the record exists, and says why', async () => {
    const blocked: [string, number, string][] = [
      ['+33612345678', 60605, 'country_not_allowed'],
      ['+447700900155', 60410, 'block_list'],
    ];
    for (const [To, code, reason] of blocked) {
      const answer = await start({ To });
      assertTwilioError(answer, { status: 400, code });
      const path = answer.headers.get('location') ?? '';
      const { body } = await send<VerificationBody>(app, 'GET', path, { headers: token });
      assert.deepEqual([body.status, body.reason], ['blocked', reason]);
      assertTwilioError(await check({ To, Code: '123456' }), notFound);
    }
  });
});

describe('check', () => {
  test('200: wrong is pending and spends a try, right is approved; by To and by sid', async () => {
    const first = await pending();
    const wrong = await check({ To: first.To, Code: otherCode(first.code) });
    assert.deepEqual([wrong.status, wrong.body.status, wrong.body.valid], [200, 'pending', false]);
    assert.equal((await native(first.sid)).attempts, 1);
    const right = await check({ To: first.To, Code: first.code });
    assert.deepEqual([right.status, right.body.status, right.body.valid], [200, 'approved', true]);
    const second = await pending();
    const bySid = await check({ VerificationSid: second.sid, Code: second.code });
    assert.deepEqual([bySid.body.sid, bySid.body.status, bySid.body.valid], [second.sid, 'approved', true]);
    assert.equal((await read(second.sid)).body.valid, true);
  });

  test('404, 20404: approved before, canceled, expired, never started', async () => {
    const approved = await pending();
    await check({ To: approved.To, Code: approved.code });
    const canceled = await pending();
    await update(canceled.sid, 'canceled');
    const expired = await pending();
    app.clock.advance(600_000);
    for (const { To, code, sid } of [approved, canceled, expired]) {
      assertTwilioError(await check({ To, Code: code }), notFound);
      assertTwilioError(await check({ VerificationSid: sid, Code: code }), notFound);
    }
    assertTwilioError(await check({ To: acme.newNumber(), Code: '123456' }), notFound);
    assert.equal((await read(expired.sid)).body.status, 'failed');
    assert.equal((await read(canceled.sid)).body.status, 'canceled');
  });

  test('400, 60202: the last try failed, and the right code does not help', async () => {
    const { To, code, sid } = await pending();
    for (let tries = 1; tries < 5; tries++)
      assert.equal((await check({ To, Code: otherCode(code) })).body.status, 'pending');
    assertTwilioError(await check({ To, Code: otherCode(code) }), { status: 400, code: 60202 });
    assertTwilioError(await check({ To, Code: code }), { status: 400, code: 60202 });
    assert.equal((await read(sid)).body.status, 'failed');
  });

  test('400, 60200: a bad code or number spends no try', async () => {
    const { To, sid } = await pending();
    for (const form of [
      { To },
      { To, Code: '' },
      { To, Code: '12' },
      { To, Code: 'abcdef' },
      { To, Code: '12345678901' },
      { Code: '123456' },
      { To: 'me', Code: '123456' },
    ])
      assertTwilioError(await check(form as Record<string, string>), invalid);
    assertTwilioError(await check({ VerificationSid: 'VE1', Code: '123456' }), notFound);
    assert.equal((await native(sid)).attempts, 0);
  });

  test('many right codes at once approve once, all others are 404', async () => {
    const { To, code } = await pending();
    const answers = await Promise.all(Array.from({ length: 20 }, () => check({ To, Code: code })));
    assert.deepEqual(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [200, ...Array(19).fill(404)],
    );
  });
});

describe('update', () => {
  test('canceled: 200, then 404', async () => {
    const { sid, To } = await pending();
    const answer = await update(encodeURIComponent(To), 'canceled');
    assert.deepEqual([answer.status, answer.body.sid, answer.body.status], [200, sid, 'canceled']);
    assertTwilioError(await update(sid, 'canceled'), notFound);
  });

  test('approved reports that a CustomCode was right, and is refused for a code of ours', async () => {
    const given = await pending({ CustomCode: '482913' });
    const answer = await update(given.sid, 'approved');
    assert.deepEqual([answer.status, answer.body.status, answer.body.valid], [200, 'approved', true]);
    assertTwilioError(await update(given.sid, 'approved'), notFound);
    const late = await pending({ CustomCode: '482914' });
    app.clock.advance(600_000);
    assertTwilioError(await update(late.sid, 'approved'), notFound);
    const ours = await pending();
    assertTwilioError(await update(ours.sid, 'approved'), invalid);
    assert.equal((await native(ours.sid)).status, 'pending');
  });

  test('400 for another status, 404 for what is not there', async () => {
    const { sid } = await pending();
    for (const status of ['', 'failed', 'APPROVED', 'x'.repeat(65)])
      assertTwilioError(await update(sid, status), invalid);
    assertTwilioError(await update(`VE${'0'.repeat(32)}`, 'canceled'), notFound);
    assertTwilioError(await update('nobody', 'canceled'), notFound);
  });
});

test("404, 20404: another application's service and verifications", async () => {
  const stranger = await createTwilioCaller(app);
  const { sid, To, code } = await pending();
  for (const which of [sid, encodeURIComponent(To)]) {
    assertTwilioError(await stranger.get(`${stranger.verify}/Verifications/${which}`), notFound);
    assertTwilioError(await stranger.get(`${acme.verify}/Verifications/${which}`), notFound);
  }
  for (const form of [
    { To, Code: code },
    { VerificationSid: sid, Code: code },
  ]) {
    assertTwilioError(await stranger.post(`${stranger.verify}/VerificationCheck`, form), notFound);
    assertTwilioError(await stranger.post(`${acme.verify}/VerificationCheck`, form), notFound);
  }
  assertTwilioError(await stranger.post(`${stranger.verify}/Verifications/${sid}`, { Status: 'canceled' }), notFound);
  assertTwilioError(await stranger.post(`${acme.verify}/Verifications`, { To, Channel: 'sms' }), notFound);
  assert.equal((await native(sid)).attempts, 0);
});
