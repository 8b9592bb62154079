// The official package for Node, unmodified. What it sends and reads is Twilio's own; only its base address is ours.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTwilioCaller, otherCode } from './caller.ts';
import { assertShape } from './shapes.ts';
import { createTwilioWorld, libraryOf, type TwilioWorld } from './world.ts';

let world: TwilioWorld;
before(async () => {
  world = await createTwilioWorld({ env: { HELIOGRAPH_GUARD: JSON.stringify({ countries: ['GB', 'US'] }) } });
});
after(() => world.close());

const serviceOf = ({ client, acme }: TwilioWorld) => client.verify.v2.services(acme.account.service_sid);

/** What a program sees of a refusal: it reads the code, and gets the rest for its log. */
async function refusal(act: Promise<unknown>): Promise<[status: unknown, code: unknown]> {
  const error = await act.then(
    () => undefined,
    (thrown: { status?: number; code?: number; moreInfo?: string; message?: string }) => thrown,
  );
  assert.ok(error !== undefined && typeof error.message === 'string' && error.message !== '');
  assert.ok(error.code === undefined || error.moreInfo?.includes('/docs/errors/'));
  return [error.status, error.code];
}

describe('verifications', () => {
  test('a call, then WhatsApp: the same verification, each attempt with its channel', async () => {
    const { acme } = world;
    const service = serviceOf(world);
    const to = acme.newNumber();
    const called = await service.verifications.create({ to, channel: 'call', locale: 'en' });
    assert.deepEqual([called.channel, called.status], ['call', 'pending']);
    const { sid, channel, sendCodeAttempts } = await service.verifications.create({ to, channel: 'whatsapp' });
    assert.deepEqual([sid, channel], [called.sid, 'whatsapp']);
    assert.deepEqual(
      sendCodeAttempts.map((attempt) => (attempt as { channel: string }).channel),
      ['CALL', 'WHATSAPP'],
    );
    const [code = ''] = await acme.codes(to, 2);
    const checked = await service.verificationChecks.create({ to, code });
    assert.deepEqual([checked.status, checked.channel], ['approved', 'whatsapp']);
    assert.deepEqual(await refusal(service.verifications.create({ to, channel: 'voice' })), [400, 60200]);
  });

  test('start, check wrong and right by To', async () => {
    const { acme } = world;
    const service = serviceOf(world);
    const to = acme.newNumber();
    const started = await service.verifications.create({ to, channel: 'sms', locale: 'en', appHash: 'FA+9qCX9VSu' });
    assert.deepEqual([started.to, started.channel, started.status, started.valid], [to, 'sms', 'pending', false]);
    assert.equal(started.serviceSid, acme.account.service_sid);
    assert.ok(Math.abs(started.dateCreated.getTime() - world.app.clock.nowMs()) < 2000);
    const [code = ''] = await acme.codes(to);
    const wrong = await service.verificationChecks.create({ to, code: otherCode(code) });
    assert.deepEqual([wrong.sid, wrong.status, wrong.valid], [started.sid, 'pending', false]);
    const right = await service.verificationChecks.create({ to, code });
    assert.deepEqual([right.sid, right.status, right.valid], [started.sid, 'approved', true]);
    const read = await service.verifications(started.sid).fetch();
    assert.deepEqual([read.status, read.valid, read.url], ['approved', true, started.url]);
  });

  test('check by sid, cancel, read by number, feedback with CustomCode', async () => {
    const { acme } = world;
    const service = serviceOf(world);
    const [first, second, third] = [acme.newNumber(), acme.newNumber(), acme.newNumber()];
    const { sid } = await service.verifications.create({ to: first, channel: 'sms' });
    const [code = ''] = await acme.codes(first);
    assert.equal((await service.verificationChecks.create({ verificationSid: sid, code })).status, 'approved');
    const other = await service.verifications.create({ to: second, channel: 'sms', deviceIp: '203.0.113.7' });
    assert.equal((await service.verifications(second).fetch()).sid, other.sid);
    assert.equal((await service.verifications(other.sid).update({ status: 'canceled' })).status, 'canceled');
    const custom = await service.verifications.create({ to: third, channel: 'sms', customCode: '90210' });
    assert.deepEqual(await acme.codes(third), ['90210']);
    assert.equal((await service.verifications(custom.sid).update({ status: 'approved' })).valid, true);
  });
});

describe('messages', () => {
  test('send by sender and by messaging service, read, schedule, cancel', async () => {
    const { client, acme, app } = world;
    const to = acme.newNumber();
    const sent = await client.messages.create({ to, from: 'ACME', body: 'On its way.', smartEncoded: true });
    assert.deepEqual([sent.to, sent.from, sent.body, sent.numSegments], [to, 'ACME', 'On its way.', '1']);
    assert.ok(Math.abs(sent.dateCreated.getTime() - app.clock.nowMs()) < 2000);
    const read = await client.messages(sent.sid).fetch();
    assert.deepEqual([read.sid, read.direction, read.errorCode], [sent.sid, 'outbound-api', null]);
    const messagingServiceSid = acme.account.messaging_service_sid;
    const byService = await client.messages.create({ to, messagingServiceSid, body: 'On its way.' });
    assert.deepEqual([byService.from, byService.messagingServiceSid], ['ACME', messagingServiceSid]);
    const sendAt = new Date(app.clock.nowMs() + 3_600_000);
    const later = await client.messages.create({
      to,
      messagingServiceSid,
      body: 'Later.',
      sendAt,
      scheduleType: 'fixed',
    });
    assert.equal(later.status, 'scheduled');
    assert.equal((await client.messages(later.sid).update({ status: 'canceled' })).status, 'canceled');
  });

  test('list over three pages, and as far as the caller wants', async () => {
    const caller = await createTwilioCaller(world.app);
    const client = libraryOf(world.app, caller.account);
    for (let sent = 0; sent < 7; sent++)
      await client.messages.create({ to: '+447700900123', from: 'ACME', body: String(sent) });
    const all = await client.messages.list({ pageSize: 3 });
    assert.deepEqual(
      all.map(({ body }) => body),
      ['6', '5', '4', '3', '2', '1', '0'],
    );
    assert.equal((await client.messages.list({ limit: 4, pageSize: 3 })).length, 4);
    assert.equal((await client.messages.list({ to: '+447700900124' })).length, 0);
    const first = await client.messages.page({ pageSize: 3 });
    const second = await first.nextPage();
    assert.deepEqual(
      second?.instances.map(({ body }) => body),
      ['3', '2', '1'],
    );
  });

  test('an API key sid with the same token', async () => {
    const { app, acme } = world;
    const client = libraryOf(app, acme.account, acme.account.account_sid.replace(/^AC/, 'SK'));
    assert.ok((await client.messages.list({ limit: 1 })).length <= 1);
  });
});

describe('every refusal by its code', () => {
  test('400, 404, 405', async () => {
    const { client, acme } = world;
    const service = serviceOf(world);
    const start = (to: string, channel = 'sms') => service.verifications.create({ to, channel });
    const check = (to: string, code: string) => service.verificationChecks.create({ to, code });
    const to = acme.newNumber();
    assert.deepEqual(await refusal(start('me')), [400, 60200]);
    assert.deepEqual(await refusal(start(to, 'pigeon')), [400, 60200]);
    assert.deepEqual(await refusal(start('+33612345678')), [400, 60605]);
    assert.deepEqual(await refusal(start('+15005550112')), [400, 60410]);
    assert.deepEqual(await refusal(check(to, '123456')), [404, 20404]);
    await start(to);
    const [code = ''] = await acme.codes(to);
    assert.deepEqual(await refusal(check(to, 'abc')), [400, 60200]);
    for (let tries = 1; tries < 5; tries++) await check(to, otherCode(code));
    assert.deepEqual(await refusal(check(to, otherCode(code))), [400, 60202]);
    const often = acme.newNumber();
    for (let sends = 1; sends <= 5; sends++) {
      await start(often);
      world.app.clock.advance(2000);
    }
    assert.deepEqual(await refusal(start(often)), [400, 60203]);
    assert.deepEqual(await refusal(client.messages.create({ to: 'me', from: 'ACME', body: 'a' })), [400, 21211]);
    assert.deepEqual(await refusal(client.messages.create({ to, from: 'ACME', body: '' })), [400, 60200]);
    const sent = await client.messages.create({ to, from: 'ACME', body: 'a' });
    assert.deepEqual(await refusal(client.messages(sent.sid).remove()), [405, 20004]);
    assert.deepEqual(await refusal(client.messages(`SM${'0'.repeat(32)}`).fetch()), [404, 20404]);
    const stranger = client.verify.v2.services(`VA${'0'.repeat(32)}`);
    assert.deepEqual(await refusal(stranger.verifications.create({ to, channel: 'sms' })), [404, 20404]);
  });

  test('401 and 403', async () => {
    const { app, acme } = world;
    const wrong = libraryOf(app, { ...acme.account, auth_token: '0'.repeat(32) });
    assert.deepEqual(await refusal(wrong.messages.list({ limit: 1 })), [401, 20003]);
    const texting = await createTwilioCaller(app, { apis: ['sms'] });
    const client = libraryOf(app, texting.account);
    const { verifications } = client.verify.v2.services(texting.account.service_sid);
    assert.deepEqual(await refusal(verifications.create({ to: '+447700900123', channel: 'sms' })), [403, 20403]);
  });

  test('429 has no code: a program reads its status, and the message says how long to wait', async () => {
    const free = await createTwilioCaller(world.app, { plan: 'free' });
    const client = libraryOf(world.app, free.account);
    for (let sent = 0; sent < 60; sent++) await client.messages.list({ limit: 1, pageSize: 1 });
    assert.deepEqual(await refusal(client.messages.list({ limit: 1 })), [429, undefined]);
    assert.deepEqual(await refusal(client.messages.create({ to: '+447700900123', from: 'ACME', body: 'a' })), [
      429,
      undefined,
    ]);
  });
});

describe("shapes: the fields of Twilio's own description, each of its type", () => {
  test('a verification, a check, a message, a page of messages', async () => {
    const { acme } = world;
    const To = acme.newNumber();
    const started = await acme.post<{ sid: string }>(`${acme.verify}/Verifications`, { To, Channel: 'sms' });
    assertShape('verification', started.body);
    assertShape('verification', (await acme.get(`${acme.verify}/Verifications/${started.body.sid}`)).body);
    const [Code = ''] = await acme.codes(To);
    assertShape('check', (await acme.post(`${acme.verify}/VerificationCheck`, { To, Code })).body);
    const sent = await acme.post<{ sid: string }>(`${acme.messages}.json`, { To, From: 'ACME', Body: 'a' });
    assertShape('message', sent.body);
    assertShape('message', (await acme.get(`${acme.messages}/${sent.body.sid}.json`)).body);
    const { body } = await acme.get<{ messages: unknown[] }>(`${acme.messages}.json?PageSize=1`);
    assertShape('page', body);
    for (const message of body.messages) assertShape('message', message);
  });

  test('no field that the library reads is missing', async () => {
    const { client, acme } = world;
    const service = serviceOf(world);
    const started = await service.verifications.create({ to: '+15005550100', channel: 'sms' });
    const checked = await service.verificationChecks.create({ to: '+15005550100', code: '123456' });
    const sent = await client.messages.create({ to: acme.newNumber(), from: 'ACME', body: 'a' });
    for (const read of [started, checked, sent])
      for (const [field, value] of Object.entries(read.toJSON())) assert.notEqual(value, undefined, field);
  });
});
