// Status callbacks as a developer's endpoint sees them: Twilio's fields, its signature by the official package, repeats.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { minuteMs } from '../../src/platform/clock.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { idOf, sidOf } from '../../src/twilio/sid.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { assertTwilioError, createTwilioCaller, type NewAccountBody, type TwilioCaller } from './caller.ts';
import { validatesInPython } from './python.ts';
import { answerWith, createStatusReceiver, isSigned, type StatusReceiver, taken } from './status-receiver.ts';

let app: TestApp;
let acme: TwilioCaller;
let receiver: StatusReceiver;
before(async () => {
  app = await createTestApp();
  acme = await createTwilioCaller(app);
  receiver = await createStatusReceiver();
});
afterEach(() => {
  receiver.respond = taken;
});
after(async () => {
  await receiver.close();
  await app.close();
});

async function text(more: Record<string, string> = {}, caller = acme): Promise<string> {
  const form = { To: caller.newNumber(), From: 'ACME', Body: 'On its way.', StatusCallback: receiver.url, ...more };
  const { status, body } = await caller.post<{ sid: string }>(`${caller.messages}.json`, form);
  assert.equal(status, 201, JSON.stringify(body));
  return body.sid;
}
const statusesOf = (requests: { form: Record<string, string> }[]) => requests.map(({ form }) => form.MessageStatus);
/** The calls about these texts that wait for another attempt, or for their first. */
async function waitingCalls(...sids: string[]) {
  const { rows } = await app.db.database.query<{ attempts: number; isFree: boolean }>(
    'select attempts, leased_until is null as "isFree" from status_call where message_id = any($1)',
    [sids.map((sid) => uuidOf(idOf('SM', sid) ?? ''))],
  );
  return rows;
}
const noneWaits = (sid: string) => eventually('no call waits', async () => (await waitingCalls(sid)).length === 0);

describe('what an endpoint receives', () => {
  test('sent and delivered, each once, with the fields and the signature of Twilio', async () => {
    const To = acme.newNumber();
    const url = `${receiver.url}/texts?order=12%2034&shop=caf%C3%A9`;
    const sid = await text({ To, StatusCallback: url });
    const [sent] = await receiver.about(sid, 1);
    app.clock.advance(100);
    const all = await receiver.about(sid, 2);
    await noneWaits(sid);
    assert.deepEqual(statusesOf(receiver.requests.filter(({ form }) => form.MessageSid === sid)), [
      'sent',
      'delivered',
    ]);
    assert.ok(sent);
    assert.equal(sent.method, 'POST');
    assert.equal(sent.url, url);
    assert.match(String(sent.headers['content-type']), /^application\/x-www-form-urlencoded/);
    assert.deepEqual(sent.form, {
      AccountSid: acme.account.account_sid,
      ApiVersion: '2010-04-01',
      From: 'ACME',
      MessageSid: sid,
      MessageStatus: 'sent',
      SmsSid: sid,
      SmsStatus: 'sent',
      To,
    });
    for (const request of all) {
      assert.ok(isSigned(acme.account.auth_token, request));
      assert.ok(!isSigned('0'.repeat(32), request));
      assert.ok(!isSigned(acme.account.auth_token, { ...request, form: { ...request.form, To: '+447700900000' } }));
      assert.ok(!isSigned(acme.account.auth_token, { ...request, url: `${url}&a=b` }));
    }
    const signature = String(sent.headers['x-twilio-signature']);
    assert.ok(await validatesInPython(acme.account.auth_token, url, signature, sent.body), "Python's library too");
    assert.notEqual(all[0]?.headers['i-twilio-idempotency-token'], all[1]?.headers['i-twilio-idempotency-token']);
  });

  test('the address is called and signed as the URL standard writes it', async () => {
    const { port } = new URL(receiver.url);
    const sid = await text({ StatusCallback: `HTTP://LOCALHOST:${port}/a b/é?q=ü` });
    const [request] = await receiver.about(sid, 1);
    assert.equal(request?.url, `http://localhost:${port}/a%20b/%C3%A9?q=%C3%BC`);
    assert.ok(request && isSigned(acme.account.auth_token, request));
  });

  test('undelivered, failed and canceled, with ErrorCode where there is one', async () => {
    const undelivered = await text({ To: '+15005550111' });
    await receiver.about(undelivered, 1);
    app.clock.advance(100);
    const [, end] = await receiver.about(undelivered, 2);
    assert.equal(end?.form.MessageStatus, 'undelivered');
    assert.match(end?.form.ErrorCode ?? '', /^30\d\d\d$/);
    assert.notEqual(end?.form.ErrorMessage ?? '', '');
    const failed = await text({ To: '+15005550114' });
    assert.deepEqual(statusesOf(await receiver.about(failed, 1)), ['failed']);
    const SendAt = new Date(app.clock.nowMs() + 3_600_000).toISOString();
    const later = await text({ SendAt, ScheduleType: 'fixed' });
    assert.equal((await acme.post(`${acme.messages}/${later}.json`, { Status: 'canceled' })).status, 200);
    assert.deepEqual(statusesOf(await receiver.about(later, 1)), ['canceled']);
  });

  test('a text that fails as it is written: refused with 21610, and reported', async () => {
    const To = acme.newNumber();
    const path = `/sms/v1/opt-outs/${encodeURIComponent(To)}`;
    assert.equal((await send(app, 'PUT', path, { headers: acme.key })).status, 200);
    const form = { To, From: 'ACME', Body: 'a', StatusCallback: receiver.url };
    assertTwilioError(await acme.post(`${acme.messages}.json`, form), { status: 400, code: 21610 });
    const request = await eventually('the callback', () => receiver.requests.find((each) => each.form.To === To));
    assert.deepEqual([request.form.MessageStatus, request.form.ErrorCode], ['failed', '21610']);
  });

  test('a text without an address makes no call', async () => {
    const { body } = await acme.sms();
    await eventually('it was sent', async () => (await acme.readSms(body.id)).status === 'sent');
    const sid = sidOf('SM', body.id);
    assert.deepEqual(await waitingCalls(sid), []);
    assert.ok(receiver.requests.every(({ form }) => form.MessageSid !== sid));
  });
});

describe('repeats', () => {
  for (const [name, status, headers] of [
    ['500', 500, {}],
    ['a redirect, which is not followed', 302, { location: '/elsewhere' }],
  ] as const)
    test(`after 5 s, 30 s, 2 min and 10 min, then no more: ${name}`, async () => {
      receiver.respond = answerWith(status, headers);
      const sid = await text({ To: '+15005550114' });
      const [first] = await receiver.about(sid, 1);
      let attempts = 1;
      for (const waitMs of [5000, 30_000, 2 * minuteMs, 10 * minuteMs]) {
        await eventually('the attempt is recorded', async () => {
          const [call] = await waitingCalls(sid);
          return call?.attempts === attempts && call.isFree;
        });
        app.clock.advance(waitMs * 0.9 - 1);
        await new Promise((done) => setTimeout(done, 50));
        assert.equal((await receiver.about(sid, attempts)).length, attempts, `not before ${waitMs} ms`);
        app.clock.advance(waitMs * 0.2 + 2);
        attempts++;
        await receiver.about(sid, attempts);
      }
      await noneWaits(sid);
      const all = await receiver.about(sid, 5);
      assert.equal(all.length, 5);
      for (const each of all) {
        assert.deepEqual([each.url, each.form], [first?.url, first?.form]);
        assert.equal(each.headers['i-twilio-idempotency-token'], first?.headers['i-twilio-idempotency-token']);
      }
    });

  test('a success ends them', async () => {
    receiver.respond = answerWith(503);
    const sid = await text({ To: '+15005550114' });
    await receiver.about(sid, 1);
    receiver.respond = taken;
    await eventually('the second attempt', () => {
      app.clock.advance(6000);
      return receiver.requests.filter(({ form }) => form.MessageSid === sid).length === 2;
    });
    await noneWaits(sid);
  });
});

describe('credentials', () => {
  test('the newest token signs as soon as it exists', async () => {
    const caller = await createTwilioCaller(app);
    const { body } = await caller.developer.send<NewAccountBody>('POST', `${caller.path}/tokens`, {
      overlap_seconds: 600,
    });
    const [request] = await receiver.about(await text({}, caller), 1);
    assert.ok(request && isSigned(body.auth_token, request));
    assert.ok(request && !isSigned(caller.account.auth_token, request));
  });

  test('without a token nothing can be signed: what waits is dropped', async () => {
    const caller = await createTwilioCaller(app);
    receiver.respond = answerWith(500);
    const sid = await text({}, caller);
    await receiver.about(sid, 1);
    assert.equal((await caller.developer.send('DELETE', caller.path)).status, 204);
    await eventually('it is dropped', async () => {
      app.clock.advance(6000);
      return (await waitingCalls(sid)).length === 0;
    });
    assert.equal((await receiver.about(sid, 1)).length, 1);
  });

  test('calls of a deleted application are dropped, those of a disabled account wait', async () => {
    const operator = await createOperator(app);
    const [gone, unpaid] = [await createTwilioCaller(app), await createTwilioCaller(app)];
    receiver.respond = answerWith(500);
    const sids = [await text({ To: '+15005550114' }, gone), await text({ To: '+15005550114' }, unpaid)] as const;
    for (const sid of sids) await receiver.about(sid, 1);
    await eventually(
      'both wait',
      async () => (await waitingCalls(...sids)).filter(({ isFree }) => isFree).length === 2,
    );
    assert.equal((await gone.developer.send('DELETE', `/portal/v1/applications/${gone.id}`)).status, 204);
    const { body } = await unpaid.developer.send<{ id: string }>('GET', '/portal/v1/me');
    const account = `/portal/v1/operator/accounts/${body.id}`;
    assert.equal((await operator.send('POST', `${account}/disable`, { reason: 'unpaid' })).status, 200);
    receiver.respond = taken;
    await eventually('one is dropped', async () => {
      app.clock.advance(6000);
      return (await waitingCalls(...sids)).length === 1;
    });
    for (const sid of sids) assert.equal((await receiver.about(sid, 1)).length, 1);
    assert.equal((await operator.send('POST', `${account}/enable`)).status, 200);
    await receiver.about(sids[1], 2);
    await noneWaits(sids[1]);
  });
});
