// Single sign-on (CONTRACT, section 22) against the real oidc-provider.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, afterEach, before, describe, test } from 'node:test';
import { SignJWT, UnsecuredJWT } from 'jose';
import { codeOf, stepAt } from '../../src/accounts/sign-in/totp.ts';
import { fromBase32 } from '../support/base32.ts';
import { send, signUp } from '../support/developer.ts';
import { clientId, clientSecret } from '../support/sso-provider.ts';
import { createBrowser, createSsoWorld, pageOf, type SsoWorld } from '../support/sso-world.ts';

let world: SsoWorld;
before(async () => {
  world = await createSsoWorld({ env: { HELIOGRAPH_SSO_OPERATORS: 'groups=admins,sms' } });
});
after(() => world.close());
afterEach(() => {
  world.provider.answerAll = undefined;
  world.provider.answerToken = undefined;
});

let count = 0;
/** Someone new at the provider, who signs in next. */
function arrive(claims: Record<string, unknown> = {}, sub = `person-${++count}`) {
  const user = { sub, claims: { email: `${sub}@example.com`, email_verified: true, ...claims } };
  world.provider.user = user;
  return user;
}

describe('a sign-in', () => {
  test('makes a person with an account the first time, and is the same person from then on', async () => {
    const { claims } = arrive();
    const browser = createBrowser(world.app);
    assert.equal(await browser.signIn({ return_to: '/applications' }), '/applications');
    const first = await browser.account();
    assert.deepEqual([first.email, first.operator, first.has_password], [claims.email, false, false]);
    assert.deepEqual(first.sso, { joined: true, session: true });
    const other = createBrowser(world.app);
    // An e-mail is no identity: the provider may change it.
    arrive({ email: 'renamed@example.com' }, 'person-1');
    await other.signIn();
    assert.equal((await other.account()).person_id, first.person_id);
    const { body } = await browser.send('GET', '/portal/v1/me/sign-ins');
    const ways = (body as { data: { way: string; outcome: string }[] }).data;
    assert.deepEqual(ways[0] && [ways[0].way, ways[0].outcome], ['sso', 'signed_in']);
  });

  test('two at once for a new person make one person', async () => {
    arrive();
    const browsers = Array.from({ length: 4 }, () => createBrowser(world.app));
    const callbacks = await Promise.all(browsers.map(async (each) => each.toCallback(await each.begin())));
    await Promise.all(browsers.map((each, index) => each.follow(callbacks[index] ?? '')));
    const people = await Promise.all(browsers.map(async (each) => (await each.account()).person_id));
    assert.equal(new Set(people).size, 1);
  });

  test('an account that was registered with the same e-mail before is not joined', async () => {
    const squatter = await signUp(world.app);
    const { claims } = arrive({ email: squatter.email });
    const browser = createBrowser(world.app);
    await browser.signIn();
    const mine = await browser.account();
    const { body } = await squatter.send<{ person_id: string; id: string }>('GET', '/portal/v1/me');
    assert.notEqual(mine.person_id, body.person_id);
    assert.notEqual(mine.id, body.id);
    assert.match(mine.email, new RegExp(`^${claims.email} \\(\\w{6}\\)$`), 'told apart by what is shown');
  });

  test('without a usable e-mail the person is shown by its subject', async () => {
    arrive({ email: undefined }, 'Plain|Subject');
    const browser = createBrowser(world.app);
    await browser.signIn();
    assert.equal((await browser.account()).email, 'plainsubject@127.0.0.1');
    arrive({ email_verified: false }, 'unverified');
    const other = createBrowser(world.app);
    await other.signIn();
    assert.equal((await other.account()).email, 'unverified@127.0.0.1');
  });

  test('claims that only userinfo tells count too', async () => {
    world.provider.set({ claims: 'userinfo' });
    const { claims } = arrive({ groups: ['sms'] });
    const browser = createBrowser(world.app);
    await browser.signIn();
    const { email, operator } = await browser.account();
    assert.deepEqual([email, operator], [claims.email, true]);
    world.provider.set({ claims: 'id_token' });
  });

  test('a claim makes the session one of an operator; the person stays none', async () => {
    arrive({ groups: ['staff', 'admins'] });
    const browser = createBrowser(world.app);
    await browser.signIn();
    assert.equal((await browser.account()).operator, true);
    assert.equal((await browser.send('GET', '/portal/v1/operator/health')).status, 200);
    const { rows } = await world.app.db.database.query('select 1 from person where operator');
    assert.equal(rows.length, 0);
    for (const groups of ['admins-not', ['Admins'], { admins: true }, 7]) {
      arrive({ groups });
      const other = createBrowser(world.app);
      await other.signIn();
      assert.equal((await other.account()).operator, false, JSON.stringify(groups));
      assert.equal((await other.send('GET', '/portal/v1/operator/health')).status, 404);
    }
  });

  test('a disabled account says so', async () => {
    const { sub } = arrive();
    const browser = createBrowser(world.app);
    await browser.signIn();
    const { id } = await browser.account();
    await world.app.db.database.query("update account set disabled_at = now(), disabled_reason = 'x' where id = $1", [id]);
    arrive({}, sub);
    assert.equal(await createBrowser(world.app).signIn(), '/sign-in?sso=disabled');
  });
});

describe('our second factor', () => {
  test('a person without a password sets it up soon after a sign-in, and is asked for it from then on', async () => {
    const { sub } = arrive({ groups: ['admins'] });
    const browser = createBrowser(world.app);
    await browser.signIn();
    assert.equal((await browser.account()).second_factor.can_set_up, true);
    const begun = await browser.send('POST', '/portal/v1/me/second-factor', { current_password: '' });
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    const secret = fromBase32((begun.body as { secret: string }).secret);
    const codeNow = (ahead = 0) => codeOf(secret, stepAt(world.app.clock.nowMs()) + ahead);
    const confirmed = await browser.send('POST', '/portal/v1/me/second-factor/confirm', { code: codeNow() });
    assert.equal(confirmed.status, 200);

    arrive({ groups: ['admins'] }, sub);
    const other = createBrowser(world.app);
    const page = await other.signIn();
    const challenge = /^\/sign-in\?challenge=(sso\.[\w-]{43})$/.exec(page)?.[1];
    assert.ok(challenge, page);
    assert.equal(await other.me(), undefined, 'no session yet');
    const complete = (code: string) => other.send('POST', '/portal/v1/sessions/second-factor', { challenge, code });
    assert.equal((await complete('000000')).status, 400);
    assert.equal((await complete(codeNow(1))).status, 201);
    assert.equal((await other.account()).operator, true);
    world.app.clock.advance(60_000);
    assert.equal((await complete(codeNow())).status, 401, 'a challenge works once');
  });
});

describe('refused', () => {
  const fault = async (browser: ReturnType<typeof createBrowser>, address: string) =>
    pageOf(await browser.follow(address));

  test("another browser's state, no state, an old one, and the same callback again", async () => {
    arrive();
    const victim = createBrowser(world.app);
    const attacker = createBrowser(world.app);
    const callback = await attacker.toCallback(await attacker.begin());
    assert.equal(await fault(victim, callback), '/sign-in?sso=expired', 'without an attempt');
    await victim.begin();
    assert.equal(await fault(victim, callback), '/sign-in?sso=expired', 'with an attempt of its own');
    assert.equal(await victim.me(), undefined);
    assert.equal(await fault(victim, `${world.app.url}/portal/v1/sso/callback`), '/sign-in?sso=expired');
    // The attacker's own attempt still works, once.
    assert.equal(await fault(attacker, callback), '/');
    assert.equal(await fault(attacker, callback), '/sign-in?sso=expired', 'replayed');
    const late = createBrowser(world.app);
    const lateCallback = await late.toCallback(await late.begin());
    world.app.clock.advance(11 * 60_000);
    assert.equal(await fault(late, lateCallback), '/sign-in?sso=expired', 'after ten minutes');
  });

  test('a code that was used before, in an attempt of its own', async () => {
    arrive();
    const first = createBrowser(world.app);
    const used = new URL(await first.toCallback(await first.begin()));
    await first.follow(used.href);
    const second = createBrowser(world.app);
    const own = new URL(await second.toCallback(await second.begin()));
    own.searchParams.set('code', used.searchParams.get('code') ?? '');
    assert.equal(await fault(second, own.href), '/sign-in?sso=failed');
    assert.equal(await second.me(), undefined);
  });

  test('the person says no at the provider', async () => {
    world.provider.user = undefined;
    assert.equal(await createBrowser(world.app).signIn(), '/sign-in?sso=denied');
  });

  test('another issuer in the answer (RFC 9207)', async () => {
    arrive();
    const browser = createBrowser(world.app);
    const callback = new URL(await browser.toCallback(await browser.begin()));
    callback.searchParams.set('iss', 'https://other.example');
    assert.equal(await fault(browser, callback.href), '/sign-in?sso=failed');
  });

  test('ID tokens: nonce, audience, issuer, times, alg and key', async () => {
    const { issuer } = world.provider;
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const jwk = world.provider.publicJwk();
    const now = () => Math.floor(Date.now() / 1000);
    const claims = (nonce: string) => ({ iss: issuer, aud: clientId, sub: 'forged', nonce, iat: now(), exp: now() + 60 });
    const signed = (header: { alg: string; kid?: string }, key: Parameters<SignJWT['sign']>[0]) => (nonce: string) =>
      new SignJWT(claims(nonce)).setProtectedHeader(header).sign(key);
    const forged: Record<string, (nonce: string) => Promise<string> | string> = {
      'another key with the kid of a right one': signed({ alg: 'ES256', kid: String(jwk.kid) }, stranger),
      'a kid that nobody has': signed({ alg: 'ES256', kid: 'unknown' }, stranger),
      'alg none': (nonce) => new UnsecuredJWT(claims(nonce)).encode(),
      'HS256 by the client secret': signed({ alg: 'HS256' }, Buffer.from(clientSecret)),
      'HS256 by the public key': signed({ alg: 'HS256', kid: String(jwk.kid) }, Buffer.from(JSON.stringify(jwk))),
      'no token at all': () => '',
      'no JWT': () => 'a.b.c',
    };
    for (const [what, make] of Object.entries(forged)) {
      world.provider.answerToken = async (nonce) => {
        const id_token = await make(nonce);
        return { access_token: 'x', token_type: 'Bearer', expires_in: 60, ...(id_token !== '' && { id_token }) };
      };
      arrive();
      const browser = createBrowser(world.app);
      assert.equal(await browser.signIn(), '/sign-in?sso=failed', what);
      assert.equal(await browser.me(), undefined, what);
    }
    const { rows } = await world.app.db.database.query("select 1 from sso_identity where subject = 'forged'");
    assert.equal(rows.length, 0);
  });

  test('right signatures with a wrong nonce, audience, issuer, time or subject', async () => {
    const { issuer } = world.provider;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwks = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'ours', alg: 'ES256' }] });
    const now = Math.floor(Date.now() / 1000);
    const wrong: Record<string, Record<string, unknown>> = {
      'wrong nonce': { nonce: 'another' },
      'no nonce': { nonce: undefined },
      'wrong audience': { aud: 'other' },
      'another issuer': { iss: 'https://other.example' },
      expired: { iat: now - 700, exp: now - 600 },
      'no subject': { sub: undefined },
      'a subject without end': { sub: 'x'.repeat(300) },
    };
    for (const [what, changed] of Object.entries({ ...wrong, right: {} })) {
      arrive();
      const browser = createBrowser(world.app);
      const callback = await browser.toCallback(await browser.begin());
      const nonce = world.provider.lastNonce();
      const all = { iss: issuer, aud: clientId, sub: `crafted-${what}`, nonce, iat: now, exp: now + 60, ...changed };
      const claims = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      const id_token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'ours' }).sign(privateKey);
      const answers: Record<string, string> = {
        '/jwks': jwks,
        '/token': JSON.stringify({ access_token: 'x', token_type: 'Bearer', expires_in: 60, id_token }),
        '/me': JSON.stringify({ sub: `crafted-${what}` }),
      };
      world.provider.answerAll = (request, response) => {
        response.setHeader('Content-Type', 'application/json');
        response.end(answers[new URL(request.url ?? '/', issuer).pathname] ?? '{}');
      };
      const page = pageOf(await browser.follow(callback));
      assert.equal(page, what === 'right' ? '/' : '/sign-in?sso=failed', what);
      world.provider.answerAll = undefined;
    }
  });

  test('a provider that is away: the page says so, and passwords still work', async () => {
    const { email, password } = await signUp(world.app);
    const signInByPassword = async () =>
      (await send(world.app, 'POST', '/portal/v1/sessions', { body: { email, password } })).status;
    arrive();
    const browser = createBrowser(world.app);
    const callback = await browser.toCallback(await browser.begin());
    world.provider.answerAll = (_, response) => void response.writeHead(503).end('away');
    assert.equal(await fault(browser, callback), '/sign-in?sso=unavailable');
    assert.equal(await signInByPassword(), 201);
    world.provider.answerAll = undefined;
    arrive();
    const third = createBrowser(world.app);
    const cut = await third.toCallback(await third.begin());
    world.provider.answerAll = (request) => request.socket.destroy();
    assert.equal(await fault(third, cut), '/sign-in?sso=unavailable');
    assert.equal(await signInByPassword(), 201);
  });

  test('answers without end', async () => {
    arrive();
    const browser = createBrowser(world.app);
    const callback = await browser.toCallback(await browser.begin());
    world.provider.answerAll = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(`{"access_token":"${'x'.repeat(1_000_000)}"}`);
    };
    assert.equal(await fault(browser, callback), '/sign-in?sso=failed');
  });

  test('return_to is a path of the portal, and queries have bounds', async () => {
    const browser = createBrowser(world.app);
    for (const return_to of ['https://evil.example', '//evil.example', '/\\evil', 'x', `/${'x'.repeat(600)}`, '/a\nb']) {
      const { status } = await browser.send('POST', '/portal/v1/sso/attempts', { return_to });
      assert.equal(status, 400, return_to);
    }
    const long = await browser.send('GET', `/portal/v1/sso/callback?state=${'x'.repeat(300)}`);
    assert.equal(long.status, 400);
    const headers = { 'sec-fetch-site': 'cross-site' };
    assert.equal((await send(world.app, 'POST', '/portal/v1/sso/attempts', { headers, body: {} })).status, 403);
  });
});

test('keys rotate: the next sign-in works at once', async () => {
  arrive();
  await createBrowser(world.app).signIn();
  world.provider.rotateKeys();
  arrive();
  const browser = createBrowser(world.app);
  assert.equal(await browser.signIn(), '/');
  assert.ok(await browser.me());
});
