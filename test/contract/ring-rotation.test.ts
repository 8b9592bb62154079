// `npm run rotate-ring`: new rows use a new root key, and all that was issued or written before stays valid.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { keyedHash } from '../../src/platform/crypto/secrets.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { askForToken, bearer, getToken, verifyScope } from '../support/applications.ts';
import { run } from '../support/commands.ts';
import { send } from '../support/developer.ts';
import { createSender, text } from '../support/texts.ts';
import { createVerifyCaller } from '../support/verify-caller.ts';

const leadMs = 60_000;
const password = 'another sentence, known to no one';

const linkIn = (printed: string) => /#\/set-password\/(\w+)/.exec(printed)?.[1] ?? '';

const sendOnce = (app: TestApp, headers: Record<string, string>, key: string, body: object = text) =>
  send(app, 'POST', '/sms/v1/messages', { body, headers: { ...headers, 'Idempotency-Key': key } });

/** One of everything that a key of the ring protects. */
async function issueAll(app: TestApp, name: string) {
  const { developer, client, key } = await createSender(app);
  const verify = await createVerifyCaller(app);
  const verification = await verify.pending();
  const token = await getToken(app, client, 'verify:manage');
  const link = linkIn(await run(app, 'reset-password', developer.email));
  const answer = await sendOnce(app, key, `order-${name}`);
  assert.equal(answer.status, 201);
  return { developer, client, key, verify, verification, token, link, answer, name };
}

type Issued = Awaited<ReturnType<typeof issueAll>>;

/** Uses each of them on a node; the link and the code work once, so `last` uses them too. */
async function useAll(app: TestApp, issued: Issued, { last }: { last: boolean }): Promise<void> {
  const { developer, client, key, verify, verification, token, link, answer, name } = issued;
  const headers = { headers: bearer(token) };
  assert.equal((await send(app, 'GET', '/sms/v1/messages', { headers: key })).status, 200, 'API key');
  assert.equal((await send(app, 'GET', '/verify/v1/verifications', headers)).status, 200, 'token');
  assert.equal((await askForToken(app, client, verifyScope)).status, 200, 'client secret');
  const me = await send(app, 'GET', '/portal/v1/me', { headers: { cookie: developer.cookie } });
  assert.equal(me.status, 200, 'session');
  const again = await sendOnce(app, key, `order-${name}`);
  assert.deepEqual([again.status, again.body.id], [201, answer.body.id], 'idempotent answer');
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  const other = await sendOnce(app, key, `order-${name}`, { ...text, message: 'Another' });
  assert.equal(other.body.code, 'IDEMPOTENCY_KEY_REUSED');
  const path = `/verify/v1/verifications/${verification.id}`;
  const check = (code: string) =>
    send(app, 'POST', path, { body: { code }, headers: { authorization: verify.authorization } });
  assert.equal((await check(verification.wrong)).body.valid, false, 'wrong code');
  if (!last) return;
  assert.equal((await check(verification.code)).body.valid, true, 'code');
  const reset = await send(app, 'POST', '/portal/v1/password-resets', { body: { token: link, password } });
  assert.equal(reset.status, 201, 'one-time link');
}

async function createNode(app: TestApp): Promise<TestApp> {
  return createTestApp({ db: app.db, clock: app.clock });
}

test('everything that was issued stays valid on every node, before, during and after the change, and after a restart', async (t) => {
  const app = await createTestApp();
  t.after(() => app.close());
  const second = await createNode(app);
  const before = await issueAll(app, 'one');
  await useAll(second, before, { last: false });

  assert.match(await run(app, 'rotate-ring'), /Version 2 of the key ring is made\. New rows use it from 20\d\d-/);
  assert.match(await run(app, 'rotate-ring'), /Version 2 of the key ring was made just before/);
  await app.keys.reread();
  // Not every node reads the ring at the same moment.
  await useAll(second, before, { last: false });
  await second.keys.reread();
  const during = await issueAll(second, 'two');
  await useAll(app, during, { last: false });

  app.clock.advance(leadMs);
  for (const [node, issued] of [
    [second, before],
    [app, during],
  ] as const) {
    await useAll(node, issued, { last: false });
  }
  const after = await issueAll(app, 'three');
  await useAll(second, after, { last: false });
  await second.close();

  const restarted = await createNode(app);
  t.after(() => restarted.close());
  for (const issued of [before, during, after]) await useAll(restarted, issued, { last: true });
});

test('new rows carry the new version, and their keys are of that version', async (t) => {
  const app = await createTestApp();
  t.after(() => app.close());
  await run(app, 'rotate-ring');
  await app.keys.reread();
  app.clock.advance(leadMs);
  // Longer than two nodes' clocks can differ: until then an answer is stored under both versions.
  app.clock.advance(leadMs);
  const { key, verification, developer, token } = await issueAll(app, 'new');
  const { database } = app.db;
  const rows = async (query: string, ...values: unknown[]) =>
    (await database.query<Record<string, unknown>>(query, values)).rows;
  const hashed = (purpose: Parameters<typeof app.keys.keyFor>[0], said: string) =>
    keyedHash(app.keys.keyFor(purpose, 2), said);
  const cookie = developer.cookie.slice(developer.cookie.indexOf('=') + 1);
  assert.equal((await rows('select from api_key where hash = $1', hashed('api-key', key.apikey ?? ''))).length, 1);
  assert.equal((await rows('select from session where hash = $1', hashed('session', cookie))).length, 1);
  assert.deepEqual(await rows('select distinct ring_version from client_secret'), [{ ring_version: 2 }]);
  assert.deepEqual(await rows('select ring_version from verification where id = $1', uuidOf(verification.id)), [
    { ring_version: 2 },
  ]);
  const stored = await rows('select sealed_body from idempotency');
  assert.deepEqual(
    stored.map(({ sealed_body }) => (sealed_body as Buffer).readUInt32BE(0)),
    [2],
  );
  assert.match(String(decodeJwt(token).chk), /^2\./);
});

test('two nodes that change to the new version at different moments do the work of a key once', async (t) => {
  const app = await createTestApp({ delivery: 'held' });
  t.after(() => app.close());
  // Its clock is 4 s behind: the most that two nodes may differ.
  const slowClock = { ...app.clock, nowMs: () => app.clock.nowMs() - 4000 };
  const slow = await createTestApp({ db: app.db, clock: slowClock, delivery: 'held' });
  t.after(() => slow.close());
  const { key, id } = await createSender(app);
  const steps = ['old', 'known-to-one', 'known-to-both', 'used-by-one', 'used-by-both', 'alone'];
  const advances = [0, 0, 0, leadMs, 4000, 10_000];
  for (const [index, step] of steps.entries()) {
    if (index === 1) await run(app, 'rotate-ring');
    if (index === 1) await app.keys.reread();
    if (index === 2) await slow.keys.reread();
    app.clock.advance(advances[index] ?? 0);
    const answers = await Promise.all(
      [app, slow, app, slow].map((node, each) => sendOnce(node, key, `${step}-${each >> 1}`)),
    );
    for (const { status, body } of answers) assert.ok(status === 201 || body.code === 'IDEMPOTENCY_IN_PROGRESS', step);
  }
  const { rows } = await app.db.database.query<{ count: number }>(
    'select count(*) as count from message where application_id = $1',
    [uuidOf(id)],
  );
  assert.equal(rows[0]?.count, steps.length * 2);
});
