// Each identity server's own payload and proof, rebuilt from its source, and the answer that it expects.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  authentikPayload,
  createHookWorld,
  type HookBody,
  type HookWorld,
  kratosCodes,
  kratosContext,
  logtoPayload,
  signSupabase,
  signZitadel,
  supabasePayload,
  zitadelPayload,
} from './world.ts';

let world: HookWorld;
before(async () => {
  world = await createHookWorld();
});
after(() => world.close());

const bearer = ({ secret }: HookBody) => ({ authorization: `Bearer ${secret}` });
const outcomes = async (hook: HookBody) => (await world.calls(hook)).map(({ outcome }) => outcome);

describe('supabase', () => {
  let hook: HookBody;
  before(async () => {
    hook = await world.create({ kind: 'supabase' });
  });
  const call = (payload: object, { secrets = [hook.secret ?? ''], atMs = world.app.clock.nowMs() } = {}) => {
    const body = JSON.stringify(payload);
    return world.post(hook, body, signSupabase(world.app, secrets, body, atMs));
  };

  test('the settings have the address and the secret, written as Supabase reads it', () => {
    assert.match(hook.secret ?? '', /^v1,whsec_[A-Za-z0-9+/]+=*$/);
    assert.match(hook.url, /\/hooks\/v1\/supabase\/hok_[0-9a-z]{26}$/);
    assert.deepEqual(
      hook.settings.map(({ value }) => value),
      ['true', hook.url, hook.secret],
    );
  });

  test('the code is sent, and every retry has an id of its own but sends nothing more', async () => {
    const to = world.newNumber();
    const payload = supabasePayload(to.slice(1), '482913');
    const first = await call(payload);
    assert.deepEqual([first.status, first.text], [200, '{}']);
    assert.match(first.headers.get('content-type') ?? '', /^application\/json/);
    assert.ok(first.headers.get('ratelimit-remaining'));
    const again = await Promise.all(Array.from({ length: 30 }, () => call(payload)));
    assert.deepEqual(new Set(again.map(({ status, text }) => `${status} ${text}`)), new Set(['200 {}']));
    const texts = await world.codes(to, 1);
    assert.equal(texts.length, 1);
    assert.match(texts[0] ?? '', /482913/);
    assert.deepEqual(new Set(await outcomes(hook)), new Set(['repeated', 'sent']));
  });

  test('one of several signatures is enough, and the number of a phone factor counts', async () => {
    const to = world.newNumber();
    const secrets = [`v1,whsec_${Buffer.alloc(32, 7).toString('base64')}`, hook.secret ?? ''];
    const { status } = await call(supabasePayload('', '112233', { phone: to }), { secrets });
    assert.equal(status, 200);
    assert.match((await world.codes(to, 1))[0] ?? '', /112233/);
  });

  test('metadata of 200 KiB', async () => {
    const payload = supabasePayload(world.newNumber(), '112233');
    Object.assign(payload.user.user_metadata, { note: 'x'.repeat(200 * 1024) });
    assert.equal((await call(payload)).status, 200);
    Object.assign(payload.user.user_metadata, { note: 'x'.repeat(300 * 1024) });
    assert.equal((await call(payload)).status, 413);
  });

  test('401: another key, another body, a signature that is older than 5 minutes', async () => {
    const payload = supabasePayload(world.newNumber(), '445566');
    const wrong = { secrets: [`v1,whsec_${Buffer.alloc(32, 9).toString('base64')}`] };
    assert.equal((await call(payload, wrong)).status, 401);
    assert.equal((await call(payload, { atMs: world.app.clock.nowMs() - 301_000 })).status, 401);
    const body = JSON.stringify(payload);
    const headers = signSupabase(world.app, [hook.secret ?? ''], body);
    assert.equal((await world.post(hook, `${body} `, headers)).status, 401);
    assert.equal((await world.post(hook, body, {})).status, 401);
    assert.equal((await world.post(hook, body, headers)).status, 200);
  });

  test('a refusal is a 200 that names the status: Supabase would repeat a 429 or 503 at once', async () => {
    const bad = await call(supabasePayload('12', '445566'));
    const { error } = JSON.parse(bad.text) as { error: { http_code: number; message: string } };
    assert.deepEqual([bad.status, error.http_code], [200, 400]);
    assert.match(error.message, /user\.phone/);
    const missing = await call({ user: { phone: world.newNumber() }, sms: {} });
    assert.match(missing.text, /"http_code":400.*sms\.otp is missing/);
    const blocked = await call(supabasePayload('15005550112', '445566'));
    assert.match(blocked.text, /"http_code":403.*block_list/);
    assert.deepEqual((await outcomes(hook)).slice(0, 3), ['blocked', 'bad_payload', 'refused']);
  });
});

test('logto: a fixed Authorization value, and the code in its language', async () => {
  const hook = await world.create({ kind: 'logto' });
  assert.deepEqual(
    hook.settings.map(({ value }) => value),
    [hook.url, `Bearer ${hook.secret}`],
  );
  const to = world.newNumber();
  const body = JSON.stringify(logtoPayload(to, '770011'));
  assert.equal((await world.post(hook, body, bearer(hook))).status, 200);
  assert.equal((await world.post(hook, body, { authorization: hook.secret ?? '' })).status, 200);
  const texts = await world.codes(to, 1);
  assert.equal(texts.length, 1);
  assert.match(texts[0] ?? '', /Code.*770011|770011.*Code/s);
  const { status, text } = await world.post(hook, JSON.stringify({ to, type: 'Test', payload: {} }), bearer(hook));
  assert.equal(status, 400);
  assert.match(text, /payload\.code is missing/);
});

test('zitadel: the signing key that it made, and a text where there is no code', async () => {
  const refused = await world.acme.developer.send('POST', world.base, { kind: 'zitadel' });
  assert.equal(refused.status, 400);
  const key = 'zitadel-made-this-key';
  const hook = await world.create({ kind: 'zitadel', secret: key, from: 'ACME' });
  assert.equal(hook.secret, null);
  const to = world.newNumber();
  const call = (payload: object, keys = [key], atMs?: number) => {
    const body = JSON.stringify(payload);
    return world.post(hook, body, signZitadel(world.app, keys, body, atMs));
  };
  const payload = zitadelPayload(to, { code: '990011' }, '990011 is your code');
  assert.equal((await call(payload, ['another', key])).status, 200);
  assert.match((await world.codes(to, 1))[0] ?? '', /990011/);
  const person = world.newNumber();
  assert.equal((await call(zitadelPayload(person, { oTP: '880022' }, '880022 is your code'))).status, 200);
  assert.match((await world.codes(person, 1))[0] ?? '', /^(?!880022 is your code)/);
  assert.equal((await call(payload, ['another'])).status, 401);
  assert.equal((await call(payload, [key], world.app.clock.nowMs() - 301_000)).status, 401);
  const other = world.newNumber();
  const text = zitadelPayload(other, {}, 'Your password was changed.');
  assert.deepEqual([(await call(text)).status, (await call(text)).status], [200, 200]);
  assert.deepEqual(await world.codes(other, 1), ['Your password was changed.']);
  assert.deepEqual((await outcomes(hook)).slice(0, 2), ['repeated', 'sent']);
  const letters = world.newNumber();
  const withLetters = zitadelPayload(letters, { code: 'A3K9Z2' }, 'A3K9Z2 is your code');
  assert.equal((await call(withLetters)).status, 200, 'a code with letters is sent in the text of the server');
  assert.deepEqual(await world.codes(letters, 1), ['A3K9Z2 is your code']);
  await world.acme.developer.send('PATCH', `${world.base}/${hook.id}`, { from: null });
  const { status, text: reason } = await call(withLetters);
  assert.equal(status, 400);
  assert.match(reason, /args\.code must be 4 to 10 digits/);
  const { text: refusal } = await call(zitadelPayload(other, {}, ''));
  assert.match(refusal, /args\.code and templateData\.text are missing/);
});

test('authentik: Bearer or Basic, and plain text for the person where it is refused', async () => {
  const hook = await world.create({ kind: 'authentik' });
  const to = world.newNumber();
  const call = (payload: object, headers = bearer(hook)) => world.post(hook, JSON.stringify(payload), headers);
  assert.equal((await call(authentikPayload(to, '313233'))).status, 200);
  const basic = `Basic ${Buffer.from(`authentik:${hook.secret}`).toString('base64')}`;
  const other = world.newNumber();
  assert.equal((await call(authentikPayload(other, '343536'), { authorization: basic })).status, 200);
  assert.match((await world.codes(to, 1))[0] ?? '', /313233/);
  assert.match((await world.codes(other, 1))[0] ?? '', /343536/);
  const blocked = await call(authentikPayload('+15005550112', '343536'));
  assert.equal(blocked.status, 403);
  assert.match(blocked.headers.get('content-type') ?? '', /^text\/plain/);
  assert.match(blocked.text, /^The guard blocked this number/);
  const wrong = await call(authentikPayload(to, '343536'), { authorization: 'Bearer hg_hook_nothing' });
  assert.equal(wrong.status, 401);
});

test('generic with pointers, and the servers that are generic with pointers of their own', async () => {
  const pointers = { to: '/data/phone~1e164', code: '/data/codes/0' };
  const hook = await world.create({ kind: 'generic', pointers });
  const to = world.newNumber();
  const { status } = await world.post(
    hook,
    JSON.stringify({ data: { 'phone/e164': to, codes: ['551100'] } }),
    bearer(hook),
  );
  assert.equal(status, 200);
  assert.match((await world.codes(to, 1))[0] ?? '', /551100/);

  const auth0 = await world.create({ kind: 'auth0' });
  const notification = { recipient: world.newNumber(), code: '882211', as_text: 'Your code is 882211', locale: 'en' };
  assert.equal((await world.post(auth0, JSON.stringify(notification), bearer(auth0))).status, 200);

  const keycloak = await world.create({ kind: 'keycloak', from: 'ACME' });
  const person = world.newNumber();
  const message = JSON.stringify({ to: person, from: 'Keycloak', message: 'Your SMS code is 121212' });
  assert.equal((await world.post(keycloak, message, { apikey: keycloak.secret ?? '' })).status, 200);
  assert.deepEqual(await world.codes(person, 1), ['Your SMS code is 121212']);
});

test('kratos: the code of each of its flows goes out as a code, not as a text', async () => {
  const hook = await world.create({ kind: 'kratos' });
  for (const [index, type] of (Object.keys(kratosCodes) as (keyof typeof kratosCodes)[]).entries()) {
    const to = world.newNumber();
    const body = JSON.stringify(kratosContext(to, type, `66110${index}`));
    assert.equal((await world.post(hook, body, bearer(hook))).status, 200, type);
    assert.match((await world.codes(to, 1))[0] ?? '', new RegExp(`66110${index}`));
  }
  const { status, text } = await world.post(hook, JSON.stringify({ recipient: world.newNumber() }), bearer(hook));
  assert.equal(status, 400);
  assert.match(text, /template_data\.verification_code and body are missing/);
});
