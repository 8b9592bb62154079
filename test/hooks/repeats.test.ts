// Servers repeat their calls: each payload sends one text, however often and however late its call comes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import {
  createHookWorld,
  type HookBody,
  type HookWorld,
  hookWorldOf,
  kratosContext,
  signSupabase,
  supabasePayload,
} from './world.ts';

let world: HookWorld;
let second: TestApp;
let elsewhere: HookWorld;
before(async () => {
  world = await createHookWorld({}, { plan: 'enterprise' });
  const { app } = world;
  second = await createTestApp({ db: app.db, clock: app.clock, delivery: 'held' });
  elsewhere = hookWorldOf(second, world.acme);
});
after(async () => {
  await second.close();
  await world.close();
});

const minuteMs = 60_000;
const bearer = ({ secret }: HookBody) => ({ authorization: `Bearer ${secret}` });

/** At most a hundred at once, on two nodes. */
async function repeat(times: number, post: (on: HookWorld) => Promise<{ status: number; text: string }>) {
  const answers = new Set<string>();
  for (let done = 0; done < times; done += 100) {
    const all = await Promise.all(Array.from({ length: 100 }, (_, n) => post(n % 2 === 0 ? world : elsewhere)));
    for (const { status, text } of all) answers.add(`${status} ${text}`);
  }
  return [...answers];
}

async function countTexts(to: string): Promise<number> {
  const { rows } = await world.app.db.database.query<{ texts: number }>(
    'select count(*)::integer as texts from message where recipient = $1',
    [to],
  );
  return rows[0]?.texts ?? 0;
}

test('1,000 calls of one payload with a code, each with an id of its own, send one text', async () => {
  const hook = await world.create({ kind: 'supabase' });
  const to = world.newNumber();
  const body = JSON.stringify(supabasePayload(to.slice(1), '482913'));
  const answers = await repeat(1000, (on) => on.post(hook, body, signSupabase(on.app, [hook.secret ?? ''], body)));
  assert.deepEqual(answers, ['200 {}']);
  assert.equal(await countTexts(to), 1);
});

test('1,000 calls of one payload without a code send one text', async () => {
  const hook = await world.create({ kind: 'keycloak', from: 'ACME' });
  const to = world.newNumber();
  const body = JSON.stringify({ message: 'Your SMS code is 121212', to, from: 'ACME' });
  const answers = await repeat(1000, (on) => on.post(hook, body, { apikey: hook.secret ?? '' }));
  assert.deepEqual(answers, ['200 {}']);
  assert.equal(await countTexts(to), 1);
});

test('a text that is repeated within a minute is one, also when the minute turns', async () => {
  const { clock } = world.app;
  const hook = await world.create({ kind: 'kratos', from: 'ACME' });
  const to = world.newNumber();
  const body = JSON.stringify({ recipient: to, body: 'Your authenticator app was added.' });
  const call = async () => (await world.post(hook, body, bearer(hook))).status;
  clock.advance(minuteMs - (clock.nowMs() % minuteMs) - 1000);
  assert.deepEqual([await call(), await countTexts(to)], [200, 1]);
  clock.advance(2000);
  assert.deepEqual([await call(), await countTexts(to)], [200, 1]);
  clock.advance(minuteMs - 2001);
  assert.deepEqual([await call(), await countTexts(to)], [200, 1]);
  clock.advance(1);
  assert.deepEqual([await call(), await countTexts(to)], [200, 2]);
});

test('a call that comes after a newer one sends nothing', async () => {
  const hook = await world.create({ kind: 'kratos' });
  const to = world.newNumber();
  const call = async (code: string) => {
    const payload = kratosContext(to, 'login_code_valid', code);
    return (await world.post(hook, JSON.stringify(payload), bearer(hook))).status;
  };
  for (const code of ['111111', '222222', '111111']) assert.equal(await call(code), 200);
  assert.equal(await countTexts(to), 2);
  assert.deepEqual(
    (await world.calls(hook)).map(({ outcome }) => outcome),
    ['repeated', 'sent', 'sent'],
  );
});

test('a call that Postgres keeps waiting is answered in its form, and its code is sent once', async () => {
  const hook = await world.create({ kind: 'supabase' });
  const to = world.newNumber();
  const body = JSON.stringify(supabasePayload(to.slice(1), '737373'));
  const call = () => world.post(hook, body, signSupabase(world.app, [hook.secret ?? ''], body));
  let free: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    free = resolve;
  });
  const locked = new Promise<void>((resolve, reject) => {
    world.app.db.database
      .transaction(async (tx) => {
        await tx.query('lock table pending_verification in exclusive mode');
        resolve();
        await held;
      })
      .catch(reject);
  });
  await locked;
  // An empty window.
  world.app.clock.advance(60_000);
  const waiting = call();
  await eventually('the start waits', async () => {
    const { rows } = await world.app.db.database.query<{ waits: boolean }>(
      `select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
         and query like '%pending_verification%') as waits`,
    );
    return rows[0]?.waits;
  });
  world.app.clock.advance(1000);
  const late = await waiting;
  assert.equal(late.status, 200);
  assert.match(late.text, /"http_code":503.*a repeated call sends it once/);
  const { headers } = late;
  assert.equal(headers.get('ratelimit-remaining'), headers.get('ratelimit-limit'), 'the slot is given back');
  free();
  assert.deepEqual((await call()).text, '{}');
  assert.equal(await countTexts(to), 1);
});

test('a hook that Postgres keeps waiting is answered in the form of its server', async () => {
  const supabase = await world.create({ kind: 'supabase' });
  const authentik = await world.create({ kind: 'authentik' });
  const body = JSON.stringify(supabasePayload(world.newNumber().slice(1), '747474'));
  let answers: Awaited<ReturnType<typeof world.post>>[] = [];
  await world.app.db.database.transaction(async (tx) => {
    await tx.query('lock table hook in access exclusive mode');
    const waiting = [
      world.post(supabase, body, signSupabase(world.app, [supabase.secret ?? ''], body)),
      world.post(authentik, '{}', { authorization: `Bearer ${authentik.secret}` }),
    ];
    await eventually('both wait', async () => {
      const { rows } = await world.app.db.database.query<{ waiting: number }>(
        `select count(*)::integer as waiting from pg_stat_activity
         where wait_event_type = 'Lock' and datname = current_database() and query like '%hook%'`,
      );
      return (rows[0]?.waiting ?? 0) > 0;
    });
    world.app.clock.advance(1000);
    answers = await Promise.all(waiting);
  });
  const [one, other] = answers;
  assert.deepEqual([one?.status, /"http_code":503/.test(one?.text ?? '')], [200, true], one?.text);
  assert.deepEqual([other?.status, other?.headers.get('content-type')], [503, 'text/plain; charset=utf-8']);
});
