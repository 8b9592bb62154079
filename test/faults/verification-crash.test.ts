// run: with services, on web processes
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { SandboxCredentials } from '../../src/registry/demo-applications.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { urlOf } from '../support/node-settings.ts';
import { makeFolder } from '../support/process.ts';
import { endServices, startService } from '../support/service.ts';
import type { InboxText, VerificationBody } from '../support/verify-caller.ts';

const dataDir = makeFolder('verification-crash');
let db: TestDatabase;
let env: Record<string, string>;
before(async () => {
  db = await createTestDatabase();
  env = { DATABASE_URL: urlOf(db.connection) };
});
after(async () => {
  await endServices();
  await db.drop();
});

/** The demo application's own calls, on whichever process runs now. */
async function callerOn(url: string, folder = dataDir) {
  const file = join(folder, 'sandbox-credentials.json');
  const [application] = (JSON.parse(await readFile(file, 'utf8')) as SandboxCredentials).applications;
  assert.ok(application);
  const { client_id, client_secret } = application;
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'openid verify:manage' };
  const response = await fetch(`${url}/realms/heliograph/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${access_token}` };
  const base = '/verify/v1/verifications';
  return {
    start: (to: string, given: object = {}) =>
      send<VerificationBody>({ url }, 'POST', base, { body: { to, channel: 'sms', ...given }, headers }),
    check: (id: string, code: string) =>
      send<VerificationBody>({ url }, 'POST', `${base}/${id}`, { body: { code }, headers }),
    read: (id: string) => send<VerificationBody>({ url }, 'GET', `${base}/${id}`, { headers }),
    async texts(): Promise<InboxText[]> {
      return (await send<{ data: InboxText[] }>({ url }, 'GET', '/sandbox/v1/inbox?limit=100', { headers })).body.data;
    },
  };
}

test('kill -9 between start and delivery: the text still comes, with the same code; never after it expired', async () => {
  // A web node accepts and does not deliver: the moment between the two, held still.
  const first = await startService({ dataDir, env: { ...env, HELIOGRAPH_ROLE: 'web' } });
  await first.ready;
  const before = await callerOn(first.url);
  const started = await before.start('+447700900456');
  const short = await before.start('+15005550113');
  assert.deepEqual([started.body.status, short.body.status], ['pending', 'pending']);
  first.kill('SIGKILL');
  await first.ended;
  const expired = Date.parse(short.body.expires_at) - Date.now();
  await new Promise((done) => setTimeout(done, Math.max(0, expired)));

  const second = await startService({ dataDir, env });
  await second.ready;
  const after = await callerOn(second.url);
  const texts = await eventually('the text arrives', async () => {
    const found = await after.texts();
    return found.length > 0 && found;
  });
  await eventually('the short-lived text expires', async () => {
    return (await after.read(short.body.id)).body.delivery?.status === 'expired';
  });
  assert.deepEqual(
    texts.map(({ verification_id }) => verification_id),
    [started.body.id],
  );
  const code = /[0-9]{6}/.exec(texts[0]?.text ?? '')?.[0] ?? '';
  assert.equal((await after.check(started.body.id, code)).body.status, 'approved');
  assert.equal((await after.texts()).length, 1);
});

test('kill -9 while codes of the caller are started and superseded: each pending verification sends its code', async () => {
  const db = await createTestDatabase();
  const own = { DATABASE_URL: urlOf(db.connection) };
  const dataDir = makeFolder('given-code-crash');
  const numbers = Array.from({ length: 40 }, (_, index) => `+4477009010${String(10 + index)}`);
  const answered = new Map<string, string>();
  for (const [round, killAfter] of [15, 35].entries()) {
    const service = await startService({ dataDir, env: { ...own, HELIOGRAPH_ROLE: 'web' } });
    await service.ready;
    const caller = await callerOn(service.url, dataDir);
    let done = 0;
    const killed = new Promise<void>((resolve) => {
      for (const [index, to] of numbers.entries()) {
        const code = String(100_000 * (round + 1) + index);
        const note = ({ status, body }: { status: number; body: VerificationBody }) => {
          if (status === 200 && body.sent === true) answered.set(to, code);
          if (++done === killAfter) resolve();
        };
        void caller.start(to, { code }).then(note, () => {});
      }
    });
    await killed;
    service.kill('SIGKILL');
    await service.ended;
  }
  const { rows } = await db.database.query<{ pending: string; sealed: boolean; queued: number }>(
    `select p.recipient as pending, p.sealed_code is not null as sealed,
       (select count(*)::integer from message m join delivery_queue q on q.message_id = m.id
        where m.recipient = p.recipient and m.status = 1) as queued
     from pending_verification p`,
  );
  assert.ok(rows.length >= 35);
  assert.deepEqual(
    rows.filter(({ sealed, queued }) => !sealed || queued !== 1),
    [],
    'one text for each, and its code',
  );
  const service = await startService({ dataDir, env: own });
  await service.ready;
  const caller = await callerOn(service.url, dataDir);
  const texts = await eventually('all texts arrive', async () => {
    const found = await caller.texts();
    return found.length >= rows.length && found;
  });
  for (const [to, code] of answered) {
    const own = texts.filter((text) => text.to === to);
    assert.equal(own.length, 1, to);
    // The answer to a later start was lost, but its code was stored: then that one is sent.
    assert.ok(
      [code, String(Number(code) + 100_000)].some((each) => own[0]?.text.includes(each)),
      own[0]?.text,
    );
  }
  await db.drop();
});
