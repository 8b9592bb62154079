// run: with commands
// The tutorial "Moving from Twilio": its program and its lines with Twilio's own library, its table of errors, its routes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import twilio from 'twilio';
import { fillLines } from '../../portal/src/integrations/twilio/fill-lines.ts';
import { guideSamples } from '../../portal/src/webhooks/guide-samples.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { createRunningClock } from '../support/clock.ts';
import { createKnownCarriers } from '../support/known-carriers.ts';
import { createOperator } from '../support/operator.ts';

const folder = fileURLToPath(new URL('../../docs/tutorials/from-twilio-verify', import.meta.url));
const guide = readFileSync(join(folder, 'README.md'), 'utf8');
const resendMs = 120_000;

interface Account {
  account_sid: string;
  auth_token: string;
  service_sid: string;
  base_url: string;
}

let app: TestApp;
let acme: TestApplication;
let account: Account;
before(async () => {
  const env = {
    HELIOGRAPH_RESEND_SECONDS: String(resendMs / 1000),
    HELIOGRAPH_GUARD: '{"countries":["GB","US"]}',
    HELIOGRAPH_PLANS: '{"free":{"per_minute":2,"burst":2}}',
  };
  app = await createTestApp({ clock: createRunningClock(), env });
  acme = await createRegistered(app, ['sms', 'verify'], 'enterprise');
  account = await createAccount(acme);
});
after(() => app.close());

async function createAccount({ developer, id }: TestApplication): Promise<Account> {
  const { status, body } = await developer.send<Account>('POST', `/portal/v1/applications/${id}/twilio`);
  assert.equal(status, 201);
  return { ...body, base_url: `${app.url}/twilio` };
}

function createLibrary({ account_sid, auth_token, base_url, service_sid }: Account) {
  const client = twilio(account_sid, auth_token);
  client.verify.baseUrl = client.api.baseUrl = base_url;
  return { client, service: client.verify.v2.services(service_sid) };
}

/** Twilio's code and our status of what a call is refused with. */
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    ({ code, status }: { code: number; status: number }) => [code, status],
  );

async function runNode(args: string[], env: Record<string, string>, lines: string[] = []): Promise<string> {
  const program = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  program.stdin.end(`${lines.join('\n')}\n`);
  return readText(program.stdout);
}

describe('programs', () => {
  const talk = (lines: string[]) =>
    runNode(
      ['main.mjs'],
      {
        TWILIO_BASE_URL: account.base_url,
        TWILIO_ACCOUNT_SID: account.account_sid,
        TWILIO_AUTH_TOKEN: account.auth_token,
        TWILIO_VERIFY_SERVICE_SID: account.service_sid,
      },
      lines,
    );

  test('a sign-in written for Twilio runs as it is', async () => {
    const asked = 'Your number: We have sent you a code.\nThe code: ';
    assert.equal(
      await talk(['+15005550102', '000000', '123456']),
      `${asked}That is not the code.\nThe code: Welcome.\n`,
    );
    assert.match(await talk(['+15005550112']), /We cannot send a code to this number\.\n$/);
    assert.match(await talk(['nonsense']), /This is not a phone number\.\n$/);
  });

  test('the lines for Node send a code', async () => {
    const lines = fillLines(guideSamples(guide).get('move.mjs') ?? '', account, account.auth_token);
    assert.ok(!/AC0000|VA0000|YOUR_AUTH_TOKEN/.test(lines), 'every value is filled in');
    await runNode(['--input-type=module', '--eval', lines], {});
    const { service } = createLibrary(account);
    assert.equal((await service.verifications('+15005550100').fetch()).status, 'pending');
  });

  test('every language has its lines, with the values of the application alone', () => {
    const samples = guideSamples(guide);
    for (const name of ['move.mjs', 'move.py', 'move.php', 'Move.java', 'move.go']) {
      const lines = fillLines(samples.get(name) ?? '', account, 'the-token');
      for (const value of [account.base_url, account.account_sid, account.service_sid, 'the-token'])
        assert.ok(lines.includes(value), `${name}: ${value}`);
    }
  });
});

describe('the table of errors', () => {
  test('codes are those of Twilio, statuses those of the table', async () => {
    const { client, service } = createLibrary(account);
    const start = (to: string) => service.verifications.create({ to, channel: 'sms' });
    const check = (to: string, code: string) => service.verificationChecks.create({ to, code });
    const { service: wrong } = createLibrary({ ...account, auth_token: `${account.auth_token.slice(0, -1)}!` });
    const to = '+15005550104';
    assert.deepEqual(await refusalOf(wrong.verifications.create({ to, channel: 'sms' })), [20003, 401]);
    assert.deepEqual(await refusalOf(check(to, '123456')), [20404, 404], 'nothing to check');
    assert.deepEqual(await refusalOf(start('5')), [60200, 400]);
    assert.deepEqual(await refusalOf(client.messages.create({ to: '5', from: 'ACME', body: 'Hi' })), [21211, 400]);
    assert.deepEqual(await refusalOf(start('+15005550112')), [60410, 400], 'blocked');
    assert.deepEqual(await refusalOf(start('+33612345678')), [60605, 400], 'a country that is not allowed');
    await start(to);
    for (let tries = 1; tries <= 4; tries++) assert.equal((await check(to, '000000')).status, 'pending');
    assert.deepEqual(await refusalOf(check(to, '000000')), [60202, 400], 'the fifth wrong code');
    assert.deepEqual(await refusalOf(check(to, '123456')), [60202, 400], 'it has failed');
    const other = await start('+15005550107');
    await service.verifications(other.sid).update({ status: 'canceled' });
    assert.deepEqual(await refusalOf(check('+15005550107', '123456')), [20404, 404], 'it was canceled');
    const texted = await client.messages.create({ to: '+447700900188', from: 'ACME', body: 'Hi' });
    assert.equal(await refusalOf(client.messages(texted.sid).remove()).then((refused) => refused?.[1]), 405);
    const path = `/portal/v1/applications/${acme.id}/opt-outs/${encodeURIComponent('+447700900189')}`;
    assert.equal((await acme.developer.send('PUT', path)).status, 200);
    const unwanted = client.messages.create({ to: '+447700900189', from: 'ACME', body: 'Hi' });
    assert.deepEqual(await refusalOf(unwanted), [21610, 400]);
  });

  test('two starts within the resend time send one text, and the sixth text is refused', async () => {
    const { service } = createLibrary(account);
    const start = () => service.verifications.create({ to: '+447700900177', channel: 'sms' });
    for (let starts = 1; starts <= 2; starts++) assert.equal((await start()).sendCodeAttempts.length, 1);
    for (let sends = 2; sends <= 5; sends++) {
      app.clock.advance(resendMs);
      assert.equal((await start()).sendCodeAttempts.length, sends);
    }
    assert.deepEqual(await refusalOf(start()), [60203, 400]);
  });

  test('the limit of the plan is a 429 without a code, and an API that is not registered a 403', async () => {
    const free = await createAccount(await createRegistered(app, ['verify'], 'free'));
    const { client, service } = createLibrary(free);
    const refusals: unknown[] = [];
    for (let sent = 0; sent < 3; sent++) refusals.push(await refusalOf(service.verifications('+15005550106').fetch()));
    assert.deepEqual(refusals, [
      [20404, 404],
      [20404, 404],
      [undefined, 429],
    ]);
    assert.deepEqual(
      await refusalOf(client.messages.create({ to: '+15005550106', from: 'A', body: 'Hi' })),
      [20403, 403],
    );
  });
});

test('the routes of the guide split the texts of an application 99 to 1', async () => {
  const [, table = ''] = /```json\n([\s\S]*?)```/.exec(guide) ?? [];
  const { routes } = JSON.parse(table) as { routes: { match: { applications?: string[] } }[] };
  const production = await createTestApp({ delivery: 'held', env: { HELIOGRAPH_ENV: 'production' } });
  const operator = await createOperator(production);
  const carriers = createKnownCarriers(production, operator);
  for (const name of ['twilio', 'acme']) await carriers.connect(name, 'bound');
  const id = await createRegistered(production, [], 'free', operator).then((made) => made.id);
  const [move, ...rest] = routes;
  await carriers.putRoutes([{ ...move, match: { applications: [id] } }, ...rest]);
  const { body } = await operator.send<{ candidates: { carrier: string; share: number }[] }>(
    'POST',
    '/portal/v1/operator/routes/explain',
    { to: '+447700900123', application_id: id },
  );
  await production.close();
  const shares = body.candidates.filter(({ share }) => share > 0).map(({ carrier, share }) => [carrier, share]);
  assert.deepEqual(Object.fromEntries(shares), { twilio: 0.99, acme: 0.01 });
});
