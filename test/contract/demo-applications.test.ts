import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { tokenUrlOf } from '../../src/compose/foundation.ts';
import { makeDemoApplications, type SandboxCredentials } from '../../src/registry/demo-applications.ts';
import { welcome } from '../../src/welcome.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { asDeveloper, send } from '../support/developer.ts';
import { dumpAll } from '../support/texts.ts';

let app: TestApp;
let dataDir: string;
before(async () => {
  app = await createTestApp({ passwordCost: { scrypt: { logN: 12, p: 1 }, argon2: { memoryKiB: 128, passes: 1 } } });
  dataDir = await mkdtemp(join(tmpdir(), 'heliograph-demo-'));
});
after(async () => {
  await app.close();
  await rm(dataDir, { recursive: true });
});

const make = () =>
  makeDemoApplications({
    database: app.db.database,
    registry: app.app.registry.service,
    prepareOwner: app.app.people.prepareAccount,
    dataDir,
    baseUrl: app.url,
    tokenUrl: tokenUrlOf({ ...app.config, publicUrl: app.url }),
  });

async function passwordHash(email: string): Promise<string> {
  const { rows } = await app.db.database.query<{ hash: string }>(
    'select password_hash as hash from person where email = $1',
    [email],
  );
  return rows[0]?.hash ?? '';
}

test('the first sandbox start makes two demo applications and writes their credentials, mode 600', async () => {
  const made = await make();
  assert.ok(made);
  const path = join(dataDir, 'sandbox-credentials.json');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const written = JSON.parse(await readFile(path, 'utf8')) as SandboxCredentials;
  assert.deepEqual(written, made);
  assert.deepEqual(Object.keys(written), ['base_url', 'token_url', 'portal', 'applications']);
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

test('a newcomer signs in by what the file says, and sees both applications', async () => {
  const file = await readFile(join(dataDir, 'sandbox-credentials.json'), 'utf8');
  const { portal, applications } = JSON.parse(file) as SandboxCredentials;
  assert.deepEqual(Object.keys(portal), ['email', 'password']);
  assert.match(portal.password, /^[0-9A-Za-z]{24}$/);
  const generated = await passwordHash(portal.email);
  const signedIn = await send(app, 'POST', '/portal/v1/sessions', { body: portal });
  assert.equal(signedIn.status, 201);
  assert.match(generated, /ln=10|m=64/, 'a start does not wait for a slow hash');
  assert.match(await passwordHash(portal.email), /ln=12|m=128/, 'renewed');
  const demo = asDeveloper(app, portal.email, portal.password, signedIn);
  const { body } = await demo.send<{ data: { id: string }[] }>('GET', '/portal/v1/applications');
  const own = new Set(body.data.map(({ id }) => id));
  assert.deepEqual(own, new Set(applications.map((each) => each.application_id)));
  for (const id of own) {
    const { body: application } = await demo.send<{ registrations: unknown[] }>('GET', `/portal/v1/applications/${id}`);
    assert.equal(application.registrations.length, 3);
  }
});

test('the demo account’s password is in no table and in no line of the log', async () => {
  const file = await readFile(join(dataDir, 'sandbox-credentials.json'), 'utf8');
  const { portal } = JSON.parse(file) as SandboxCredentials;
  assert.equal((await dumpAll(app)).includes(portal.password), false);
  assert.equal(app.logLines.join('\n').includes(portal.password), false);
});

test('the first start prints the portal with the way in; a later one prints no password', async () => {
  const file = await readFile(join(dataDir, 'sandbox-credentials.json'), 'utf8');
  const made = JSON.parse(file) as SandboxCredentials;
  const config = { ...app.config, publicUrl: app.url };
  const paths = app.app.routes.map(({ path }) => path);
  const first = welcome({ version: '0.0.0', config, made, signInToken: 'Zk3pQ7', paths, carriers: [] });
  const { email, password } = made.portal;
  const [link = '', send = '', verify = '', ...rest] = first.split('\n').filter((line) => line.startsWith('  '));
  assert.equal(link, `  ${app.url}/#/sign-in/Zk3pQ7`, 'the link leads');
  assert.match(send, /^ {2}(?:HELIOGRAPH_DATA_DIR='\S+' )?npx --no-install heliograph send \+15005550100 "Hello"$/);
  assert.match(verify, /npx --no-install heliograph verify start \+15005550100$/);
  assert.deepEqual(rest.slice(0, 3), [
    `  Portal     ${app.url}/`,
    `    email      ${email}`,
    `    password   ${password}`,
  ]);
  assert.equal(rest.filter((line) => line.startsWith('  curl')).length, 3);
  assert.doesNotMatch(first, /readyz|\/docs|Ctrl-C/, 'and nothing else');
  const later = welcome({ version: '0.0.0', config, made: undefined, paths, carriers: [] });
  assert.deepEqual(later.split('\n').filter(Boolean), [
    'Heliograph 0.0.0 is ready (sandbox).',
    `  Portal       ${app.url}/`,
    `  Credentials  ${join(config.dataDir, 'sandbox-credentials.json')}`,
  ]);
});

test('the settings of the client are in a file for node --env-file, mode 600', async () => {
  const file = await readFile(join(dataDir, 'sandbox-credentials.json'), 'utf8');
  const { base_url, applications } = JSON.parse(file) as SandboxCredentials;
  const path = join(dataDir, 'sandbox.env');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.deepEqual((await readFile(path, 'utf8')).split('\n'), [
    `HELIOGRAPH_URL=${base_url}`,
    `HELIOGRAPH_API_KEY=${applications[0]?.api_key}`,
    `HELIOGRAPH_CLIENT_ID=${applications[0]?.client_id}`,
    `HELIOGRAPH_CLIENT_SECRET=${applications[0]?.client_secret}`,
    '',
  ]);
});

test('in production a start says that a carrier is missing, and how to connect one', () => {
  const config = { ...app.config, environment: 'production' } as const;
  const start = (carriers: string[], role: 'all' | 'worker' = 'all') =>
    welcome({ version: '0.0.0', config: { ...config, role }, made: undefined, paths: [], carriers });
  for (const printed of [start([]), start([], 'worker')]) {
    assert.match(printed, /NO CARRIER IS CONNECTED: every text and every verification is refused with 503\./);
    assert.match(printed, /npm run carriers -- apply carriers\.json/);
    assert.match(printed, /docs\/carriers\.md/);
  }
  assert.doesNotMatch(start(['acme']), /NO CARRIER/);
  const sandbox = welcome({ version: '0.0.0', config: app.config, made: undefined, paths: [], carriers: [] });
  assert.doesNotMatch(sandbox, /carrier/i, 'the sandbox has handsets');
  const connected = { version: '0.0.0', config: app.config, made: undefined, paths: [], carriers: ['acme'] };
  assert.match(welcome(connected), /Texts go through the carrier acme, except to test numbers/);
});

test('nodes that start together make one demo account', async () => {
  const fresh = await createTestApp();
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-demo-'));
  try {
    const start = () =>
      makeDemoApplications({
        database: fresh.db.database,
        registry: fresh.app.registry.service,
        prepareOwner: fresh.app.people.prepareAccount,
        dataDir: folder,
        baseUrl: fresh.url,
        tokenUrl: tokenUrlOf(fresh.config),
      });
    const made = (await Promise.all([start(), start(), start()])).filter((each) => each !== undefined);
    assert.equal(made.length, 1);
    assert.deepEqual(JSON.parse(await readFile(join(folder, 'sandbox-credentials.json'), 'utf8')), made[0]);
  } finally {
    await fresh.close();
    await rm(folder, { recursive: true });
  }
});

test('a later start leaves them alone', async () => {
  const before = await readFile(join(dataDir, 'sandbox-credentials.json'), 'utf8');
  assert.equal(await make(), undefined);
  assert.equal(await readFile(join(dataDir, 'sandbox-credentials.json'), 'utf8'), before);
});
