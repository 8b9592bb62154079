import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { tokenUrlOf } from '../../src/app.ts';
import { makeDemoApplications, type SandboxCredentials } from '../../src/registry/demo-applications.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';

let app: TestApp;
let dataDir: string;
before(async () => {
  app = await createTestApp();
  dataDir = await mkdtemp(join(tmpdir(), 'heliograph-demo-'));
});
after(async () => {
  await app.close();
  await rm(dataDir, { recursive: true });
});

const make = () =>
  makeDemoApplications({
    database: app.db.database,
    clock: app.clock,
    registry: app.app.registry.service,
    dataDir,
    baseUrl: app.url,
    tokenUrl: tokenUrlOf({ ...app.config, publicUrl: app.url }),
  });

test('the first sandbox start makes two demo applications and writes their credentials, mode 600', async () => {
  const made = await make();
  assert.ok(made);
  const path = join(dataDir, 'sandbox-credentials.json');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const written = JSON.parse(await readFile(path, 'utf8')) as SandboxCredentials;
  assert.deepEqual(written, made);
  assert.deepEqual(Object.keys(written), ['base_url', 'token_url', 'applications']);
  assert.deepEqual(
    written.applications.map(({ plan }) => plan),
    ['enterprise', 'free'],
  );
  for (const { plan, api_key, client_id, client_secret } of written.applications) {
    const sms = await send(app, 'POST', '/sms/v1/messages', {
      body: { to: '+15005550100', from: 'ACME', message: 'Hello' },
      headers: { apikey: api_key },
    });
    assert.equal(sms.status, 201);
    assert.equal(sms.headers.get('ratelimit-limit'), plan === 'enterprise' ? '6000' : '60');
    for (const [scope, path] of [
      ['verify:manage', '/verify/v1/verifications'],
      ['messaging:send', '/messaging/v1/messages'],
    ] as const) {
      const form = { grant_type: 'client_credentials', client_id, client_secret, scope: `openid ${scope}` };
      const response = await fetch(written.token_url, { method: 'POST', body: new URLSearchParams(form) });
      const { access_token } = (await response.json()) as { access_token: string };
      const list = await send(app, 'GET', path, { headers: { authorization: `Bearer ${access_token}` } });
      assert.equal(list.status, 200);
    }
  }
});

test('a later start leaves them alone', async () => {
  const before = await readFile(join(dataDir, 'sandbox-credentials.json'), 'utf8');
  assert.equal(await make(), undefined);
  assert.equal(await readFile(join(dataDir, 'sandbox-credentials.json'), 'utf8'), before);
});
