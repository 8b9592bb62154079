// "Password hashes are keyed by the ring as well (a pepper), renewed at the next sign-in."
import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { minuteMs } from '../../src/platform/clock.ts';
import { rotateKeyRing } from '../../src/platform/crypto/open-key-ring.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send, signUp } from '../support/developer.ts';
import { testSecret } from '../support/key-ring.ts';
import { setUpFactor } from '../support/second-factor.ts';

let app: TestApp;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
});
after(() => app.close());

const signIn = (email: string, password: string) =>
  send(app, 'POST', '/portal/v1/sessions', { body: { email, password } });

async function hashOf(email: string): Promise<string> {
  const { rows } = await app.db.database.query<{ hash: string }>(
    'select password_hash as hash from person where email = $1',
    [email],
  );
  return rows[0]?.hash ?? '';
}

/** As an older version stored it: without a key. */
async function storeOldHash(email: string, password: string): Promise<string> {
  const salt = Buffer.alloc(16, 7);
  const hash = scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 });
  const stored = `$scrypt$ln=10,r=8,p=1$${salt.toString('base64url')}$${hash.toString('base64url')}`;
  await app.db.database.query('update person set password_hash = $2 where email = $1', [email, stored]);
  return stored;
}

const keyOf = (hash: string) => /,k=(\d+)\$/.exec(hash)?.[1];

describe('a stolen table of hashes', () => {
  test('cannot be guessed at without the ring: the right password does not give the stored hash', async () => {
    const { email, password } = await signUp(app);
    const [, algorithm, parameters = '', salt = '', hash] = (await hashOf(email)).split('$');
    assert.equal(keyOf(await hashOf(email)), '1');
    if (algorithm !== 'scrypt') return;
    const [logN = 0, r = 8, p = 1] = [...parameters.matchAll(/=(\d+)/g)].map(([, number]) => Number(number));
    const guessed = scryptSync(password, Buffer.from(salt, 'base64url'), 32, { N: 2 ** logN, r, p });
    assert.notEqual(guessed.toString('base64url'), hash);
  });
});

describe('an older hash', () => {
  test('still signs in, and is keyed then; a wrong password renews nothing', async () => {
    const { email, password } = await signUp(app);
    const stored = await storeOldHash(email, password);
    assert.equal((await signIn(email, 'wrong')).status, 401);
    assert.equal(await hashOf(email), stored);
    assert.equal((await signIn(email, password)).status, 201);
    assert.equal(keyOf(await hashOf(email)), '1');
    assert.equal((await signIn(email, password)).status, 201);
  });

  test('is keyed also where a code of the second factor follows, and the code completes that sign-in', async () => {
    const person = await signUp(app);
    const { code } = await setUpFactor(person, app.clock);
    app.clock.advance(minuteMs);
    await storeOldHash(person.email, person.password);
    const { status, body } = await signIn(person.email, person.password);
    assert.equal(status, 202);
    assert.equal(keyOf(await hashOf(person.email)), '1');
    const answer = { challenge: body.challenge, code: code() };
    assert.equal((await send(app, 'POST', '/portal/v1/sessions/second-factor', { body: answer })).status, 201);
  });

  test('after a rotation of the ring the old key still signs in, and the new one is taken', async () => {
    const { email, password } = await signUp(app);
    const { database } = app.db;
    await rotateKeyRing({ database, clock: app.clock, secret: testSecret });
    await app.keys.reread();
    assert.equal((await signIn(email, password)).status, 201);
    assert.equal(keyOf(await hashOf(email)), '1', 'the new version is not used yet');
    app.clock.advance(2 * minuteMs);
    assert.equal((await signIn(email, password)).status, 201);
    assert.equal(keyOf(await hashOf(email)), '2');
    assert.equal((await signIn(email, password)).status, 201);
    assert.equal((await signIn(email, 'wrong')).status, 401);
  });
});
