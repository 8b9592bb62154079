// "A session is opened only if the password's hash is still the one that was checked, in the same transaction; a renewed
// hash is written only over the hash it renews."
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type Answer, asDeveloper, send, signUp } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';

const password = 'a sentence that only I would think of';
const newPassword = 'another sentence, known to no one';

const rounds = inShort(1, 5);

let app: TestApp;
before(async () => {
  // Slow enough that a sign-in is still being checked when the reset that began before it commits.
  app = await createTestApp({
    manyConnections: true,
    passwordCost: { scrypt: { logN: 15, p: 1 }, argon2: { memoryKiB: 65_536, passes: 4 } },
  });
});
after(() => app.close());

const signIn = (on: TestApp, email: string, given: string) =>
  send(on, 'POST', '/portal/v1/sessions', { body: { email, password: given } });
const reset = (on: TestApp, token: string | undefined, given = newPassword) =>
  send(on, 'POST', '/portal/v1/password-resets', { body: { token, password: given } });

async function isSignedIn(on: TestApp, answer: Answer): Promise<boolean> {
  if (answer.status !== 201) return false;
  return (await asDeveloper(on, '', '', answer).send('GET', '/portal/v1/me')).status === 200;
}

describe('a reset ends every sign-in with the old password', () => {
  for (let round = 1; round <= rounds; round++) {
    test(`a sign-in that was being checked while the reset committed ends (${round} of ${rounds})`, async () => {
      const { email } = await signUp(app);
      const token = await app.app.people.createLink(email);
      const resetting = reset(app, token);
      // An answer in between: the reset is on its way.
      await send(app, 'GET', '/portal/v1/service');
      const old = await Promise.all([signIn(app, email, password), signIn(app, email, password)]);
      assert.equal((await resetting).status, 201);
      for (const answer of old) assert.equal(await isSignedIn(app, answer), false, `sign-in: ${answer.status}`);
      assert.equal((await signIn(app, email, newPassword)).status, 201);
    });
  }
});

describe('a hash that is renewed', () => {
  test('is not put over the one that a reset has just set', async () => {
    const weak = await createTestApp();
    // The same database behind an app with a higher cost: for it every hash there is outdated.
    const strong = await createTestApp({
      db: weak.db,
      clock: weak.clock,
      passwordCost: { scrypt: { logN: 15, p: 1 }, argon2: { memoryKiB: 65_536, passes: 4 } },
    });
    try {
      const { email } = await signUp(weak);
      const token = await weak.app.people.createLink(email);
      const renewing = signIn(strong, email, password);
      await send(strong, 'GET', '/portal/v1/service');
      assert.equal((await reset(weak, token)).status, 201);
      assert.equal(await isSignedIn(strong, await renewing), false);
      assert.equal((await signIn(weak, email, newPassword)).status, 201, 'the new password works');
      assert.equal((await signIn(weak, email, password)).status, 401, 'the old one does not');
    } finally {
      await strong.close();
      await weak.close();
    }
  });

  test('is renewed once by sign-ins that arrive together, and every one of them succeeds', async () => {
    const weak = await createTestApp();
    const strong = await createTestApp({
      db: weak.db,
      clock: weak.clock,
      passwordCost: { scrypt: { logN: 12, p: 1 }, argon2: { memoryKiB: 256, passes: 1 } },
    });
    try {
      const { email } = await signUp(weak);
      const answers = await Promise.all([1, 2, 3].map(() => signIn(strong, email, password)));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [201, 201, 201],
      );
      for (const answer of answers) assert.equal(await isSignedIn(strong, answer), true);
      const { rows } = await weak.db.database.query<{ hash: string }>(
        'select password_hash as hash from person where email = $1',
        [email],
      );
      assert.match(rows[0]?.hash ?? '', /ln=12,|m=256,/);
    } finally {
      await strong.close();
      await weak.close();
    }
  });
});

test('two links of one account used at the same time: one sets the password, the other is dead', async () => {
  for (let round = 0; round < rounds; round++) {
    const { email } = await signUp(app);
    const links = [await app.app.people.createLink(email), await app.app.people.createLink(email)] as const;
    const answers = await Promise.all(links.map((token) => reset(app, token)));
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(answers.filter(({ status }) => status === 400).length, 1);
  }
});
