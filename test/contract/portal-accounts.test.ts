import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { asDeveloper, send, signUp } from '../support/developer.ts';
import { sendExactly } from '../support/http.ts';

let app: TestApp;
before(async () => {
  app = await createTestApp();
});
after(() => app.close());

const password = 'a sentence that only I would think of';

describe('POST /portal/v1/accounts', () => {
  test('201: the account is there and signed in', async () => {
    const answer = await send(app, 'POST', '/portal/v1/accounts', { body: { email: 'Ada@example.com', password } });
    assert.equal(answer.status, 201);
    assert.deepEqual(Object.keys(answer.body), [
      'id',
      'email',
      'operator',
      'created_at',
      'person_id',
      'role',
      'second_factor',
      'has_password',
      'sso',
      'accounts',
    ]);
    assert.equal(answer.body.operator, false);
    const ada = asDeveloper(app, 'Ada@example.com', password, answer);
    const me = await ada.send('GET', '/portal/v1/me');
    assert.equal(me.status, 200);
    assert.deepEqual(me.body, answer.body);
    const session = await ada.send('GET', '/portal/v1/sessions/current');
    assert.deepEqual([session.status, session.body], [200, { account: answer.body }]);
  });

  test('the cookie is out of reach for scripts and other sites', async () => {
    const body = { email: 'cookie@example.com', password };
    const [cookie] = (await send(app, 'POST', '/portal/v1/accounts', { body })).headers.getSetCookie();
    assert.match(cookie ?? '', /^heliograph_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200$/);
  });

  test('409 ALREADY_EXISTS: one account per address, however it is written', async () => {
    const body = { email: 'twice@example.com', password };
    assert.equal((await send(app, 'POST', '/portal/v1/accounts', { body })).status, 201);
    const again = await send(app, 'POST', '/portal/v1/accounts', { body: { ...body, email: 'TWICE@example.com' } });
    assert.equal(again.status, 409);
    assert.equal(again.body.code, 'ALREADY_EXISTS');
  });

  test('20 parallel sign-ups with one address make one account', async () => {
    const body = { email: 'race@example.com', password };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send(app, 'POST', '/portal/v1/accounts', { body })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(answers.filter(({ status }) => status === 409).length, 19);
  });

  test('400: every bad field is listed with what would be right', async () => {
    const answer = await send(app, 'POST', '/portal/v1/accounts', { body: { email: 'nobody', password: 5 } });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.code, 'INVALID_ARGUMENT');
    assert.deepEqual(
      (answer.body.details as { field: string }[]).map(({ field }) => field),
      ['email', 'password'],
    );
  });

  for (const weak of [
    'short',
    'password123!',
    '12345678',
    'aaaaaaaa',
    'qwertyuiop',
    'weak@example.com',
    'x'.repeat(257),
  ]) {
    test(`400: the password ${weak.slice(0, 20)} is refused, and the message says why`, async () => {
      const body = { email: 'weak@example.com', password: weak };
      const answer = await send(app, 'POST', '/portal/v1/accounts', { body });
      assert.equal(answer.status, 400);
      assert.equal((answer.body.details as { field: string }[])[0]?.field, 'password');
    });
  }
});

describe('POST /portal/v1/sessions', () => {
  test('201 with a new session; the old one goes on', async () => {
    const developer = await signUp(app);
    const body = { email: developer.email.toUpperCase(), password };
    const answer = await send(app, 'POST', '/portal/v1/sessions', { body });
    assert.equal(answer.status, 201);
    const second = asDeveloper(app, developer.email, password, answer);
    assert.notEqual(second.cookie, developer.cookie);
    assert.equal((await second.send('GET', '/portal/v1/me')).status, 200);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 200);
  });

  test('a wrong password and an unknown account get the same 401', async () => {
    const { email } = await signUp(app);
    const wrong = await send(app, 'POST', '/portal/v1/sessions', { body: { email, password: 'wrong' } });
    const unknown = await send(app, 'POST', '/portal/v1/sessions', {
      body: { email: 'no@example.com', password: 'wrong' },
    });
    for (const { status, body, headers } of [wrong, unknown]) {
      assert.equal(status, 401);
      assert.equal(body.code, 'UNAUTHENTICATED');
      assert.equal(body.message, 'Email or password is wrong.');
      assert.ok(headers.get('www-authenticate'));
    }
  });

  test('429 with only a message: failures slow down, and Retry-After is right', async () => {
    const { email } = await signUp(app);
    const tryWith = (given: string) => send(app, 'POST', '/portal/v1/sessions', { body: { email, password: given } });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await tryWith('wrong')).status);
    assert.deepEqual(statuses, [401, 401, 401, 429]);
    const refused = await tryWith(password);
    assert.equal(refused.status, 429);
    assert.deepEqual(Object.keys(refused.body), ['message']);
    assert.equal(refused.headers.get('ratelimit-remaining'), '0');
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds >= 1);
    app.clock.advance(seconds * 1000);
    assert.equal((await tryWith(password)).status, 201);
  });

  test('the wait never grows beyond a quarter of an hour, so no account is locked out for ever', async () => {
    const { email } = await signUp(app);
    let longest = 0;
    for (let i = 0; i < 30; i++) {
      const { status, headers } = await send(app, 'POST', '/portal/v1/sessions', {
        body: { email, password: 'wrong' },
      });
      if (status === 429) {
        const seconds = Number(headers.get('retry-after'));
        longest = Math.max(longest, seconds);
        app.clock.advance(seconds * 1000);
      }
    }
    assert.equal(longest, 900);
    assert.equal((await send(app, 'POST', '/portal/v1/sessions', { body: { email, password: 'wrong' } })).status, 401);
    assert.equal((await send(app, 'POST', '/portal/v1/sessions', { body: { email, password } })).status, 429);
    app.clock.advance(900_000);
    assert.equal((await send(app, 'POST', '/portal/v1/sessions', { body: { email, password } })).status, 201);
  });

  test('30 parallel guesses are counted before they are checked', async () => {
    const { email } = await signUp(app);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () =>
        send(app, 'POST', '/portal/v1/sessions', { body: { email, password: 'wrong' } }),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 401).length, 3);
    assert.equal(answers.filter(({ status }) => status === 429).length, 27);
  });
});

describe('sessions end', () => {
  test('DELETE /portal/v1/sessions/current: 204, and the cookie no longer opens anything', async () => {
    const developer = await signUp(app);
    const out = await developer.send('DELETE', '/portal/v1/sessions/current');
    assert.equal(out.status, 204);
    assert.match(out.headers.getSetCookie()[0] ?? '', /Max-Age=0/);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 401);
  });

  test('a session ends after half an hour without a request', async () => {
    const developer = await signUp(app);
    app.clock.advance(29 * 60_000);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 200);
    app.clock.advance(29 * 60_000);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 200);
    app.clock.advance(31 * 60_000);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 401);
  });

  test('a session ends after twelve hours in any case', async () => {
    const developer = await signUp(app);
    for (let i = 0; i < 28; i++) {
      app.clock.advance(25 * 60_000);
      assert.equal((await developer.send('GET', '/portal/v1/me')).status, 200);
    }
    app.clock.advance(25 * 60_000);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 401);
  });

  test('401 UNAUTHENTICATED without a cookie, with a made-up one, and with a malformed one', async () => {
    for (const cookie of ['', `heliograph_session=${'A'.repeat(43)}`, 'heliograph_session=%00', 'other=1']) {
      const answer = await send(app, 'GET', '/portal/v1/me', { headers: { cookie } });
      assert.equal(answer.status, 401);
      assert.equal(answer.body.code, 'UNAUTHENTICATED');
      // A page may ask who is signed in before anyone is.
      const session = await send(app, 'GET', '/portal/v1/sessions/current', { headers: { cookie } });
      assert.deepEqual([session.status, session.body], [200, { account: null }]);
    }
  });
});

describe('403 PERMISSION_DENIED: cross-site', () => {
  const cases: [string, Record<string, string>, boolean][] = [
    ['Sec-Fetch-Site: same-origin', { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }, true],
    ['Sec-Fetch-Site: none', { 'sec-fetch-site': 'none' }, true],
    ['Sec-Fetch-Site: same-site', { 'sec-fetch-site': 'same-site' }, false],
    ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }, false],
    ['a foreign Origin', { origin: 'https://evil.example' }, false],
    ['Origin: null', { origin: 'null' }, false],
    ['the public Origin', { origin: 'http://127.0.0.1:8080' }, true],
    ['no browser', {}, true],
  ];
  for (const [name, headers, passes] of cases) {
    test(`${name} ${passes ? 'passes' : 'is refused'}`, async () => {
      const { cookie, send: _ } = await signUp(app);
      const answer = await sendExactly(app.port, '/portal/v1/applications', {
        method: 'POST',
        headers: { cookie, host: '127.0.0.1:1234', ...headers },
        body: { name: 'ACME' },
      });
      assert.equal(answer.status, passes ? 201 : 403);
      if (!passes) assert.equal(JSON.parse(answer.body).code, 'PERMISSION_DENIED');
    });
  }

  test('signing in from another site is refused too; reading is not', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', host: 'x' };
    const signIn = await sendExactly(app.port, '/portal/v1/sessions', { method: 'POST', headers, body: {} });
    assert.equal(signIn.status, 403);
    const { cookie } = await signUp(app);
    const read = await sendExactly(app.port, '/portal/v1/me', { headers: { ...headers, cookie } });
    assert.equal(read.status, 200);
  });
});

describe('one-time links', () => {
  test('an operator is made by a link, once; the password before and its sessions are over', async () => {
    const developer = await signUp(app);
    const token = await app.app.people.createLink(developer.email, { makesOperator: true });
    assert.equal((await developer.send<{ operator: boolean }>('GET', '/portal/v1/me')).body.operator, false);
    const body = { token, password: 'another sentence, known to no one' };
    const answer = await send(app, 'POST', '/portal/v1/password-resets', { body });
    assert.equal(answer.status, 201);
    assert.equal(answer.body.operator, true);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 401);
    const again = await send(app, 'POST', '/portal/v1/password-resets', { body });
    assert.equal(again.status, 400);
    const old = await send(app, 'POST', '/portal/v1/sessions', { body: { email: developer.email, password } });
    assert.equal(old.status, 401);
  });

  test('20 parallel uses of one link: one succeeds', async () => {
    const token = await app.app.people.createLink('new-operator@example.com', { makesOperator: true });
    const body = { token, password: 'another sentence, known to no one' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send(app, 'POST', '/portal/v1/password-resets', { body })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(answers.filter(({ status }) => status === 400).length, 19);
  });

  test('a link expires after a day, and an unknown email gets none', async () => {
    const developer = await signUp(app);
    const token = await app.app.people.createLink(developer.email);
    assert.equal(await app.app.people.createLink('nobody@example.com'), undefined);
    app.clock.advance(86_400_000);
    const body = { token, password: 'another sentence, known to no one' };
    assert.equal((await send(app, 'POST', '/portal/v1/password-resets', { body })).status, 400);
  });
});
