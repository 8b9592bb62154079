// Sessions of single sign-on: checked at the provider every 5 minutes, ended an hour after the last good check.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { createBrowser, createSsoWorld, type SsoWorld, ssoEnv } from '../support/sso-world.ts';

let world: SsoWorld;
let there: TestApp;
before(async () => {
  const env = { HELIOGRAPH_SSO_OPERATORS: 'groups=admins' };
  world = await createSsoWorld({ env });
  const { app, provider } = world;
  there = await createTestApp({
    ...{ delivery: 'held', db: app.db, clock: app.clock },
    env: { ...env, ...ssoEnv(provider), HELIOGRAPH_PUBLIC_URL: app.config.publicUrl },
  });
});
after(async () => {
  await there.close();
  await world.close();
});
afterEach(() => {
  world.provider.answerAll = undefined;
});

const minute = 60_000;
let count = 0;
async function signedIn(given: Record<string, unknown> = {}) {
  const claims: Record<string, unknown> = { email: `session-${++count}@example.com`, ...given };
  const user = { sub: `session-${count}`, claims };
  world.provider.user = user;
  const browser = createBrowser(world.app);
  assert.equal(await browser.signIn(), '/');
  return { browser, user };
}

const refreshes = () => world.provider.requests.filter((path) => path === '/token').length;
async function recheck(app = world.app): Promise<void> {
  await app.app.ssoRechecks?.run();
}

/** Five minutes later, with the checks of that time done. */
async function later(minutes = 5.1): Promise<void> {
  world.app.clock.advance(minutes * minute);
  await recheck();
}

describe('with a refresh token', () => {
  test('a session goes on while the provider vouches for the person, with a new refresh token each time', async () => {
    const { browser } = await signedIn();
    const before = refreshes();
    await recheck();
    assert.equal(refreshes(), before, 'not due yet');
    for (let round = 0; round < 15; round++) {
      await later();
      assert.ok(await browser.me(), `after ${round} checks`);
    }
  });

  test('a person who was removed at the provider loses the session at the next check', async () => {
    const { browser, user } = await signedIn();
    world.provider.remove(user.sub);
    assert.ok(await browser.me());
    await later();
    assert.equal(await browser.me(), undefined);
  });

  test('a person who is no operator any longer loses the right, and keeps the session', async () => {
    const { browser, user } = await signedIn({ groups: ['admins'] });
    assert.equal((await browser.account()).operator, true);
    user.claims.groups = ['staff'];
    await later();
    assert.equal((await browser.account()).operator, false);
    user.claims.groups = ['admins'];
    await later();
    assert.equal((await browser.account()).operator, false, 'only a sign-in gives it');
  });

  test('a person who is in no group any longer: the claim is left out, and the right is lost', async () => {
    const { browser, user } = await signedIn({ groups: ['admins'] });
    delete user.claims.groups;
    await later();
    assert.equal((await browser.account()).operator, false);
  });

  test('userinfo that fails for a while costs no session: the refresh token before it is used up', async () => {
    world.provider.set({ claims: 'userinfo' });
    const { browser } = await signedIn({ groups: ['admins'] });
    world.provider.failsUserinfo = true;
    await later();
    world.provider.failsUserinfo = false;
    await later();
    assert.equal((await browser.account()).operator, true);
    await later();
    assert.ok(await browser.me());
    world.provider.set({ claims: 'id_token' });
  });

  test('a provider that is away: the session goes on, until an hour after the last good check', async () => {
    const { browser } = await signedIn();
    await later();
    world.provider.answerAll = (_, response) => void response.writeHead(500).end();
    for (let waited = 0; waited < 55; waited += 11) {
      await later(11);
      assert.ok(await browser.me(), `after ${waited + 11} minutes`);
    }
    await later(10);
    assert.equal(await browser.me(), undefined);
  });

  test('it works again after an outage', async () => {
    const { browser } = await signedIn();
    world.provider.answerAll = (request) => request.socket.destroy();
    await later();
    world.provider.answerAll = undefined;
    for (const minutes of [1, 20, 20, 20, 20]) {
      await later(minutes);
      assert.ok(await browser.me());
    }
  });

  test('two nodes check a session once: a refresh token must not be used twice', async () => {
    await world.app.db.database.query('delete from session');
    const { browser } = await signedIn();
    world.app.clock.advance(5.1 * minute);
    const before = refreshes();
    await Promise.all([recheck(world.app), recheck(there), recheck(world.app), recheck(there)]);
    assert.equal(refreshes() - before, 1);
    assert.ok(await browser.me());
    const other = createBrowser(there);
    assert.equal(await other.me(), undefined);
  });

  test('refresh tokens are sealed: no table holds one', async () => {
    await signedIn();
    const { rows } = await world.app.db.database.query<{ refresh: Buffer }>('select refresh from sso_session');
    assert.ok(rows.length > 0);
    for (const { refresh } of rows) assert.ok(refresh.length > 40);
    const tokens = world.provider.refreshTokens();
    assert.ok(tokens.length > 0, 'the provider made some');
    for (const { refresh } of rows) for (const token of tokens) assert.ok(!refresh.includes(token));
  });

  test('keys of the provider rotate between two checks', async () => {
    const { browser } = await signedIn();
    world.provider.rotateKeys();
    await later();
    assert.ok(await browser.me());
  });
});

test('without a refresh token a session ends after an hour', async () => {
  world.provider.set({ refreshTokens: false });
  const { browser } = await signedIn();
  for (const waited of [20, 20, 15]) {
    await later(waited);
    assert.ok(await browser.me());
  }
  await later(10);
  assert.equal(await browser.me(), undefined);
  world.provider.set({ refreshTokens: true });
});

test('signing out ends the session here, the refresh token there, and names the page that ends the rest', async () => {
  const { browser } = await signedIn();
  const before = world.provider.requests.length;
  const { status, body } = await browser.send('DELETE', '/portal/v1/sso/session');
  assert.equal(status, 200);
  const url = new URL((body as { logout_url: string }).logout_url);
  assert.equal(url.origin + url.pathname, `${world.provider.issuer}/session/end`);
  assert.equal(url.searchParams.get('post_logout_redirect_uri'), `${world.app.config.publicUrl}/`);
  assert.equal(await browser.me(), undefined);
  await eventually('the provider learns of it', () =>
    world.provider.requests.slice(before).includes('/token/revocation'),
  );
});

test('an hour later the chore deletes attempts and challenges that are over', async () => {
  await createBrowser(world.app).begin();
  world.app.clock.advance(120 * minute);
  await world.app.delivery.maintenance.runAll();
  const { rows } = await world.app.db.database.query('select 1 from sso_attempt');
  assert.equal(rows.length, 0);
});
