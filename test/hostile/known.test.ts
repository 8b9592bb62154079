// What was once felt by other callers, or answered with a 500, request by request.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken } from '../support/applications.ts';
import { send, type TestDeveloper } from '../support/developer.ts';

let app: TestApp;
let developer: TestDeveloper;
let key: Record<string, string>;
let messaging: Record<string, string>;
let verify: Record<string, string>;
before(async () => {
  const most = { per_minute: 1_000_000, burst: 1_000_000 };
  app = await createTestApp({ env: { HELIOGRAPH_PLANS: JSON.stringify({ free: most }) }, delivery: 'held' });
  const acme = await createRegistered(app);
  developer = acme.developer;
  key = { apikey: acme.apiKey };
  messaging = bearer(await getToken(app, acme.client, 'messaging:send'));
  verify = bearer(await getToken(app, acme.client, 'verify:manage'));
});
after(() => app.close());

interface Refusal {
  code: string;
  message: string;
  details: { field: string; message: string }[];
}

async function refusalOf(path: string, json: string, headers: Record<string, string>, method = 'POST') {
  const response = await fetch(app.url + path, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: json,
  });
  const body = (await response.json()) as Refusal;
  assert.equal(response.status, 400, JSON.stringify(body).slice(0, 500));
  return body.details;
}

const preview = (message: string) => send(app, 'POST', '/sms/v1/messages/preview', { body: { message }, headers: key });

test('a preview has at most 3,060 characters, and names the first 100 offenders', async () => {
  for (const message of [`e${'\u0301'.repeat(30_000)}`, 'x'.repeat(3061), '😀'.repeat(3061)]) {
    const [problem, ...more] = await refusalOf('/sms/v1/messages/preview', JSON.stringify({ message }), key);
    assert.equal(problem?.field, 'message');
    assert.match(problem.message, /3060 characters/);
    assert.deepEqual(more, []);
  }
  const { status, body } = await preview('я'.repeat(3060));
  assert.equal(status, 200);
  assert.equal((body.offenders as unknown[]).length, 100);
});

test('the error of a text that is far too long says what would fit, in a send and in a batch', async () => {
  const text = { to: '+15005550100', from: 'ACME', message: 'ё'.repeat(20_000), smart_encoding: true };
  const [problem] = await refusalOf('/sms/v1/messages', JSON.stringify(text), key);
  assert.match(problem?.message ?? '', /10 segments \(1530 septets in GSM-7, 670 UTF-16 units in UCS-2\)/);
  const { status, body } = await send(app, 'POST', '/messaging/v1/messages/batch', {
    body: { messages: [text, { ...text, message: 'Hello' }] },
    headers: messaging,
  });
  assert.equal(status, 200);
  assert.deepEqual(body.summary, { accepted: 1, rejected: 1 });
});

test('an application name and an autofill domain of 60 kB are refused by their length', async () => {
  const name = JSON.stringify({ name: `${' '.repeat(60_000)}\u0001` });
  const [problem] = await refusalOf('/portal/v1/applications', name, { Cookie: developer.cookie });
  assert.deepEqual(problem, {
    field: 'name',
    message: 'must be a name (1–64 characters)',
  });
  const start = { to: '+15005550100', channel: 'sms', autofill: { domain: `${'ü'.repeat(20_000)}.example` } };
  const details = await refusalOf('/verify/v1/verifications', JSON.stringify(start), verify);
  assert.deepEqual(
    details.map(({ field }) => field),
    ['autofill.domain'],
  );
});

test('a nested autofill is refused, whatever else is in it', async () => {
  const nested = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
  const json = `{"to":"+15005550100","channel":"sms","autofill":{"domain":"example.com","more":${nested}}}`;
  const details = await refusalOf('/verify/v1/verifications', json, verify);
  assert.deepEqual(details, [{ field: 'body', message: 'must be nested at most 16 levels deep' }]);
});

test('NUL and half a surrogate pair are a 400 in known and unknown fields, and in names', async () => {
  const text = '"to":"+15005550100","from":"ACME","message":"Hello"';
  for (const [extra, field] of [
    ['"reference":"a\\u0000"', 'reference'],
    ['"unknown":{"deep":["\\ud800"]}', 'unknown.deep.0'],
    ['"\\u0000":1', '\ufffd'],
  ]) {
    const details = await refusalOf('/sms/v1/messages', `{${text},${extra}}`, key);
    assert.deepEqual(
      details.map((problem) => problem.field),
      [field],
    );
  }
  const fields = await refusalOf('/portal/v1/accounts', '{"email":"a@b.c","password":"\\udfff is my password"}', {});
  assert.equal(fields[0]?.field, 'password');
});

test('an item of a batch with a NUL fails alone', async () => {
  const item = { to: '+15005550100', from: 'ACME', message: 'Hello' };
  const { status, body } = await send<{ data: { error?: Refusal }[]; summary: object }>(
    app,
    'POST',
    '/messaging/v1/messages/batch',
    { body: { messages: [item, { ...item, message: 'a\0' }, { ...item, unknown: '\ud800' }] }, headers: messaging },
  );
  assert.equal(status, 200);
  assert.deepEqual(body.summary, { accepted: 1, rejected: 2 });
  assert.deepEqual(
    body.data.map(({ error }) => error?.details[0]?.field),
    [undefined, 'message', 'unknown'],
  );
});

test('a limit that is no plain number is a 400 on every list, and never a 500', async () => {
  for (const [path, headers] of [
    ['/sms/v1/messages', key],
    ['/verify/v1/verifications', verify],
    ['/portal/v1/applications', { Cookie: developer.cookie }],
    ['/sandbox/v1/inbox', key],
  ] as const) {
    for (const limit of ['Infinity', '-Infinity', '1e400', '9'.repeat(1000), '0x10', '%205', '5.0', '', '1&limit=2']) {
      const answer = await send<Refusal>(app, 'GET', `${path}?limit=${limit}`, { headers });
      assert.deepEqual([answer.status, answer.body.details[0]?.field], [400, 'limit'], `${path} ${limit}`);
    }
  }
});

test('a leap second is no time that a usage could begin at', async () => {
  const { body } = await developer.send('POST', '/portal/v1/applications', { name: 'Leap' });
  const path = `/portal/v1/applications/${body.id}/usage?from=2016-12-31T23:59:60Z`;
  const answer = await developer.send<Refusal>('GET', path);
  assert.deepEqual([answer.status, answer.body.details[0]?.field], [400, 'from']);
});
