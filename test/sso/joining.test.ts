// An existing account joins single sign-on only from its own session; and a service without passwords.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createSignInLog } from '../../src/accounts/sign-in/log.ts';
import { createSessions } from '../../src/accounts/sign-in/session.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { run } from '../support/commands.ts';
import { send, signUp } from '../support/developer.ts';
import { authenticator } from '../support/second-factor.ts';
import {
  createBrowser,
  createSsoWorld,
  pageOf,
  type SsoWorld,
  ssoEnv,
  type TestBrowser,
} from '../support/sso-world.ts';

let world: SsoWorld;
before(async () => {
  world = await createSsoWorld({
    env: { HELIOGRAPH_SSO_OPERATORS: 'groups=admins', HELIOGRAPH_SSO_MFA: 'mfa,urn:gold' },
  });
});
after(() => world.close());

let count = 0;
function arrive(claims: Record<string, unknown> = {}, sub = `joiner-${++count}`) {
  world.provider.user = { sub, claims: { email: `${sub}@example.com`, ...claims } };
  return sub;
}

const password = 'a sentence that only I would think of';
/** A person with a password, in a browser of its own. */
async function registered(app: { url: string } = world.app) {
  const browser = createBrowser(app);
  const email = `registered-${++count}@example.com`;
  assert.equal((await browser.send('POST', '/portal/v1/accounts', { email, password })).status, 201);
  return { browser, email };
}
const toJoin = { current_password: password };

describe('joining', () => {
  test('from its own session, with its password: from then on both ways lead to the same person', async () => {
    const { browser, email } = await registered();
    const sub = arrive();
    const callback = await browser.toCallback(await browser.begin('/portal/v1/me/sso', toJoin));
    assert.equal(pageOf(await browser.follow(callback)), '/account?sso=joined');
    const mine = await browser.account();
    assert.deepEqual([mine.email, mine.has_password, mine.sso], [email, true, { joined: true, session: false }]);
    arrive({}, sub);
    const other = createBrowser(world.app);
    await other.signIn();
    const found = await other.account();
    assert.deepEqual([found.person_id, found.sso?.session], [mine.person_id, true]);
    const { rows } = await world.app.db.database.query<{ details: { subject: string } }>(
      "select details from audit where act = 'identity.joined'",
    );
    assert.equal(rows.at(-1)?.details.subject, sub);
    assert.equal((await browser.send('POST', '/portal/v1/me/sso', toJoin)).status, 409, 'once');
  });

  test('without the password, signed out, or from another session: nothing is joined', async () => {
    const { browser } = await registered();
    arrive();
    const wrong = await browser.send('POST', '/portal/v1/me/sso', { current_password: 'wrong' });
    assert.equal(wrong.status, 400);
    assert.equal((await createBrowser(world.app).send('POST', '/portal/v1/me/sso', toJoin)).status, 401);
    const callback = await browser.toCallback(await browser.begin('/portal/v1/me/sso', toJoin));
    await browser.send('DELETE', '/portal/v1/sessions/current');
    assert.equal(pageOf(await browser.follow(callback)), '/account?sso=expired');
    // Signed in again meanwhile, as another person.
    const second = await registered();
    const begun = await second.browser.toCallback(await second.browser.begin('/portal/v1/me/sso', toJoin));
    const email = `registered-${++count}@example.com`;
    assert.equal((await second.browser.send('POST', '/portal/v1/accounts', { email, password })).status, 201);
    assert.equal(pageOf(await second.browser.follow(begun)), '/account?sso=expired');
    assert.equal((await second.browser.account()).sso?.joined, false);
  });

  test('an identity that is a person already', async () => {
    const sub = arrive();
    await createBrowser(world.app).signIn();
    const { browser } = await registered();
    arrive({}, sub);
    const callback = await browser.toCallback(await browser.begin('/portal/v1/me/sso', toJoin));
    assert.equal(pageOf(await browser.follow(callback)), '/account?sso=taken');
    assert.equal((await browser.account()).sso?.joined, false);
  });
});

describe('leaving', () => {
  const leave = (browser: TestBrowser, body: object = toJoin) => browser.send('POST', '/portal/v1/me/sso/leave', body);

  test('the identity opens the account no longer, its sessions end, and the password stays', async () => {
    const { browser, email } = await registered();
    assert.equal((await leave(browser)).status, 409, 'it has joined none');
    const sub = arrive();
    await browser.follow(await browser.begin('/portal/v1/me/sso', toJoin));
    const [mine, other, waits] = [await browser.account(), createBrowser(world.app), createBrowser(world.app)];
    arrive({}, sub);
    await other.signIn();
    assert.equal((await other.account()).person_id, mine.person_id);
    arrive({}, sub);
    const callback = await waits.toCallback(await waits.begin());
    assert.equal((await leave(browser, { current_password: 'wrong' })).status, 400);
    assert.equal((await leave(createBrowser(world.app))).status, 401);
    assert.equal((await leave(browser)).status, 204);
    assert.deepEqual((await browser.account()).sso, { joined: false, session: false });
    assert.equal(await other.me(), undefined, 'the session that it opened has ended');
    await waits.follow(callback);
    assert.notEqual((await waits.account()).person_id, mine.person_id, 'now it is a person of its own');
    assert.equal((await createBrowser(world.app).send('POST', '/portal/v1/sessions', { email, password })).status, 201);
    const { rows } = await world.app.db.database.query<{ details: { subject: string }; actor_id: string }>(
      "select details, actor_id from audit where act = 'identity.left'",
    );
    assert.deepEqual([rows[0]?.details.subject, rows[0]?.actor_id], [sub, mine.person_id]);
  });

  test('a sign-in that waits for our second factor is over too', async () => {
    const { browser } = await registered();
    const sub = arrive();
    await browser.follow(await browser.begin('/portal/v1/me/sso', toJoin));
    const { body } = await browser.send('POST', '/portal/v1/me/second-factor', toJoin);
    const code = authenticator((body as { secret: string }).secret, world.app.clock);
    const confirmed = await browser.send('POST', '/portal/v1/me/second-factor/confirm', { code: code() });
    assert.ok(confirmed.status < 300, JSON.stringify(confirmed));
    arrive({}, sub);
    const other = createBrowser(world.app);
    const challenge = new URLSearchParams((await other.signIn()).split('?')[1]).get('challenge');
    assert.equal((await leave(browser)).status, 204);
    const late = await other.send('POST', '/portal/v1/sessions/second-factor', { challenge, code: code(1) });
    assert.equal(late.status, 401, JSON.stringify(late.body));
  });

  test('who has no password would have no way in', async () => {
    arrive();
    const browser = createBrowser(world.app);
    await browser.signIn();
    const { status, body } = await leave(browser);
    assert.deepEqual([status, (body as { code: string }).code], [409, 'INCOMPATIBLE_STATE']);
    assert.equal((await browser.account()).sso?.joined, true);
  });
});

describe('the second factor of operators, by acr or amr', () => {
  test('an operator without it is refused and learns why; others need none', async () => {
    for (const claims of [{}, { acr: 'urn:silver' }, { amr: ['pwd'] }, { acr: ['mfa'] }, { amr: 'mfa' }]) {
      arrive({ groups: ['admins'], ...claims });
      const browser = createBrowser(world.app);
      assert.equal(await browser.signIn(), '/sign-in?sso=mfa', JSON.stringify(claims));
      assert.equal(await browser.me(), undefined);
    }
    arrive({ groups: ['staff'] });
    const developer = createBrowser(world.app);
    assert.equal(await developer.signIn(), '/');
  });

  test('with it the session is one of an operator, also where a second factor is required', async () => {
    const required = await createTestApp({
      ...{ delivery: 'held', db: world.app.db, clock: world.app.clock },
      env: { HELIOGRAPH_OPERATOR_SECOND_FACTOR: 'required' },
    });
    for (const claims of [{ acr: 'urn:gold' }, { amr: ['pwd', 'mfa'] }]) {
      arrive({ groups: ['admins'], ...claims });
      const browser = createBrowser(world.app);
      assert.equal(await browser.signIn(), '/');
      assert.equal((await browser.account()).operator, true);
      assert.equal((await browser.send('GET', '/portal/v1/operator/health')).status, 200);
      const elsewhere = createBrowser(required);
      for (const [name, value] of browser.jar) elsewhere.jar.set(name, value);
      assert.equal((await elsewhere.send('GET', '/portal/v1/operator/health')).status, 200);
    }
    await required.close();
  });
});

test('a link that makes an operator cuts the identity of the person who had the e-mail before', async () => {
  const { browser, email } = await registered();
  const sub = arrive();
  await browser.follow(await browser.toCallback(await browser.begin('/portal/v1/me/sso', toJoin)));
  const mine = await browser.account();
  const token = await world.app.app.people.createLink(email, { makesOperator: true });
  const used = await send(world.app, 'POST', '/portal/v1/password-resets', { body: { token, password } });
  assert.equal(used.status, 201);
  arrive({}, sub);
  const other = createBrowser(world.app);
  await other.signIn();
  const found = await other.account();
  assert.notEqual(found.person_id, mine.person_id);
  assert.equal(found.operator, false);
});

describe('single sign-on only', () => {
  let only: TestApp;
  before(async () => {
    only = await createTestApp({
      ...{ delivery: 'held', db: world.app.db, clock: world.app.clock },
      env: { ...ssoEnv(world.provider), HELIOGRAPH_SSO_ONLY: 'true' },
    });
  });
  after(() => only.close());

  test('passwords open nothing, and no link of the portal sets one', async () => {
    const { email } = await signUp(world.app);
    const refused = async (path: string, body: object) => {
      const { status, body: answer } = await send(only, 'POST', path, { body });
      assert.deepEqual([status, answer.code], [403, 'PERMISSION_DENIED'], path);
    };
    await refused('/portal/v1/sessions', { email, password });
    await refused('/portal/v1/accounts', { email: 'new@example.com', password });
    const token = 'A'.repeat(43);
    await refused('/portal/v1/invitations/accept', { token, password });
    const signedIn = createBrowser(world.app);
    arrive();
    await signedIn.signIn();
    const joined = createBrowser(only);
    for (const [name, value] of signedIn.jar) joined.jar.set(name, value);
    assert.equal((await joined.send('POST', '/portal/v1/me/sso/leave', toJoin)).status, 409, 'it is the only way in');
    const { body } = await send(only, 'GET', '/portal/v1/service');
    assert.deepEqual(body.sso, { issuer: world.provider.issuer, only: true });
  });

  test('a link that was made on the machine is the emergency way in', async () => {
    const { email } = await signUp(world.app);
    const token = await only.app.people.createLink(email, { makesOperator: true });
    const answer = await send(only, 'POST', '/portal/v1/password-resets', { body: { token, password } });
    assert.deepEqual([answer.status, answer.body.operator], [201, true]);
    const headers = { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
    assert.equal((await send(only, 'GET', '/portal/v1/me', { headers })).status, 200);
    // From now on it is an operator, so any link of the machine works.
    assert.match(await run(only, 'reset-password', email), /#\/set-password\/\w{43}/);
    const again = await only.app.people.createLink(email);
    const body = { token: again, password };
    assert.equal((await send(only, 'POST', '/portal/v1/password-resets', { body })).status, 201);
  });

  test('a link for a person who is no operator sets no password, and no command prints one', async () => {
    const { email } = await signUp(world.app);
    const token = await only.app.people.createLink(email);
    for (const [path, body] of [
      ['/portal/v1/password-resets/look', { token }],
      ['/portal/v1/password-resets', { token, password }],
    ] as const) {
      const { status, body: answer } = await send(only, 'POST', path, { body });
      assert.deepEqual([status, answer.code], [403, 'PERMISSION_DENIED'], path);
    }
    await assert.rejects(
      run(only, 'reset-password', email),
      (error: Error) => error.message.includes('HELIOGRAPH_SSO_ONLY') && error.message.includes(`operator -- ${email}`),
    );
    const demo = await world.app.app.people.createSignInLink(email);
    const { status } = await send(only, 'POST', '/portal/v1/sessions/link', { body: { token: demo } });
    assert.equal(status, 403);
    assert.equal(await only.app.people.createSignInLink(email), undefined);
  });

  test('a person who lost the second factor gets it turned off on the machine, without a password', async () => {
    const sub = arrive();
    const browser = createBrowser(world.app);
    await browser.signIn();
    const { body: begun } = await browser.send('POST', '/portal/v1/me/second-factor', { current_password: '' });
    const code = authenticator((begun as { secret: string }).secret, world.app.clock)();
    assert.equal((await browser.send('POST', '/portal/v1/me/second-factor/confirm', { code })).status, 200);
    const { email } = await browser.account();
    assert.match(await run(only, 'reset-password', email, '--remove-second-factor'), /second factor of .* is off/);
    assert.equal(await browser.me(), undefined, 'its sessions have ended');
    arrive({}, sub);
    assert.equal(await createBrowser(world.app).signIn(), '/');
    const { rows } = await world.app.db.database.query<{ actor: string }>(
      "select actor_kind as actor from audit where act = 'second_factor.turned_off'",
    );
    assert.equal(rows.at(-1)?.actor, 'machine');
  });

  test('a session that a password opened before is over, except that of an operator', async () => {
    const { browser, email } = await registered();
    const joined = createBrowser(world.app);
    arrive();
    await joined.signIn();
    const { browser: operator, email: operatorEmail } = await registered();
    await world.app.db.database.query('update person set operator = true where email = $1', [operatorEmail]);
    const here = async ({ jar }: TestBrowser) => {
      const same = createBrowser(only);
      for (const [name, value] of jar) same.jar.set(name, value);
      return (await same.send('GET', '/portal/v1/me')).status;
    };
    assert.deepEqual([await here(browser), await here(joined), await here(operator)], [401, 200, 200]);
    assert.equal((await browser.account()).email, email, 'the setting of one node says nothing to another');
    const hashes = async (of: string) => {
      const { rows } = await world.app.db.database.query<{ hash: Buffer }>(
        'select s.hash from session s join person p on p.id = s.person_id where p.email = $1',
        [of],
      );
      return rows.map(({ hash }) => hash);
    };
    const { config, clock, keys, db } = only;
    const signIns = createSignInLog(clock);
    const sessions = createSessions({
      database: db.database,
      clock,
      keys,
      signIns,
      https: false,
      ssoOnly: config.sso?.only === true,
    });
    assert.equal((await sessions.findOpen(await hashes(email))).length, 0, 'its streams end');
    assert.equal((await sessions.findOpen(await hashes(operatorEmail))).length, 1);
  });
});

test('without the settings there is no single sign-on, and its library is not loaded', async () => {
  const plain = await createTestApp({ delivery: 'held', db: world.app.db, clock: world.app.clock });
  const browser = createBrowser(plain);
  assert.equal((await browser.send('POST', '/portal/v1/sso/attempts', {})).status, 404);
  assert.equal((await browser.send('GET', '/portal/v1/sso/callback?code=x&state=y')).status, 404);
  const { body } = await send(plain, 'GET', '/portal/v1/service');
  assert.equal(body.sso, null);
  assert.equal(plain.app.ssoRechecks, undefined);
  await plain.close();
});
