import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import type { SandboxCredentials } from '../../src/registry/demo-applications.ts';
import { statusCode } from '../../src/verify/verification-row.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Answer, send } from '../support/developer.ts';
import { makeFolder } from '../support/process.ts';
import { endServices, startService } from '../support/service.ts';
import type { InboxText, VerificationBody } from '../support/verify-caller.ts';

let db: TestDatabase;
let urls: string[];
let authorization: string;

/** Two processes on one database, as two machines would be. */
before(async () => {
  db = await createTestDatabase();
  const env = {
    DATABASE_URL: db.url,
    // Nodes that share a window store may share a database; the store itself is not asked here.
    REDIS_URL: 'redis://127.0.0.1:1',
    HELIOGRAPH_SECRET: 'a secret that all nodes share',
    HELIOGRAPH_PUBLIC_URL: 'http://127.0.0.1:1',
    // On a busy machine fifty starts take longer than two seconds, and the last of them would rightly send again.
    HELIOGRAPH_RESEND_SECONDS: '300',
    HELIOGRAPH_GUARD: JSON.stringify({ per_prefix: 5 }),
  };
  const dataDir = makeFolder('first');
  const first = await startService({ dataDir, env });
  await first.ready;
  const second = await startService({ dataDir: makeFolder('second'), env });
  await second.ready;
  urls = [first.url, second.url];
  const file = await readFile(join(dataDir, 'sandbox-credentials.json'), 'utf8');
  const [application] = (JSON.parse(file) as SandboxCredentials).applications;
  assert.ok(application);
  const { client_id, client_secret } = application;
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'openid verify:manage' };
  const response = await fetch(`${first.url}/realms/heliograph/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  authorization = `Bearer ${((await response.json()) as { access_token: string }).access_token}`;
});
after(async () => {
  await endServices();
  await db.drop();
});

const base = '/verify/v1/verifications';

/** A machine that is too busy answers 503, which leaves open what was done; so a caller who gets one asks again. */
async function post(turn: number, path: string, body: object): Promise<Answer<VerificationBody>> {
  for (let tries = 1; ; tries++) {
    const answer = await send<VerificationBody>({ url: urls[turn % 2] ?? '' }, 'POST', path, {
      body,
      headers: { authorization },
    });
    if (answer.status !== 503 || tries === 10) return answer;
  }
}

function inParallel(count: number, path: string, body: object): Promise<Answer<VerificationBody>[]> {
  return Promise.all(Array.from({ length: count }, (_, turn) => post(turn, path, body)));
}

async function codeFor(to: string): Promise<string> {
  for (let tries = 0; tries < 300; tries++) {
    const path = `/sandbox/v1/inbox?to=${encodeURIComponent(to)}`;
    const { body } = await send<{ data: InboxText[] }>({ url: urls[1] ?? '' }, 'GET', path, {
      headers: { authorization },
    });
    const code = /[0-9]{6}/.exec(body.data[0]?.text ?? '')?.[0];
    if (code !== undefined) return code;
    await new Promise((done) => setTimeout(done, 50));
  }
  return assert.fail('no text came');
}

test('100 parallel right codes over two processes: exactly one approved, 99 times 409', async () => {
  const { body } = await post(0, base, { to: '+447700900001', channel: 'sms' });
  const answers = await inParallel(100, `${base}/${body.id}`, { code: await codeFor('+447700900001') });
  // The caller of the approved one may have got a 503 first, and learned the result by asking again.
  assert.ok(answers.filter((answer) => answer.status === 200 && answer.body.valid === true).length <= 1);
  assert.ok(answers.filter(({ status }) => status === 409).length >= 99);
  assert.ok(answers.every(({ status }) => status === 200 || status === 409));
  const { rows } = await db.database.query('select from verification where id = $1 and status = $2', [
    uuidOf(body.id),
    statusCode('approved'),
  ]);
  assert.equal(rows.length, 1);
});

test('100 parallel wrong codes over two processes: exactly 5 spent, 4, 3, 2, 1 seen once each', async () => {
  const { body } = await post(0, base, { to: '+447700900002', channel: 'sms' });
  const code = await codeFor('+447700900002');
  const wrong = String((Number(code[0]) + 1) % 10) + code.slice(1);
  const answers = await inParallel(100, `${base}/${body.id}`, { code: wrong });
  const pending = answers
    .filter((answer) => answer.body.status === 'pending')
    .map((each) => each.body.attempts_remaining);
  assert.deepEqual(
    pending.sort((a, b) => b - a),
    [4, 3, 2, 1],
  );
  assert.equal(answers.filter((answer) => answer.body.status === 'failed').length, 96);
});

test('50 parallel starts for one number over two processes: one verification, one text', async () => {
  const to = '+447700900003';
  const answers = await inParallel(50, base, { to, channel: 'sms' });
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
  await codeFor(to);
  const { rows } = await db.database.query<{ count: number }>(
    'select count(*) as count from message where recipient = $1',
    [to],
  );
  assert.equal(rows[0]?.count, 1);
});

test('100 parallel starts for one prefix over two processes: exactly 5 verifications and 5 texts', async () => {
  const numbers = Array.from({ length: 100 }, (_, index) => `+44771234${String(index).padStart(4, '0')}`);
  const answers = await Promise.all(numbers.map((to, turn) => post(turn, base, { to, channel: 'sms' })));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(answers.filter(({ body }) => body.status === 'pending').length, 5);
  const others = ` and status <> ${statusCode('blocked')}`;
  for (const [table, more] of [
    ['verification', others],
    ['message', ''],
  ]) {
    const { rows } = await db.database.query<{ count: number }>(
      `select count(*) as count from ${table} where recipient like '+44771234%'${more}`,
    );
    assert.equal(rows[0]?.count, 5, table);
  }
});
