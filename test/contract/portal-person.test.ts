// Account: change password, sessions with sign-out of others, a second factor, delete the account.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { codeOf, stepAt } from '../../src/accounts/sign-in/totp.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { fromBase32 } from '../support/base32.ts';
import { asDeveloper, createApplication, register, send, signUp, type TestDeveloper } from '../support/developer.ts';

const current = 'a sentence that only I would think of';
let app: TestApp;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
});
after(() => app.close());

const signIn = (email: string, password = current) =>
  send(app, 'POST', '/portal/v1/sessions', { body: { email, password } });
const isSignedIn = async (person: TestDeveloper) => (await person.send('GET', '/portal/v1/me')).status === 200;

/** Another session of the same person. */
async function again(person: TestDeveloper): Promise<TestDeveloper> {
  return asDeveloper(app, person.email, current, await signIn(person.email));
}

describe('POST /portal/v1/me/password', () => {
  test('204: the new password signs in, the old one does not, and all other sessions end', async () => {
    const person = await signUp(app);
    const other = await again(person);
    const password = 'another sentence that I made up';
    const change = (body: object) => person.send('POST', '/portal/v1/me/password', body);
    assert.equal((await change({ current_password: 'wrong', password })).status, 400);
    assert.equal((await change({ current_password: current, password: 'short' })).status, 400);
    assert.equal(await isSignedIn(other), true);
    assert.equal((await change({ current_password: current, password })).status, 204);
    assert.deepEqual([await isSignedIn(person), await isSignedIn(other)], [true, false]);
    assert.equal((await signIn(person.email)).status, 401);
    assert.equal((await signIn(person.email, password)).status, 201);
  });

  test('guesses of the current password are slowed down like those of a sign-in; right ones do not count', async () => {
    const person = await signUp(app);
    const change = (current_password: string) =>
      person.send('POST', '/portal/v1/me/password', { current_password, password: current });
    for (let i = 0; i < 8; i++) assert.equal((await change(current)).status, 204, `right ${i}`);
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await change('wrong')).status);
    assert.ok(statuses.includes(429), String(statuses));
  });
});

describe('sessions', () => {
  test('are listed with this one marked, end one by one and all others together', async () => {
    const person = await signUp(app);
    const [second, third, fourth] = [await again(person), await again(person), await again(person)];
    interface Listed {
      data: { id: string; current: boolean; address: string }[];
    }
    const list = async () => (await person.send<Listed>('GET', '/portal/v1/me/sessions')).body.data;
    const listed = await list();
    assert.equal(listed.length, 4);
    assert.equal(listed.filter((each) => each.current).length, 1);
    assert.equal(listed[0]?.address, '127.0.0.1');
    const ofSecond = (await second.send<Listed>('GET', '/portal/v1/me/sessions')).body.data.find(
      (each) => each.current,
    );
    const path = `/portal/v1/me/sessions/${ofSecond?.id}`;
    assert.equal((await (await signUp(app)).send('DELETE', path)).status, 404, "another person's");
    assert.equal((await person.send('DELETE', path)).status, 204);
    assert.equal((await person.send('DELETE', path)).status, 404);
    assert.equal((await person.send('DELETE', '/portal/v1/me/sessions/ses_x')).status, 404);
    assert.deepEqual([await isSignedIn(second), await isSignedIn(third)], [false, true]);
    assert.equal((await person.send('DELETE', '/portal/v1/me/sessions')).status, 204);
    assert.deepEqual(
      [await isSignedIn(third), await isSignedIn(fourth), await isSignedIn(person)],
      [false, false, true],
    );
    assert.equal((await list()).length, 1);
  });
});

/** Turns it on; `code` gives the code of a moment. */
async function withSecondFactor(person: TestDeveloper) {
  const begun = await person.send<{ secret: string; uri: string }>('POST', '/portal/v1/me/second-factor', {
    current_password: current,
  });
  assert.equal(begun.status, 201, JSON.stringify(begun.body));
  const secret = fromBase32(begun.body.secret);
  const code = (steps = 0) => codeOf(secret, stepAt(app.clock.nowMs()) + steps);
  const confirm = await person.send<{ recovery_codes: string[] }>('POST', '/portal/v1/me/second-factor/confirm', {
    code: code(),
  });
  assert.equal(confirm.status, 200, JSON.stringify(confirm.body));
  app.clock.advance(60_000);
  return { code, recovery: confirm.body.recovery_codes, uri: begun.body.uri };
}

const complete = (challenge: unknown, code: string) =>
  send(app, 'POST', '/portal/v1/sessions/second-factor', { body: { challenge, code } });

describe('the second factor', () => {
  test('counts from the first right code on; then a password alone does not sign in', async () => {
    const person = await signUp(app);
    const other = await again(person);
    await person.send('POST', '/portal/v1/me/second-factor', { current_password: current });
    assert.equal((await signIn(person.email)).status, 201, 'a secret that was not confirmed');
    const { code, uri } = await withSecondFactor(person);
    assert.match(uri, /^otpauth:\/\/totp\/Heliograph/);
    assert.deepEqual([await isSignedIn(person), await isSignedIn(other)], [true, false]);

    const answer = await signIn(person.email);
    assert.equal(answer.status, 202);
    assert.deepEqual(Object.keys(answer.body), ['challenge']);
    assert.deepEqual(answer.headers.getSetCookie(), []);
    const { challenge } = answer.body;
    assert.equal((await complete(challenge, '000000')).status, 400);
    const forged = String(challenge).replace(
      /\.(.)([^.]*)$/,
      (_, first, rest) => `.${first === 'A' ? 'B' : 'A'}${rest}`,
    );
    assert.equal((await complete(forged, code())).status, 401);
    const signedIn = await complete(challenge, code());
    assert.equal(signedIn.status, 201);
    assert.equal(await isSignedIn(asDeveloper(app, person.email, current, signedIn)), true);
    const me = await person.send<{ second_factor: object }>('GET', '/portal/v1/me');
    assert.deepEqual(me.body.second_factor, {
      ...{ enabled: true, recovery_codes_left: 10, required: false, can_set_up: true, set_up_until: null },
    });
  });

  test('a code counts once, however many use it together, and so does a recovery code', async () => {
    const person = await signUp(app);
    const { code, recovery } = await withSecondFactor(person);
    for (const each of [
      code(),
      recovery[0] ?? '',
      (recovery[1] ?? '').replace('-', '').replaceAll('0', 'O').toUpperCase(),
    ]) {
      const { challenge } = (await signIn(person.email)).body;
      const answers = await Promise.all([1, 2, 3].map(() => complete(challenge, each)));
      assert.equal(answers.filter(({ status }) => status === 201).length, 1, each);
      app.clock.advance(3_600_000);
    }
    // An older code than the newest one that was used is dead too.
    const { challenge } = (await signIn(person.email)).body;
    assert.equal((await complete(challenge, code(1))).status, 201);
    assert.equal((await complete(challenge, code())).status, 400);
  });

  test('guesses are slowed down: a few, then 429', async () => {
    const person = await signUp(app);
    const { code } = await withSecondFactor(person);
    const { challenge } = (await signIn(person.email)).body;
    const statuses = [];
    for (let i = 0; i < 8; i++) statuses.push((await complete(challenge, String(100_000 + i))).status);
    assert.deepEqual(statuses.slice(0, 3), [400, 400, 400]);
    assert.equal(statuses.at(-1), 429);
    app.clock.advance(3_600_000);
    const later = (await signIn(person.email)).body.challenge;
    assert.equal((await complete(later, code())).status, 201, 'and the person gets in after the wait');
  });

  test('a challenge ends after 5 minutes, and with a new password', async () => {
    const person = await signUp(app);
    const { code } = await withSecondFactor(person);
    const first = (await signIn(person.email)).body.challenge;
    app.clock.advance(5 * 60_000 + 1);
    assert.equal((await complete(first, code())).status, 401);
    const second = (await signIn(person.email)).body.challenge;
    const body = { current_password: current, password: 'another sentence that I made up' };
    assert.equal((await person.send('POST', '/portal/v1/me/password', body)).status, 204);
    assert.equal((await complete(second, code())).status, 401);
  });

  test('a reset link does not replace it, unless it was made to remove it', async () => {
    const person = await signUp(app);
    const { code } = await withSecondFactor(person);
    const use = (token: string | undefined) =>
      send(app, 'POST', '/portal/v1/password-resets', { body: { token, password: current } });
    const kept = await use(await app.app.people.createLink(person.email));
    assert.equal(kept.status, 202);
    assert.equal((await complete(kept.body.challenge, code())).status, 201);
    const removed = await use(await app.app.people.createLink(person.email, { removesSecondFactor: true }));
    assert.equal(removed.status, 201);
    assert.equal((await signIn(person.email)).status, 201);
  });

  test('recovery codes are renewed by a code, and it is turned off by password and code; neither secret is stored in clear', async () => {
    const person = await signUp(app);
    const { code, recovery } = await withSecondFactor(person);
    const renew = (given: string) =>
      person.send<{ recovery_codes: string[] }>('POST', '/portal/v1/me/second-factor/recovery-codes', { code: given });
    assert.equal((await renew('123')).status, 400);
    const renewed = await renew(code());
    assert.equal(renewed.body.recovery_codes.length, 10);
    const { challenge } = (await signIn(person.email)).body;
    assert.equal((await complete(challenge, recovery[3] ?? '')).status, 400, 'an old one');
    const { rows } = await app.db.database.query<{ row: string }>(
      'select f::text || (select string_agg(r::text, null) from recovery_code r) as row from second_factor f',
    );
    const stored = rows.map(({ row }) => row).join();
    for (const text of renewed.body.recovery_codes) assert.equal(stored.includes(text), false);
    const remove = (password: string, given?: string) =>
      person.send('POST', '/portal/v1/me/second-factor/remove', { current_password: password, code: given });
    app.clock.advance(60_000);
    assert.equal((await remove('wrong', code())).status, 400);
    assert.equal((await remove(current)).status, 400);
    assert.equal((await remove(current, '000000')).status, 400);
    assert.equal((await remove(current, code())).status, 204);
    assert.equal((await signIn(person.email)).status, 201);
  });

  test('409 when it was not begun; to replace one takes a code of it', async () => {
    const person = await signUp(app);
    const confirm = () => person.send('POST', '/portal/v1/me/second-factor/confirm', { code: '123456' });
    assert.equal((await confirm()).status, 409);
    await withSecondFactor(person);
    const begin = await person.send('POST', '/portal/v1/me/second-factor', { current_password: current });
    assert.equal(begin.status, 400);
    assert.equal((await confirm()).status, 409);
  });
});

test('where it is required, an operator without a second factor gets 403 from operators’ routes and can set one up', async () => {
  const strict = await createTestApp({ env: { HELIOGRAPH_OPERATOR_SECOND_FACTOR: 'required' }, delivery: 'held' });
  try {
    const person = await signUp(strict);
    const token = await strict.app.people.createLink(person.email, { makesOperator: true });
    const answer = await send(strict, 'POST', '/portal/v1/password-resets', { body: { token, password: current } });
    const operator = asDeveloper(strict, person.email, current, answer);
    const refused = await operator.send('GET', '/portal/v1/operator/registrations');
    assert.equal(refused.status, 403);
    assert.match(String(refused.body.message), /second factor/);
    const begun = await operator.send<{ secret: string }>('POST', '/portal/v1/me/second-factor', {
      current_password: current,
    });
    const code = codeOf(fromBase32(begun.body.secret), stepAt(strict.clock.nowMs()));
    assert.equal((await operator.send('POST', '/portal/v1/me/second-factor/confirm', { code })).status, 200);
    assert.equal((await operator.send('GET', '/portal/v1/operator/registrations')).status, 200);
  } finally {
    await strict.close();
  }
});

describe('POST /portal/v1/me/delete', () => {
  test('204: the person, the account and its applications are gone, and their keys are refused at once', async () => {
    const person = await signUp(app);
    const id = await createApplication(person);
    const { body } = await register(person, id, 'sms', 'free');
    const headers = { apikey: body.credential?.api_key ?? '' };
    assert.equal((await send(app, 'GET', '/sms/v1/messages', { headers })).status, 200);
    const remove = (password: string) => person.send('POST', '/portal/v1/me/delete', { current_password: password });
    assert.equal((await remove('wrong')).status, 400);
    assert.equal((await remove(current)).status, 204);
    assert.equal((await send(app, 'GET', '/sms/v1/messages', { headers })).status, 401);
    assert.equal(await isSignedIn(person), false);
    assert.equal((await signIn(person.email)).status, 401);
    const { rows } = await app.db.database.query('select from account where name = $1', [person.email]);
    assert.equal(rows.length, 0);
    assert.equal(
      (await send(app, 'POST', '/portal/v1/accounts', { body: { email: person.email, password: current } })).status,
      201,
    );
  });

  test('409 for the last owner of an account with other members; without them it works', async () => {
    const owner = await signUp(app);
    const guest = await signUp(app);
    const invited = await owner.send<{ link: string }>('POST', '/portal/v1/members/invitations', {
      email: guest.email,
      role: 'developer',
    });
    await guest.send('POST', '/portal/v1/me/invitations', { token: invited.body.link.split('/').at(-1) });
    const remove = (person: TestDeveloper) =>
      person.send('POST', '/portal/v1/me/delete', { current_password: current });
    const refused = await remove(owner);
    assert.equal(refused.status, 409);
    assert.match(String(refused.body.message), new RegExp(owner.email));
    const id = await createApplication(owner);
    assert.equal((await remove(guest)).status, 204);
    assert.equal((await owner.send('GET', `/portal/v1/applications/${id}`)).status, 200, 'it stays with its account');
    assert.equal((await remove(owner)).status, 204);
  });
});
