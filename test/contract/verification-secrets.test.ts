import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  app = await createTestApp();
  acme = await createVerifyCaller(app);
});
after(() => app.close());

test('after a run with 10-digit codes, no table and no log line has one of them', async () => {
  const codes: string[] = [];
  for (let i = 0; i < 20; i++) {
    const { id, code, wrong } = await acme.pending({ code_length: 10, autofill: { domain: 'example.com' } });
    assert.match(code, /^[0-9]{10}$/);
    codes.push(code);
    await acme.send('POST', `/verify/v1/verifications/${id}`, { code: wrong }, { 'idempotency-key': `wrong-${i}` });
    await acme.send('POST', `/verify/v1/verifications/${id}`, { code }, { 'idempotency-key': `right-${i}` });
  }
  const { database } = app.db;
  const { rows: tables } = await database.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  );
  let searched = 0;
  for (const { name } of tables) {
    const { rows } = await database.query<{ row: string }>(`select t::text as row from ${name} t`);
    searched += rows.length;
    const dump = rows.map(({ row }) => row).join('\n');
    for (const code of codes) assert.ok(!dump.includes(code), `${name} has a code`);
  }
  assert.ok(searched > 100, `${searched} rows were searched`);
  const log = app.logLines.join('');
  for (const code of codes) assert.ok(!log.includes(code), 'a log line has a code');
});

test('the proof verifies with an independent library against the published JWKS, and opens no API', async () => {
  const { id, to, code } = await acme.pending();
  const { body } = await acme.check(id, code);
  const proof = body.proof ?? '';
  const issuer = `${app.config.publicUrl}/realms/${app.config.realm}`;
  const keys = createRemoteJWKSet(new URL(`${app.url}/realms/${app.config.realm}/protocol/openid-connect/certs`));
  const { payload, protectedHeader } = await jwtVerify(proof, keys, {
    issuer,
    currentDate: new Date(app.clock.nowMs()),
  });
  assert.deepEqual(
    [payload.sub, payload.phone_number, payload.phone_number_verified, typeof payload.aud, typeof payload.jti],
    [id, to, true, 'string', 'string'],
  );
  assert.match(String(payload.aud), /^app_/);
  assert.equal(protectedHeader.typ, 'phone-proof+jwt');
  assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 600);
  for (const path of ['/verify/v1/verifications', '/messaging/v1/messages']) {
    const refused = await send(app, 'GET', path, { headers: { authorization: `Bearer ${proof}` } });
    assert.equal(refused.status, 401);
  }
});

test('a replayed check spends no try and returns the first response', async () => {
  const { id, wrong } = await acme.pending();
  const check = () =>
    acme.send('POST', `/verify/v1/verifications/${id}`, { code: wrong }, { 'idempotency-key': 'one check' });
  assert.equal((await check()).status, 400);
  const keyed = () =>
    acme.send('POST', `/verify/v1/verifications/${id}`, { code: wrong }, { 'idempotency-key': 'check-1' });
  const first = await keyed();
  const replay = await keyed();
  assert.deepEqual(replay.body, first.body);
  assert.equal(replay.headers.get('idempotency-replayed'), 'true');
  assert.equal((await acme.read(id)).body.attempts_remaining, 4);
});

test('a replayed start sends nothing and returns the first response', async () => {
  const to = acme.newNumber();
  const start = () =>
    acme.send('POST', '/verify/v1/verifications', { to, channel: 'sms' }, { 'idempotency-key': `start-${to}` });
  const first = await start();
  app.clock.advance(5000);
  const replay = await start();
  assert.deepEqual(replay.body, first.body);
  assert.equal(replay.headers.get('idempotency-replayed'), 'true');
  assert.equal((await acme.texts(to, 1)).length, 1);
});

test('guard/explain: every rule with its limit and what it saw', async () => {
  const to = acme.newNumber();
  await acme.start({ to });
  const { status, body } = await acme.send<{
    decision: string;
    reason: null;
    rules: { rule: string; seen: unknown }[];
  }>('POST', '/verify/v1/guard/explain', { to });
  assert.equal(status, 200);
  assert.deepEqual([body.decision, body.reason], ['allow', null]);
  assert.deepEqual(
    body.rules.map(({ rule }) => rule),
    ['country_not_allowed', 'block_list', 'number_type', 'destination_limit', 'prefix_velocity', 'too_many_failures'],
  );
  assert.equal(body.rules.find(({ rule }) => rule === 'destination_limit')?.seen, 1);
});

test('guard/explain says of a test number what a start would say: it knows no guard', async () => {
  const explain = async (to: string) =>
    (await acme.send<{ decision: string; reason: string | null }>('POST', '/verify/v1/guard/explain', { to })).body;
  for (const [to, decision, reason] of [
    ['+15005550100', 'allow', null],
    ['+15005550112', 'block', 'block_list'],
  ] as const) {
    const explained = await explain(to);
    assert.deepEqual([explained.decision, explained.reason], [decision, reason]);
    assert.equal((await acme.start({ to })).body.reason, reason);
  }
});

test('the guard refuses with a true reason; nothing is sent', async () => {
  const guarded = await createTestApp({
    env: {
      HELIOGRAPH_GUARD: JSON.stringify({ countries: ['GB'], blocked: ['+44777'], per_number: 2, per_prefix: 3 }),
    },
  });
  const caller = await createVerifyCaller(guarded);
  const reasonFor = async (to: string) => {
    const { status, body } = await caller.start({ to });
    assert.equal(status, 200);
    if (body.status === 'blocked') assert.deepEqual([body.delivery, body.sends, body.attempts_remaining], [null, 0, 0]);
    return body.reason;
  };
  assert.equal(await reasonFor('+4915112345678'), 'country_not_allowed');
  assert.equal(await reasonFor('+447771234567'), 'block_list');
  for (let i = 0; i < 2; i++) {
    assert.equal(await reasonFor('+447400123456'), null);
    guarded.clock.advance(600_000);
  }
  assert.equal(await reasonFor('+447400123456'), 'destination_limit');
  assert.equal(await reasonFor('+447400123457'), null);
  assert.equal(await reasonFor('+447400123458'), 'prefix_velocity');
  const explained = await caller.send('POST', '/verify/v1/guard/explain', { to: '+447400123456' });
  assert.deepEqual([explained.body.decision, explained.body.reason], ['block', 'destination_limit']);
  await guarded.close();
});
