// Opt-outs of an application in the portal, by the API's own rules, and stop words among inbound texts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { send, signUp } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';

interface OptOut {
  number: string;
  source: string;
  word: string | null;
}

const number = '+447700900177';
let app: TestApp;
let acme: TestApplication;
before(async () => {
  app = await createTestApp();
  acme = await createRegistered(app, ['sms'], 'pro');
});
after(() => app.close());

const base = () => `/portal/v1/applications/${acme.id}`;
const call = <Body = Record<string, unknown>>(method: string, path: string) =>
  acme.developer.send<Body>(method, base() + path);
const list = async (query = '') => (await call<{ data: OptOut[] }>('GET', `/opt-outs${query}`)).body.data;

async function sendTo(to: string) {
  const body = { to, from: 'ACME', message: 'Hello' };
  return send<{ id: string; status: string }>(app, 'POST', '/sms/v1/messages', {
    headers: { apikey: acme.apiKey },
    body,
  });
}

test('a developer adds a number, its texts fail, and removes it again', async () => {
  assert.deepEqual(await list(), []);
  assert.equal((await call('PUT', `/opt-outs/${encodeURIComponent('+44 7700 900177')}`)).status, 200);
  assert.deepEqual(
    (await list()).map((each) => [each.number, each.source, each.word]),
    [[number, 'api', null]],
  );
  assert.deepEqual((await list('?to=+447700900177')).length, 1);
  assert.deepEqual((await list('?to=+447700900178')).length, 0);
  assert.equal((await sendTo(number)).body.status, 'failed');
  assert.equal((await call('DELETE', `/opt-outs/${number}`)).status, 204);
  assert.equal((await call('DELETE', `/opt-outs/${number}`)).status, 404);
  assert.equal((await sendTo(number)).body.status, 'queued');
  assert.equal((await call('PUT', '/opt-outs/nope')).status, 400);
});

test("a person's own STOP is marked among the texts, listed, and not the developer's to undo", async () => {
  const from = '+447700900188';
  const { body } = await sendTo(from);
  await eventually('the text has arrived', async () => {
    app.clock.advance(500);
    const path = `/sandbox/v1/inbox?to=${encodeURIComponent(from)}`;
    const inbox = await send<{ data: { message_id: string }[] }>(app, 'GET', path, {
      headers: { apikey: acme.apiKey },
    });
    return inbox.body.data.some(({ message_id }) => message_id === body.id);
  });
  for (const message of ['Stop!', 'Thank you']) {
    const reply = { from, to: 'ACME', message };
    const headers = { apikey: acme.apiKey };
    assert.equal((await send(app, 'POST', '/sandbox/v1/inbox/replies', { headers, body: reply })).status, 201);
  }
  const inbound = await call<{ data: { message: string; word: string | null }[] }>('GET', '/inbound');
  assert.deepEqual(
    inbound.body.data.map(({ message, word }) => [message, word]),
    [
      ['Thank you', null],
      ['Stop!', 'stop'],
    ],
  );
  assert.deepEqual(
    (await list()).map((each) => [each.number, each.source]),
    [[from, 'mo']],
  );
  const refused = await call('DELETE', `/opt-outs/${from}`);
  assert.deepEqual([refused.status, refused.body.code], [409, 'INCOMPATIBLE_STATE']);
});

test("another account's application is not there", async () => {
  const other = await signUp(app);
  for (const [method, path] of [
    ['GET', '/opt-outs'],
    ['PUT', `/opt-outs/${number}`],
    ['DELETE', `/opt-outs/${number}`],
  ] as const) {
    assert.equal((await other.send(method, base() + path)).status, 404, method);
  }
});
