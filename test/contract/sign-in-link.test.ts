import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send, signUp } from '../support/developer.ts';
import { dumpAll } from '../support/texts.ts';

const minuteMs = 60_000;

let app: TestApp;
before(async () => {
  app = await createTestApp();
});
after(() => app.close());

const use = (token: string) =>
  send<{ email: string; details: { field: string }[] }>(app, 'POST', '/portal/v1/sessions/link', { body: { token } });

async function createLink(): Promise<{ token: string; email: string }> {
  const { email } = await signUp(app);
  return { token: (await app.app.people.createSignInLink(email)) ?? '', email };
}

test('a link signs in once, of many uses at once', async () => {
  const { token, email } = await createLink();
  assert.equal((await dumpAll(app)).includes(token), false, 'the store has its hash');
  const answers = await Promise.all(Array.from({ length: 5 }, () => use(token)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 400, 400, 400, 400]);
  const won = answers.find(({ status }) => status === 201);
  assert.equal(won?.body.email, email);
  const cookie = won?.headers.get('set-cookie')?.split(';')[0] ?? '';
  const { body } = await send<{ account: { email: string } }>(app, 'GET', '/portal/v1/sessions/current', {
    headers: { cookie },
  });
  assert.equal(body.account.email, email);
  const refused = answers.find(({ status }) => status === 400);
  assert.deepEqual(
    refused?.body.details.map(({ field }) => field),
    ['token'],
  );
});

test('a link ends after 15 minutes, and opens nothing but a session', async () => {
  const { token } = await createLink();
  const reset = { token, password: 'another sentence that only I would think of' };
  assert.equal((await send(app, 'POST', '/portal/v1/password-resets', { body: reset })).status, 400);
  app.clock.advance(15 * minuteMs);
  assert.equal((await use(token)).status, 400);
  for (const bad of ['', 'x', 'a'.repeat(43), '\0'.repeat(43)]) assert.equal((await use(bad)).status, 400, bad);
});

test('a link that sets a password does not sign in, and an operator needs more than a link', async () => {
  const { email } = await signUp(app);
  const reset = (await app.app.people.createLink(email)) ?? '';
  assert.equal((await use(reset)).status, 400);
  const token = (await app.app.people.createSignInLink(email)) ?? '';
  await app.db.database.query('update person set operator = true where email = $1', [email]);
  assert.equal((await use(token)).status, 400);
  assert.equal(await app.app.people.createSignInLink('nobody@example.com'), undefined);
});
