// The assurance profile nist-800-63b-4: docs/assurance.md names each rule and its test here.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { type Answer, send } from '../support/developer.ts';
import { createProduction } from '../support/production.ts';
import { createSender, type Sender } from '../support/texts.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

const profile = 'nist-800-63b-4';
const hourMs = 3_600_000;
let answer = '{"decision":"allow"}';
const risk = createServer((_, response) => response.end(answer));
let app: TestApp;
let owner: Sender;
let acme: VerifyCaller;

before(async () => {
  await new Promise<void>((done) => risk.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(risk.address() as AddressInfo).port}/`;
  app = await createTestApp({ env: { HELIOGRAPH_RISK_URL: url } });
  owner = await createSender(app, { apis: ['verify'] });
  acme = await callerOf(owner);
  assert.equal((await setProfile(owner, profile)).body.assurance, profile);
});
after(async () => {
  await app.close();
  risk.closeAllConnections();
  await new Promise((done) => risk.close(done));
});

async function callerOf({ client }: Sender): Promise<VerifyCaller> {
  const like = { clientId: client.client_id, clientSecret: client.client_secret } as VerifyCaller;
  return createVerifyCaller(app, like);
}

interface Application {
  assurance: string;
  details?: { field: string; message: string }[];
}

function setProfile({ developer, id }: Sender, assurance: unknown): Promise<Answer<Application>> {
  return developer.send<Application>('PATCH', `/portal/v1/applications/${id}`, { assurance });
}

async function refusedFields(body: object): Promise<string[]> {
  const start = { to: acme.newNumber(), channel: 'sms', ...body };
  const refused = await acme.send<{ details: { field: string; message: string }[] }>(
    'POST',
    '/verify/v1/verifications',
    start,
  );
  assert.equal(refused.status, 400, JSON.stringify(refused.body));
  for (const { message } of refused.body.details) assert.match(message, /nist-800-63b-4|from 60 to 600/);
  return refused.body.details.map(({ field }) => field);
}

const claimsIn = ({ proof = '' }: Pick<VerificationBody, 'proof'>) =>
  JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('the setting', () => {
  test('standard by default, changed and read; others are a 400', async () => {
    const other = await createSender(app, { apis: ['verify'] });
    const read = await other.developer.send<Application>('GET', `/portal/v1/applications/${other.id}`);
    assert.equal(read.body.assurance, 'standard');
    assert.equal((await setProfile(other, profile)).body.assurance, profile);
    assert.equal((await setProfile(other, 'standard')).body.assurance, 'standard');
    for (const wrong of ['nist', null, 4]) {
      const { status, body } = await setProfile(other, wrong);
      assert.deepEqual([status, body.details?.[0]?.field], [400, 'assurance']);
    }
  });

  test('production refuses it without a risk check', async () => {
    const { app: node, createCaller } = await createProduction();
    const caller = await createCaller();
    const { status, body } = await setProfile(caller, profile);
    assert.deepEqual([status, body.details?.[0]?.field], [400, 'assurance']);
    assert.match(body.details?.[0]?.message ?? '', /HELIOGRAPH_RISK_URL/);
    assert.equal((await setProfile(caller, 'standard')).status, 200);
    await node.close();
  });
});

describe('a start', () => {
  test('fewer than six digits, more than ten minutes, a code of the caller, an Internet phone: 400 with the rule', async () => {
    assert.deepEqual(await refusedFields({ code_length: 5 }), ['code_length']);
    for (const channel of ['whatsapp', 'inbound']) assert.deepEqual(await refusedFields({ channel }), ['channel']);
    assert.deepEqual(await refusedFields({ ttl_seconds: 601 }), ['ttl_seconds']);
    const fallback = [{ channel: 'voice' }, { channel: 'whatsapp' }];
    assert.deepEqual(await refusedFields({ fallback }), ['fallback.1.channel']);
    assert.deepEqual(await refusedFields({ code: '482913' }), ['code']);
    assert.deepEqual(await refusedFields({ code: '4829' }), ['code_length', 'code']);
    assert.deepEqual(await refusedFields({ to: '+445600123456' }), ['to']);
  });

  test('a replay of one that was taken before the profile gives its answer', async () => {
    const other = await createSender(app, { apis: ['verify'] });
    const caller = await callerOf(other);
    const start = () =>
      caller.send(
        'POST',
        '/verify/v1/verifications',
        { to: '+447700900481', channel: 'whatsapp' },
        { 'idempotency-key': 'before' },
      );
    const first = await start();
    assert.equal(first.status, 200);
    await setProfile(other, profile);
    const again = await start();
    assert.deepEqual([again.status, again.body], [200, first.body]);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
  });

  test('the code has six digits by default, and lasts at most ten minutes', async () => {
    const { body } = await acme.start({ to: acme.newNumber() });
    assert.equal(body.code_length, 6);
    assert.ok(Date.parse(body.expires_at) - Date.parse(body.created_at) <= 600_000);
  });
});

describe('the claim', () => {
  test('is in the proof if every rule held', async () => {
    const { id, code } = await acme.pending();
    assert.equal(claimsIn((await acme.check(id, code)).body).assurance, profile);
    assert.equal(claimsIn((await acme.read(id)).body).assurance, profile);
  });

  test('not without an answer of the risk check, even if a resend gets one; not for a test number', async () => {
    answer = 'nothing';
    const { id, code, to } = await acme.pending();
    answer = '{"decision":"allow"}';
    app.clock.advance(3000);
    assert.equal((await acme.start({ to })).body.sends, 2);
    const { body } = await acme.check(id, code);
    assert.deepEqual([body.valid, 'assurance' in claimsIn(body)], [true, false]);
    const test = await acme.start({ to: '+15005550103' });
    assert.equal('assurance' in claimsIn((await acme.check(test.body.id, '123456')).body), false);
  });

  test('not where a resend got no answer, nor where the first send was made under the standard', async () => {
    const { id, code, to } = await acme.pending();
    app.clock.advance(61_000);
    answer = '';
    assert.equal((await acme.start({ to })).body.sends, 2);
    answer = '{"decision":"allow"}';
    assert.equal('assurance' in claimsIn((await acme.check(id, code)).body), false);
    await setProfile(owner, 'standard');
    const before = await acme.pending();
    const plain = await acme.pending();
    assert.equal('assurance' in claimsIn((await acme.check(plain.id, plain.code)).body), false);
    await setProfile(owner, profile);
    app.clock.advance(61_000);
    assert.equal((await acme.start({ to: before.to })).body.sends, 2);
    assert.equal('assurance' in claimsIn((await acme.check(before.id, before.code)).body), false);
  });

  test('a blocked number gets no code', async () => {
    answer = '{"decision":"block","reason":"sim_swap"}';
    const { body } = await acme.start({ to: acme.newNumber() });
    answer = '{"decision":"allow"}';
    assert.deepEqual([body.status, body.reason, body.delivery], ['blocked', 'risk', null]);
    const path = `/portal/v1/applications/${owner.id}/verifications/${body.id}`;
    const story = await owner.developer.send<{ timeline: { event: string; detail: string }[] }>('GET', path);
    assert.deepEqual(
      story.body.timeline.map(({ event, detail }) => [event, detail]),
      [
        ['risk', 'The risk check blocked the number (sim_swap)'],
        ['blocked', 'Blocked by the risk check. No text was sent.'],
      ],
    );
  });
});

test('a code works once', async () => {
  const { id, code } = await acme.pending();
  assert.equal((await acme.check(id, code)).body.valid, true);
  assert.equal((await acme.check(id, code)).status, 409);
});

test('a new code does not reset the failures: after 15 in a day the number is blocked', async () => {
  const to = acme.newNumber();
  for (let started = 0; started < 3; started++) {
    const { body } = await acme.start({ to });
    assert.equal(body.attempts_remaining, 5);
    const wrong = await acme.wrongCode(body.id, to);
    for (let tries = 0; tries < 5; tries++) await acme.check(body.id, wrong);
  }
  const blocked = await acme.start({ to });
  assert.deepEqual([blocked.body.status, blocked.body.reason], ['blocked', 'too_many_failures']);
  app.clock.advance(24 * hourMs + 1000);
  const token = bearer(await getToken(app, owner.client, 'verify:manage'));
  const later = await send<VerificationBody>(app, 'POST', '/verify/v1/verifications', {
    ...{ headers: token, body: { to, channel: 'sms' } },
  });
  assert.equal(later.body.status, 'pending');
});
