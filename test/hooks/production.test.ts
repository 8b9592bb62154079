// Hooks in production: the guard's counting rules and the limit of segments decide the calls of identity servers, too.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Caller, createProduction, type Production } from '../support/production.ts';
import { type HookBody, type HookWorld, hookWorldOf, logtoPayload, signSupabase, supabasePayload } from './world.ts';

let production: Production;
let caller: Caller;
let world: HookWorld;
before(async () => {
  const env = { HELIOGRAPH_SENDERS: 'open', HELIOGRAPH_GUARD: '{"number_types": ["MOBILE", "UNKNOWN"]}' };
  production = await createProduction({ env });
  caller = await production.createCaller({ apis: ['sms', 'verify'], plan: 'enterprise' });
  world = hookWorldOf(production.app, caller);
});
after(() => production.app.close());

function post(hook: HookBody, to: string, code: string) {
  const body = JSON.stringify(supabasePayload(to.slice(1), code, { phone: to.slice(1) }));
  return world.post(hook, body, signSupabase(production.app, [hook.secret ?? ''], body));
}

async function countTexts(prefix: string): Promise<number> {
  const { rows } = await production.app.db.database.query<{ texts: number }>(
    `select count(*)::integer as texts from message where recipient like $1`,
    [`${prefix}%`],
  );
  return rows[0]?.texts ?? 0;
}

test('an attack on one prefix gets as many texts as by the API, and each refusal has its reason', async () => {
  const hook = await world.create({ kind: 'supabase' });
  const prefix = '+44740055';
  const numbers = Array.from({ length: 120 }, (_, index) => `${prefix}${String(1000 + index)}`);
  const answers = await Promise.all(numbers.map((to, index) => post(hook, to, String(100_000 + index))));
  const refused = answers.filter(({ text }) => text !== '{}');
  assert.deepEqual([answers.length - refused.length, await countTexts(prefix)], [50, 50]);
  for (const { status, text } of refused)
    assert.deepEqual(
      [status, JSON.parse(text)],
      [200, { error: { http_code: 403, message: `${blocked}prefix_velocity.` } }],
    );
});

const blocked = 'The guard blocked this number: ';

test('one number gets ten codes a day, whatever the codes are', async () => {
  const hook = await world.create({ kind: 'supabase' });
  const to = '+447400660001';
  const answers: string[] = [];
  for (let index = 0; index < 14; index++) answers.push((await post(hook, to, String(200_000 + index))).text);
  assert.equal(answers.filter((text) => text === '{}').length, 10);
  assert.match(answers.at(-1) ?? '', /"http_code":403.*destination_limit/);
  assert.equal(await countTexts(to), 10);
});

test('402: the segments of the day are used up', async () => {
  const hook = await world.create({ kind: 'logto' });
  const path = `/portal/v1/operator/applications/${caller.id}`;
  const limit = async (segments_per_day: number | null) =>
    assert.equal((await production.operator.send('PATCH', path, { segments_per_day })).status, 200);
  const call = (to: string) =>
    world.post(hook, JSON.stringify(logtoPayload(to, '123123')), { authorization: `Bearer ${hook.secret}` });
  await limit(0);
  const { status, text } = await call('+447400770001');
  assert.deepEqual([status, (JSON.parse(text) as { code: string }).code], [402, 'SPEND_LIMIT']);
  assert.equal((await world.calls(hook))[0]?.outcome, 'blocked');
  await limit(null);
  assert.equal((await call('+447400770001')).status, 200);
});

test('the address of the person is kept for the guard as a keyed hash alone', async () => {
  const hook = await world.create({ kind: 'logto' });
  const body = JSON.stringify(logtoPayload('+447400880001', '321321'));
  assert.equal((await world.post(hook, body, { authorization: `Bearer ${hook.secret}` })).status, 200);
  const { rows } = await production.app.db.database.query<{ clients: string[] }>(
    `select c.clients from start_client c join verification v on v.id = c.verification_id
     where v.recipient = '+447400880001'`,
  );
  assert.equal(rows.length, 1);
  assert.ok(rows[0]?.clients.every((each) => !each.includes('203.0.113.7')));
});
