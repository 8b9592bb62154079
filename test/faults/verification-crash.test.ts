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
async function callerOn(url: string) {
  const file = join(dataDir, 'sandbox-credentials.json');
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
    start: (to: string) => send<VerificationBody>({ url }, 'POST', base, { body: { to, channel: 'sms' }, headers }),
    check: (id: string, code: string) =>
      send<VerificationBody>({ url }, 'POST', `${base}/${id}`, { body: { code }, headers }),
    read: (id: string) => send<VerificationBody>({ url }, 'GET', `${base}/${id}`, { headers }),
    async texts(): Promise<InboxText[]> {
      return (await send<{ data: InboxText[] }>({ url }, 'GET', '/sandbox/v1/inbox', { headers })).body.data;
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
