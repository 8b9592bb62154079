// Section 7 of the contract: a number may be written with separators, in every body and filter, and is shown without.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { createSender, type Page, type Sender, type TextRecord } from '../support/texts.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

const plain = '+447700900123';
const forms = ['+44 7700 900123', '+44-7700-900-123', '+44.7700.900123', '+44 (7700) 900-123'];
const wrong = [
  '+44 7700 900123 ',
  ' +447700900123',
  '+ 447700900123',
  '+44/7700900123',
  `+44${' '.repeat(30)}7700900123`,
];

let app: TestApp;
let sender: Sender;
let acme: VerifyCaller;
before(async () => {
  app = await createTestApp();
  sender = await createSender(app);
  acme = await createVerifyCaller(app);
});
after(() => app.close());

test('a send, a batch and a start show plus and digits', async () => {
  for (const to of forms) {
    assert.equal((await sender.sms({ to })).body.to, plain);
    assert.equal((await sender.messaging({ to })).body.to, plain);
  }
  const batch = await send<{ data: TextRecord[]; summary: object }>(app, 'POST', '/messaging/v1/messages/batch', {
    headers: sender.token,
    body: { messages: [...forms, ...wrong].map((to) => ({ to, from: 'ACME', message: 'Hello' })) },
  });
  assert.deepEqual(batch.body.summary, { accepted: forms.length, rejected: wrong.length });
  assert.ok(batch.body.data.slice(0, forms.length).every(({ to }) => to === plain));
  assert.equal((await acme.start({ to: forms[0] })).body.to, plain);
});

test('whatever way a number is written, it has one verification, one count and one block list', async () => {
  const [first, ...others] = forms.map((form) => form.replace('123', '456'));
  const { body } = await acme.start({ to: first });
  for (const to of others) assert.equal((await acme.start({ to })).body.id, body.id);
  const explained = await acme.send<{ rules: { rule: string; seen: unknown }[] }>('POST', '/verify/v1/guard/explain', {
    to: others[0],
  });
  assert.equal(explained.body.rules.find(({ rule }) => rule === 'destination_limit')?.seen, 1);
  assert.equal((await acme.start({ to: '+1 (500) 555-0112' })).body.reason, 'block_list');
});

test('400 on to for what is no number, in every body', async () => {
  for (const to of wrong) {
    const answers = await Promise.all([
      sender.sms({ to }),
      sender.messaging({ to }),
      acme.send('POST', '/verify/v1/verifications', { to, channel: 'sms' }),
      acme.send('POST', '/verify/v1/guard/explain', { to }),
    ]);
    for (const { status, body } of answers) {
      const { details } = body as unknown as { details: { field: string }[] };
      assert.deepEqual([status, details.map(({ field }) => field)], [400, ['to']], to);
    }
  }
});

test('every filter reads a number as bodies do, with the plus encoded or not; what is none finds nothing', async () => {
  const to = '+447700900789';
  await sender.sms({ to });
  await sender.messaging({ to });
  const { body: started } = await acme.start({ to });
  await acme.texts(to, 1);
  const get = (path: string, headers: Record<string, string>) =>
    send<Page<{ to: string }>>(app, 'GET', path, { headers });
  const lists = (query: string) =>
    Promise.all([
      get(`/sms/v1/messages?${query}`, sender.key),
      get(`/messaging/v1/messages?${query}`, sender.token),
      acme.send<Page<{ to: string }>>('GET', `/verify/v1/verifications?${query}`),
      acme.send<Page<{ to: string }>>('GET', `/verify/v1/verifications?status=pending&${query}`),
      acme.send<Page<{ to: string }>>('GET', `/sandbox/v1/inbox?${query}`),
    ]);
  for (const form of [to, '+44 7700 900789', '+44 (7700) 900-789', '+44.7700.900.789']) {
    for (const query of [`to=${encodeURIComponent(form)}`, `to=${form.replaceAll(' ', '%20')}`]) {
      for (const { status, body } of await lists(query)) {
        assert.equal(status, 200);
        assert.deepEqual(
          body.data.map((each) => each.to),
          [to],
          query,
        );
      }
    }
  }
  for (const query of ['to=x', 'to=', 'to=%2B44%207700%20900789%20', 'to=%EF%BF%BD']) {
    for (const { status, body } of await lists(query)) assert.deepEqual([status, body.data], [200, []], query);
  }
  for (const { status } of await lists('to=%00')) assert.equal(status, 400);
  assert.equal(started.to, to);
});

test('an Idempotency-Key is bound to the number as it was written', async () => {
  const start = (to: string) =>
    acme.send('POST', '/verify/v1/verifications', { to, channel: 'sms' }, { 'idempotency-key': 'written' });
  assert.equal((await start('+447700900321')).status, 200);
  assert.equal((await start('+44 7700 900321')).status, 422);
});
