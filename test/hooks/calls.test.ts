// Hooks as developers manage them, and what calls cost whom.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { createSender, dumpAll } from '../support/texts.ts';
import {
  createHookWorld,
  type HookBody,
  type HookWorld,
  logtoPayload,
  signSupabase,
  supabasePayload,
} from './world.ts';

let world: HookWorld;
before(async () => {
  world = await createHookWorld();
});
after(() => world.close());

const bearer = (secret: string | null) => ({ authorization: `Bearer ${secret}` });
const callOf = (to: string, code = '414243') => JSON.stringify(logtoPayload(to, code));

test('create, read, list, change and delete; another account finds nothing', async () => {
  const { developer } = world.acme;
  const hook = await world.create({ kind: 'logto', locale: 'de' });
  const path = `${world.base}/${hook.id}`;
  const read = await developer.send<HookBody>('GET', path);
  assert.equal(read.status, 200);
  assert.equal(JSON.stringify(read.body).includes(hook.secret ?? ''), false, 'the secret is shown once');
  assert.equal(read.body.secrets.length, 1);
  const changed = await developer.send<{ locale: string }>('PATCH', path, { locale: 'fr' });
  assert.deepEqual([changed.status, changed.body.locale], [200, 'fr']);
  const list = await developer.send<{ data: HookBody[] }>('GET', world.base);
  assert.deepEqual(
    list.body.data.map(({ id }) => id),
    [hook.id],
  );
  const { developer: other } = await createSender(world.app, { apis: ['sms'] });
  assert.equal((await other.send('GET', path)).status, 404);
  assert.equal((await developer.send('DELETE', path)).status, 204);
  assert.equal((await developer.send('GET', path)).status, 404);
  assert.equal((await world.post(hook, callOf(world.newNumber()), bearer(hook.secret))).status, 404);
  const { rows } = await world.app.db.database.query<{ act: string }>(
    `select act from audit where act like 'hook.%' order by act`,
  );
  assert.deepEqual(
    rows.map(({ act }) => act),
    ['hook.changed', 'hook.created', 'hook.deleted'],
  );
});

test('400: fields that are wrong', async () => {
  for (const [given, field] of [
    [{ kind: 'firebase' }, 'kind'],
    [{ kind: 'generic' }, 'pointers.to'],
    [{ kind: 'generic', pointers: { to: 'phone', code: '/code' } }, 'pointers.to'],
    [{ kind: 'logto', secret: 'mine' }, 'secret'],
    [{ kind: 'logto', from: 'a name that is far too long' }, 'from'],
    [{ kind: 'logto', locale: '!' }, 'locale'],
  ] as const) {
    const { status, body } = await world.acme.developer.send<{ details: { field: string }[] }>(
      'POST',
      world.base,
      given,
    );
    assert.deepEqual([status, body.details[0]?.field], [400, field], JSON.stringify(given));
  }
});

test('a text that is not UTF-8 is a bad payload, and costs no text', async () => {
  const hook = await world.create({ kind: 'logto' });
  const [before = '', after = ''] = callOf(world.newNumber(), 'CODE').split('CODE');
  const body = Buffer.concat([Buffer.from(before), Buffer.from([0xe9]), Buffer.from(after)]);
  assert.equal((await world.post(hook, body, bearer(hook.secret))).status, 400);
  assert.equal((await world.calls(hook))[0]?.outcome, 'bad_payload');
});

test('400: a change that would leave the hook without a number or a code', async () => {
  const hook = await world.create({ kind: 'generic', pointers: { to: '/to', code: '/code' } });
  const change = (given: object) =>
    world.acme.developer.send<{ details: { field: string }[] }>('PATCH', `${world.base}/${hook.id}`, given);
  for (const [pointers, field] of [
    [null, 'pointers.to'],
    [{}, 'pointers.to'],
    [{ code: '/otp' }, 'pointers.to'],
    [{ to: '/phone' }, 'pointers.code'],
  ] as const) {
    const { status, body } = await change({ pointers });
    assert.deepEqual([status, body.details[0]?.field], [400, field], JSON.stringify(pointers));
  }
  assert.equal((await change({ locale: 'de' })).status, 200, 'pointers that are not given stay');
  assert.equal((await change({ pointers: { to: '/phone', text: '/text' } })).status, 200);
  const to = world.newNumber();
  assert.equal((await world.post(hook, JSON.stringify({ phone: to, text: 'Hello' }), bearer(hook.secret))).status, 400);
  assert.equal((await change({ from: 'ACME' })).status, 200);
  assert.equal((await world.post(hook, JSON.stringify({ phone: to, text: 'Hello' }), bearer(hook.secret))).status, 200);
});

test('a new secret, with an overlap and without', async () => {
  const hook = await world.create({ kind: 'logto' });
  const rotate = (overlap_seconds: number) =>
    world.acme.developer.send<{ secret: string }>('POST', `${world.base}/${hook.id}/secrets`, { overlap_seconds });
  const call = async (secret: string | null) =>
    (await world.post(hook, callOf(world.newNumber()), bearer(secret))).status;
  const second = await rotate(60);
  assert.equal(second.status, 201);
  assert.deepEqual([await call(hook.secret), await call(second.body.secret)], [200, 200]);
  world.app.clock.advance(60_000);
  assert.deepEqual([await call(hook.secret), await call(second.body.secret)], [401, 200]);
  const third = await rotate(0);
  assert.deepEqual([await call(second.body.secret), await call(third.body.secret)], [401, 200]);
});

test('test sends a code to the handset, and the calls show it', async () => {
  const hook = await world.create({ kind: 'supabase' });
  const to = world.newNumber();
  const path = `${world.base}/${hook.id}/test`;
  const { status, body } = await world.acme.developer.send<{ outcome: string; subject: string }>('POST', path, { to });
  assert.deepEqual([status, body.outcome], [200, 'sent']);
  assert.equal((await world.codes(to, 1)).length, 1);
  assert.deepEqual(
    (await world.calls(hook)).map(({ outcome, subject }) => [outcome, subject]),
    [['sent', body.subject]],
  );
});

test('a test to what is no number is a 400 that names the field', async () => {
  const hook = await world.create({ kind: 'supabase' });
  for (const to of ['12', 'nobody', '447700900123', '']) {
    const path = `${world.base}/${hook.id}/test`;
    const { status, body } = await world.acme.developer.send<{ details: { field: string }[] }>('POST', path, { to });
    assert.deepEqual([status, body.details[0]?.field], [400, 'to'], to);
  }
  assert.deepEqual(await world.calls(hook), []);
});

test('a test counts on the registration, which refuses what is over its limit', async () => {
  const free = await createHookWorld({}, { plan: 'free' });
  const hook = await free.create({ kind: 'logto' });
  const statuses: number[] = [];
  for (let sent = 0; sent <= 60; sent++)
    statuses.push(
      (await free.acme.developer.send('POST', `${free.base}/${hook.id}/test`, { to: free.newNumber() })).status,
    );
  await free.close();
  assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.at(-1)], [60, 429]);
});

test('no secret and no code of a call is at rest in clear', async () => {
  const [logto, supabase] = [await world.create({ kind: 'logto' }), await world.create({ kind: 'supabase' })];
  const payload = JSON.stringify(supabasePayload(world.newNumber(), '7531902468'));
  assert.equal(
    (await world.post(supabase, payload, signSupabase(world.app, [supabase.secret ?? ''], payload))).status,
    200,
  );
  await world.post(logto, callOf(world.newNumber(), '8642013579'), bearer(logto.secret));
  await world.calls(logto);
  const dump = await dumpAll(world.app);
  const log = world.app.logLines.join('');
  for (const text of [logto.secret, supabase.secret?.slice(9), '7531902468', '8642013579'])
    for (const place of [dump, log]) assert.equal(place.includes(text ?? ''), false);
});

test('a hook that is deleted meanwhile does not cost the others their calls', async () => {
  const [gone, stays] = [await world.create({ kind: 'logto' }), await world.create({ kind: 'logto' })];
  const { database } = world.app.db;
  let free: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    free = resolve;
  });
  let deleting: Promise<unknown> = Promise.resolve();
  await new Promise<void>((locked, fail) => {
    deleting = database
      .transaction(async (tx) => {
        await tx.query('delete from hook where id = $1', [gone.id]);
        locked();
        await held;
      })
      .catch(fail);
  });
  for (const hook of [gone, stays]) await world.post(hook, '{}', bearer(hook.secret));
  const listed = world.calls(stays);
  await eventually('the calls are being written', async () => {
    const { rows } = await database.query<{ waits: boolean }>(
      `select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
         and query like '%hook_call%') as waits`,
    );
    return rows[0]?.waits;
  });
  free();
  await deleting;
  assert.deepEqual(
    (await listed).map(({ outcome }) => outcome),
    ['bad_payload'],
  );
});

describe('limits', () => {
  test('a wrong proof and an unknown hook count by address, and cost the registration nothing', async () => {
    const own = await createHookWorld({ env: { HELIOGRAPH_ADDRESS_PER_MINUTE: '40', HELIOGRAPH_ADDRESS_BURST: '40' } });
    const hook = await own.create({ kind: 'logto' });
    const right = () => own.post(hook, callOf(own.newNumber()), bearer(hook.secret));
    const remaining = async () => Number((await right()).headers.get('ratelimit-remaining'));
    const before = await remaining();
    const unknown = { url: hook.url.slice(0, -1) + (hook.url.endsWith('0') ? '1' : '0') };
    const statuses = new Set<number>();
    for (let count = 0; count < 60; count++) {
      const made = count % 2 === 0 ? own.post(hook, callOf('+1'), bearer('wrong')) : own.post(unknown, '{}', {});
      statuses.add((await made).status);
    }
    assert.deepEqual(
      [...statuses].sort((a, b) => a - b),
      [401, 404, 429],
    );
    const { status, headers } = await right();
    assert.deepEqual(
      [status, Number(headers.get('ratelimit-remaining'))],
      [200, before - 1],
      'never refused by its address',
    );
    // The portal counts by address, too.
    own.app.clock.advance(180_000);
    const known = (await own.calls(hook)).map(({ outcome }) => outcome);
    assert.ok(known.filter((outcome) => outcome === 'wrong_proof').length < 25, 'a flood is not listed');
    assert.equal(known.filter((outcome) => outcome === 'sent').length, 2, 'the calls of the server stay');
    await own.close();
  });

  test('payloads of nonsense meet the limits of the registration, also where there is only one for texts', async () => {
    const own = await createHookWorld({}, { plan: 'free', apis: ['sms'] });
    const hook = await own.create({ kind: 'keycloak', from: 'ACME' });
    let last = 400;
    for (let count = 0; last === 400 && count < 200; count++)
      last = (await own.post(hook, '{}', { apikey: hook.secret ?? '' })).status;
    assert.equal(last, 429);
    await own.close();
  });

  test('the registration is charged; a limit is a 429, for Supabase a 200 that names it', async () => {
    const own = await createHookWorld({}, { plan: 'free' });
    const [logto, supabase] = [await own.create({ kind: 'logto' }), await own.create({ kind: 'supabase' })];
    let last = 200;
    for (let count = 0; last === 200 && count < 200; count++)
      last = (await own.post(logto, callOf(own.newNumber()), bearer(logto.secret))).status;
    assert.equal(last, 429);
    const payload = JSON.stringify(supabasePayload(own.newNumber(), '445566'));
    const limited = await own.post(supabase, payload, signSupabase(own.app, [supabase.secret ?? ''], payload));
    assert.equal(limited.status, 200);
    assert.match(limited.text, /"http_code":429/);
    assert.ok(Number(limited.headers.get('retry-after')) > 0);
    assert.equal((await own.calls(supabase))[0]?.outcome, 'limited');
    await own.close();
  });
});
