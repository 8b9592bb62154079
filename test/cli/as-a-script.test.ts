// run: with commands
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer as readBytes, text as readText } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { SignJWT } from 'jose';
import twilio from 'twilio';
import { guideSamples } from '../../portal/src/webhooks/guide-samples.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { freePort, makeFolder } from '../support/process.ts';
import { answer, createWebhookReceiver, ok, verifies } from '../support/webhook-receiver.ts';
import { createWorld, root, type World } from './world.ts';

let world: World;
/** What a collector of traces gets. */
const spans: Buffer[] = [];
const collector = createServer(async (request, response) => {
  spans.push(await readBytes(request));
  response.end();
});
before(async () => {
  await new Promise<void>((done) => collector.listen(0, '127.0.0.1', done));
  const { port } = collector.address() as AddressInfo;
  world = await createWorld({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
});
after(async () => {
  await world.close();
  collector.closeAllConnections();
  collector.close();
});

const profilesFile = () => join(world.folder, 'config/heliograph/profiles.json');
const readProfiles = () => JSON.parse(readFileSync(profilesFile(), 'utf8'));
const hostile = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202egnp';

/** Lines of a program that follows something. */
function follow(args: string[]) {
  const child = world.begin(args);
  const lines: string[] = [];
  let errors = '';
  assert.ok(child.stdout !== null && child.stderr !== null, 'the program has no output');
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  child.stderr.on('data', (bytes) => {
    errors += String(bytes);
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    child,
    lines,
    errors: () => errors,
    interrupt: () => {
      child.kill('SIGINT');
      return ended;
    },
    ended,
  };
}

describe('texts', () => {
  test('send takes the text from an argument or stdin, waits for its outcome, and ends by it', async () => {
    const [one, several, failed, refused] = await Promise.all([
      world.json(['send', '+15005550100', '--wait', '--reference', 'r1'], { stdin: `From stdin ${hostile}\n` }),
      world.run(['send', '+15005550101', '+15005550102', '+1', 'Hello', '--from', 'ACME', '--json']),
      world.run(['send', '+15005550111', 'Hello', '--wait']),
      world.run(['send', '+15005550103', 'x'.repeat(1600), '--api', 'messaging', '--json']),
    ]);
    assert.equal(one.status, 'delivered');
    assert.equal(one.message, `From stdin ${hostile}`);
    assert.equal(one.reference, 'r1');
    const { data } = JSON.parse(several.stdout) as { data: Record<string, unknown>[] };
    assert.deepEqual(
      data.map(({ to, from, error }) => [to, from, error === null]),
      [
        ['+15005550101', 'ACME', true],
        ['+15005550102', 'ACME', true],
        ['+1', undefined, false],
      ],
    );
    assert.deepEqual([several.code, failed.code, refused.code], [1, 1, 1]);
    assert.match(failed.stdout, /undelivered.*could not be reached/s);
    const { error } = JSON.parse(refused.stderr) as { error: Record<string, unknown> };
    assert.equal(refused.stdout, '', 'an error is no result');
    assert.deepEqual([error.status, error.code, error.exit_code], [400, 'INVALID_ARGUMENT', 1]);
    assert.match(String(error.correlation_id), /^req_/);
  });

  test('send twice with one idempotency key sends once; a schedule holds a text back', async () => {
    const args = ['send', '+15005550104', 'Once', '--idempotency-key', 'order-1', '--schedule', '1h'];
    // A repeat has to be the same call: the span becomes a moment.
    args[args.length - 1] = new Date(Date.now() + 3_600_000).toISOString();
    const [first, second] = [await world.json(args), await world.json(args)];
    assert.equal(first.id, second.id);
    assert.equal(first.status, 'scheduled');
  });

  test('inbox shows what arrived, and what others wrote does nothing to the terminal', async () => {
    const listed = await world.run(['inbox', '--to', '+15005550100', '--json']);
    assert.doesNotMatch(listed.stdout.trimEnd(), /[\p{Cc}\u202e]/u);
    const { data } = JSON.parse(listed.stdout) as { data: { text: string }[] };
    assert.equal(data[0]?.text, `From stdin ${hostile}`, 'JSON keeps the text as it is');
    const plain = await world.run(['inbox', '--to', '+15005550100']);
    assert.match(plain.stdout, /\\u001b\]0;owned\\u0007/);
    assert.doesNotMatch(plain.stdout.replaceAll(/[\t\n]/g, ''), /[\p{Cc}\u202e]/u);
  });

  test('a verification, with the code on stdin: right, wrong, and checked again', async () => {
    const started = await world.json(['verify', 'start', '+15005550105']);
    const [wrong, right] = [
      await world.run(['verify', 'start', '+15005550105', '--code'], { stdin: '000000\n' }),
      await world.run(['verify', 'check', String(started.id), '123456']),
    ];
    assert.deepEqual([wrong.code, right.code], [1, 0]);
    assert.match(wrong.stdout, /The code is wrong/);
    const again = await world.run(['verify', 'check', String(started.id), '123456', '--json']);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /VERIFICATION_ALREADY_APPROVED/);
  });

  test('a verification by another channel, with what follows it, and by a text of the person', async () => {
    const fallback = ['--fallback', 'sms:30', '--fallback', 'whatsapp'];
    const called = await world.json(['verify', 'start', '+15005550106', '--channel', 'voice', ...fallback]);
    assert.equal(called.channel, 'voice');
    const again = await world.run(['verify', 'start', '+15005550106', '--fallback', 'sms:4s']);
    assert.match(again.stderr, /another channel|5 to 120/);
    for (const wrong of ['voice:soon', ':30', 'voice:1:2'])
      assert.equal((await world.run(['verify', 'start', '+15005550106', '--fallback', wrong])).code, 2, wrong);
    const asked = await world.run(['verify', 'start', '+15005550107', '--channel', 'inbound']);
    const [, text = '', number = ''] = /to send {2}(.+ \d{8}) {2}to (\+15005550199)/.exec(asked.stdout) ?? [];
    assert.notEqual(text, '', asked.stdout);
    const { id } = await world.json(['verify', 'start', '+15005550107', '--channel', 'inbound']);
    assert.match(asked.stdout, new RegExp(String(id)), 'a second start continues it');
    assert.equal(number, '+15005550199');
    const coded = await world.run(['verify', 'start', '+15005550107', '--channel', 'inbound', '--code']);
    assert.deepEqual([coded.code, /has no code/.test(coded.stderr)], [2, true]);
  });
});

describe('hooks of identity servers', () => {
  test('create, settings, a test with its text, edit, rotation, calls and delete', async () => {
    const made = await world.json<{ id: string; secret: string; url: string }>([
      ...['hooks', 'create', 'supabase', '--locale', 'de'],
    ]);
    assert.match(made.secret, /^v1,whsec_/);
    const shown = await world.run(['hooks', 'show', 'supabase']);
    assert.match(shown.stdout, new RegExp(`^GOTRUE_HOOK_SEND_SMS_URI\t${made.url}$`, 'm'));
    assert.ok(!shown.stdout.includes(made.secret), 'the secret is shown once');
    const tested = await world.json(['hooks', 'test', 'supabase', '+15005550121']);
    assert.equal(tested.outcome, 'sent');
    assert.match(String(tested.text), /^\d{6} ist Ihr Code/);
    const blocked = await world.run(['hooks', 'test', made.id, '+15005550112']);
    assert.deepEqual([blocked.code, blocked.stdout.split('\t')[0]?.slice(0, 7)], [1, 'blocked']);
    const wrong = await world.run(['hooks', 'test', 'supabase', '12', '--json']);
    assert.deepEqual([wrong.code, JSON.parse(wrong.stderr).error.status], [1, 400]);
    const edited = await world.json(['hooks', 'edit', 'supabase', '--locale', '', '--pointer', 'ip=/ip']);
    assert.deepEqual([edited.locale, edited.pointers], [null, { ip: '/ip' }]);
    const rotated = await world.json(['hooks', 'rotate', 'supabase', '--overlap', '1d']);
    assert.notEqual(rotated.secret, made.secret);
    const { data } = await world.json<{ data: { outcome: string }[] }>(['hooks', 'calls', 'supabase']);
    assert.deepEqual(
      data.map(({ outcome }) => outcome),
      ['blocked', 'sent'],
    );
    const asked = await world.run(['hooks', 'delete', 'supabase']);
    assert.deepEqual([asked.code, /Confirm with --yes/.test(asked.stderr)], [2, true]);
    assert.equal((await world.run(['hooks', 'delete', 'supabase', '--yes'])).code, 0);
    assert.match((await world.run(['hooks'])).stderr, /There are no hooks.*hooks create supabase/s);
  });

  test('a server of your own, and one that makes its key: what is missing is said', async () => {
    const own = ['hooks', 'create', 'generic', '--pointer', 'to=/phone'];
    const missing = await world.run(own);
    assert.match(missing.stderr, /pointers\.code/);
    assert.match((await world.run([...own, '--pointer', 'otp=/otp'])).stderr, /--pointer must be a field and its path/);
    const made = await world.json<{ id: string; pointers: object }>([...own, '--pointer', 'code=/otp']);
    assert.deepEqual(made.pointers, { to: '/phone', code: '/otp' });
    const zitadel = ['hooks', 'create', 'zitadel'];
    assert.match((await world.run(zitadel)).stderr, /secret is required/);
    const keyed = await world.run([...zitadel, '--signing-key', '-'], { stdin: 'the key of the provider\n' });
    assert.equal(keyed.code, 0, keyed.stderr);
    assert.ok(!`${keyed.stdout}${keyed.stderr}`.includes('the key of'), 'a given key is not shown');
    assert.match(keyed.stdout, /^endpoint\thttp/m);
    for (const id of [made.id, 'zitadel']) await world.run(['hooks', 'delete', id, '--yes']);
  });
});

describe("Twilio's library", () => {
  test('credentials with which the library sends a code; rotation ends the older token', async () => {
    assert.match((await world.run(['twilio'])).stderr, /no credentials for Twilio's library.*twilio create/s);
    const made = await world.json<TwilioCredentials>(['twilio', 'create']);
    const start = ({ base_url, account_sid, auth_token, service_sid }: TwilioCredentials) => {
      const client = twilio(account_sid, auth_token);
      client.verify.baseUrl = client.api.baseUrl = base_url;
      return client.verify.v2.services(service_sid).verifications.create({ to: '+15005550122', channel: 'sms' });
    };
    assert.equal((await start(made)).status, 'pending');
    assert.match((await world.run(['twilio', 'create'])).stderr, /already.*twilio rotate/s);
    const shown = await world.run(['twilio']);
    assert.ok(shown.stdout.includes(made.service_sid) && !shown.stdout.includes(made.auth_token), shown.stdout);
    const fresh = await world.json<TwilioCredentials>(['twilio', 'rotate', '--overlap', '0']);
    assert.equal((await start(fresh)).status, 'pending');
    await assert.rejects(start(made), { status: 401, code: 20003 });
    assert.equal((await world.run(['twilio', 'delete', '--yes'])).code, 0);
    await assert.rejects(start(fresh), { status: 401 });
  });
});

describe('SMPP accounts', () => {
  test('are made, listed, rotated and deleted; the password is shown once', async () => {
    assert.match((await world.run(['smpp'])).stderr, /No SMPP accounts.*smpp create/s);
    interface Made {
      id: string;
      system_id: string;
      password: string;
      addresses: string[];
    }
    const made = await world.json<Made>(['smpp', 'create', '--binds', '3', '--address', '127.0.0.1']);
    assert.match(made.password, /^[0-9A-Za-z]{8}$/);
    assert.deepEqual(made.addresses, ['127.0.0.1']);
    const shown = await world.run(['smpp']);
    assert.match(shown.stdout, new RegExp(`${made.system_id}  0 of 3 binds, 0 receipts wait`));
    assert.ok(!shown.stdout.includes(made.password));
    assert.match((await world.run(['smpp', 'create', '--address', '10.0.0.0/8'])).stderr, /wider than/);
    const fresh = await world.json<Made>(['smpp', 'rotate', made.system_id, '--overlap', '0']);
    assert.notEqual(fresh.password, made.password);
    assert.match((await world.run(['smpp', 'delete', 'hg'])).stderr, /no SMPP account hg/);
    assert.equal((await world.run(['smpp', 'delete', made.id, '--yes'])).code, 0);
    assert.deepEqual((await world.json<{ data: Made[] }>(['smpp'])).data, []);
  });
});

interface TwilioCredentials {
  base_url: string;
  account_sid: string;
  auth_token: string;
  service_sid: string;
}

describe('exit codes', () => {
  test('2: wrong usage is said before anything is sent', async () => {
    for (const [args, says] of [
      [['sned'], /Did you mean send/],
      [['send', '07700900123', 'Hi'], /country code/],
      [['inbox', '--limit', '9999'], /0 to 100/],
      [['send', '+15005550100', 'Hi', '--url', 'ftp://x'], /--url must be an address/],
    ] as const) {
      const { code, stderr, stdout } = await world.run([...args]);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, says);
    }
  });

  test('3: no credentials, or wrong ones, with the next step; the secrets of one service never go to another', async () => {
    const other = await createWebhookReceiver();
    const [none, wrong, elsewhere] = await Promise.all([
      world.run(['send', '+15005550100', 'Hi', '--url', world.url], { folder: makeFolder('empty') }),
      world.run(['send', '+15005550100', 'Hi', '--api-key', '-', '--from', 'X'], { stdin: 'hg_sandbox_wrong_key\n' }),
      world.run(['apps', '--url', other.url.replace('/hook', '')]),
    ]);
    await other.close();
    assert.deepEqual([none.code, wrong.code, elsewhere.code], [3, 3, 3]);
    assert.match(none.stderr, /No API key for the SMS Messaging API.*heliograph keys create.*HELIOGRAPH_API_KEY/s);
    assert.match(wrong.stderr, /heliograph whoami/);
    assert.equal(other.calls.length, 0, 'another address was called');
  });

  test('4: the service cannot be reached', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stderr } = await world.run(['events', '--follow', '--url', url, '--api-key', 'x']);
    assert.equal(code, 4, stderr);
    assert.match(stderr, /Is the service running at .*heliograph start/s);
  });

  test('5: limited, when the service wants a longer wait than a minute', async () => {
    const key = world.sandbox.applications.find(({ plan }) => plan === 'free')?.api_key ?? '';
    const ask = async (afterMs: number) => {
      await pause(afterMs);
      const response = await fetch(`${world.url}/sms/v1/messages`, { headers: { apikey: key } });
      await response.body?.cancel();
      return Number(response.headers.get('retry-after') ?? 0);
    };
    // Each early call moves the end a second further, at most every 250 ms, however late a busy machine answers.
    const wantsLong = async () => Math.max(...(await Promise.all([0, 260, 520, 780].map(ask)))) > 64;
    await eventually('the service wants more than a minute', wantsLong);
    // It goes on while the command starts, which may take seconds on a busy machine.
    let isEarly = true;
    const asking = (async () => {
      while (isEarly) await ask(260);
    })();
    const { code, stderr } = await world.run(['send', '+15005550100', 'Hi', '--app', 'free', '--json']);
    isEarly = false;
    await asking;
    assert.equal(code, 5, stderr);
    assert.ok(JSON.parse(stderr).error.retry_after_seconds > 60, stderr);
  });

  test('130: Ctrl-C; and a reader that leaves early is no error', async () => {
    const following = follow(['inbox', '--follow', '--json', '--limit', '1']);
    await eventually('it shows a text', () => following.lines.length === 1);
    assert.equal(await following.interrupt(), 130);
    assert.equal(following.errors(), '');

    const leaving = follow(['events', '--follow']);
    await eventually('it waits', () => leaving.errors().includes('Waiting for events'));
    leaving.child.stdout?.destroy();
    await world.run(['send', '+15005550106', 'Hi']);
    assert.equal(await leaving.ended, 0);
    assert.doesNotMatch(leaving.errors(), /EPIPE|Error/);
  });
});

describe('a folder with a credentials file that others prepared', () => {
  const shell = {
    HELIOGRAPH_API_KEY: 'hg_live_of_the_shell',
    HELIOGRAPH_CLIENT_ID: 'client of the shell',
    HELIOGRAPH_CLIENT_SECRET: 'hgs_of_the_shell',
  };
  const commands = [
    ['send', '+15005550100', 'Hi', '--from', 'X'],
    ['verify', 'start', '+15005550100'],
  ];
  function prepare(baseUrl: string, mode = 0o600): string {
    const folder = makeFolder('prepared');
    mkdirSync(join(folder, '.heliograph'));
    const file = join(folder, '.heliograph/sandbox-credentials.json');
    const applications = [{ ...world.sandbox.applications[0], api_key: 'hg_x', client_secret: 'hgs_x' }];
    writeFileSync(file, JSON.stringify({ ...world.sandbox, base_url: baseUrl, applications }));
    chmodSync(file, mode);
    return folder;
  }

  test('gets no secret of the environment, and the program says what to do', async () => {
    const other = await createWebhookReceiver();
    const folder = prepare(other.url.replace('/hook', ''));
    for (const args of commands) {
      const { code, stderr } = await world.run(args, { folder, env: shell });
      assert.equal(code, 2, stderr);
      assert.match(
        stderr,
        /HELIOGRAPH_(API_KEY|CLIENT_SECRET) is set, and the address .* comes from the sandbox of this/,
      );
      assert.match(stderr, /--url or HELIOGRAPH_URL/);
    }
    await other.close();
    assert.equal(other.calls.length, 0, 'a secret of the environment was sent');
  });

  test('names no address but of this machine', async () => {
    const urls = ['http://127.0.0.1.example.invalid', 'http://192.0.2.1:8080', 'https://sms.example.invalid'];
    for (const url of inShort(urls.slice(0, 1), urls)) {
      const { code, stderr } = await world.run(['whoami'], { folder: prepare(url) });
      assert.equal(code, 3, stderr);
      assert.match(stderr, /sandbox-credentials\.json is not used: its address .* is not on this machine/);
    }
  });

  test('is not used if others can write or read it', async () => {
    const other = await createWebhookReceiver();
    for (const mode of inShort([0o644], [0o644, 0o620, 0o660])) {
      const folder = prepare(other.url.replace('/hook', ''), mode);
      const { code, stderr } = await world.run(['send', '+15005550100', 'Hi', '--from', 'X'], { folder });
      assert.equal(code, 3, stderr);
      assert.match(stderr, /is not used: other users have permissions on it.*chmod 600/s);
    }
    await other.close();
    assert.equal(other.calls.length, 0);
  });

  test('does not matter when a service is named', async () => {
    const { code, stderr } = await world.run(['whoami', '--url', world.url], {
      folder: prepare('https://sms.example.invalid', 0o644),
      env: shell,
    });
    assert.equal(code, 0, stderr);
  });

  test('a key of the sandbox in the environment works in its folder', async () => {
    const [first] = world.sandbox.applications;
    const who = await world.json(['whoami'], { env: { HELIOGRAPH_API_KEY: first?.api_key ?? '' } });
    assert.equal((who.api_key as { found: string }).found, 'HELIOGRAPH_API_KEY');
  });
});

describe('profiles', () => {
  test('login by stdin keeps the session and no password, in a file of mode 600, also when two programs write', async () => {
    const { email, password } = world.sandbox.portal;
    const login = (name: string) =>
      world.run(['login', '--url', world.url, '--email', email, '--password-stdin', '--profile', name], {
        stdin: `${password}\n`,
        alone: true,
      });
    const [one, two] = await Promise.all([login('one'), login('two')]);
    assert.deepEqual([one.code, two.code], [0, 0], one.stderr + two.stderr);
    const { one: first, two: second } = readProfiles().profiles;
    assert.ok(first?.session !== undefined && second?.session !== undefined, 'a login is lost');
    assert.equal(statSync(profilesFile()).mode & 0o777, 0o600);
    assert.equal(statSync(join(world.folder, 'config/heliograph')).mode & 0o777, 0o700);
    assert.ok(!readFileSync(profilesFile(), 'utf8').includes(password), 'the password is kept');
    assert.deepEqual(readdirSync(join(world.folder, 'config/heliograph')), ['profiles.json'], 'something is left');
    const wrong = await world.run(['login', '--url', world.url, '--email', email, '--password-stdin'], {
      stdin: 'wrong',
    });
    assert.equal(wrong.code, 3);
  });

  test('apps shows the plans of all applications, of however many there are', async () => {
    const { email, password } = world.sandbox.portal;
    const signedIn = await fetch(`${world.url}/portal/v1/sessions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    const headers = {
      'Content-Type': 'application/json',
      Cookie: (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '',
    };
    const made: string[] = [];
    const post = async (path: string, body: object) => {
      const answer = await fetch(`${world.url}/portal/v1/applications${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await answer.json()) as { id: string };
    };
    // One more than were once shown with their plans, beside those of the sandbox.
    for (let number = 0; number < 26; number++) {
      const { id } = await post('', { name: `Shop ${number}` });
      await post(`/${id}/registrations`, { api: 'sms', plan: 'pro' });
      made.push(id);
    }
    const { data } = await world.json<{ data: { id: string; registrations: object[] }[] }>(['apps']);
    for (const id of made)
      assert.deepEqual(data.find((each) => each.id === id)?.registrations, [
        { api: 'sms', plan: 'pro', status: 'approved' },
      ]);
    const shown = await world.run(['apps']);
    for (const { id } of data)
      assert.match(shown.stdout.split('\n').find((line) => line.includes(id)) ?? '', /sms (?:pro|free|enterprise)/, id);
    for (const id of made) await fetch(`${world.url}/portal/v1/applications/${id}`, { method: 'DELETE', headers });
  });

  test('an application, its key kept without being shown, a text with it, rotation, revocation, logout', async () => {
    const in1 = ['--profile', 'one'];
    const application = await world.json(['apps', 'create', 'Made by a script', ...in1]);
    const saved = await world.run(['keys', 'create', '--save', ...in1]);
    const key = readProfiles().profiles.one.api_key as string;
    assert.equal(saved.code, 0, saved.stderr);
    assert.ok(key.startsWith('hg_sandbox_') && !`${saved.stdout}${saved.stderr}`.includes(key), 'the key is shown');
    const second = await world.json<{ name: string }>(['keys', 'create', '--name', 'Billing', ...in1]);
    const { keys } = await world.json<{ keys: { name: string | null; expires_at: null }[] }>(['keys', ...in1]);
    assert.equal(second.name, 'Billing');
    assert.deepEqual(
      keys.map(({ name, expires_at }) => [name, expires_at]),
      [
        ['Billing', null],
        [null, null],
      ],
      'both keys live',
    );
    const who = await world.json(['whoami', ...in1]);
    assert.equal(who.application_id, application.id);
    assert.deepEqual(who.api_key, { ends: key.slice(-4), found: 'the profile one' });
    const rotated = await world.json<{ id: string; credential: { api_key: string } }>([
      'keys',
      'rotate',
      '--overlap',
      '0',
      ...in1,
    ]);
    const dead = await world.run(['inbox', ...in1]);
    assert.equal(dead.code, 3, 'the old key has ended');
    const unknown = await world.run(['keys', 'revoke', 'nope', ...in1]);
    assert.deepEqual([unknown.code, /no active key or secret nope/.test(unknown.stderr)], [1, true], unknown.stderr);
    const unsure = await world.run(['keys', 'revoke', rotated.id, ...in1]);
    const revoked = await world.run(['keys', 'revoke', rotated.id, '--yes', ...in1]);
    assert.deepEqual([unsure.code, revoked.code], [2, 0]);
    // A public key: its private half stays here, and gets a token.
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const files = makeFolder('keys');
    const [half, whole] = [join(files, 'public.pem'), join(files, 'key.pem')];
    writeFileSync(half, publicKey.export({ type: 'spki', format: 'pem' }));
    writeFileSync(whole, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const client = await world.json<{ credential: { client_id: string } }>(['keys', 'create', '--client', ...in1]);
    const added = await world.json<{ id: string; kid: string }>(['keys', 'add', half, '--name', 'Signer', ...in1]);
    const assertion = await new SignJWT({})
      .setProtectedHeader({ alg: 'EdDSA', kid: added.kid })
      .setIssuer(client.credential.client_id)
      .setSubject(client.credential.client_id)
      .setAudience(`${world.url}/realms/heliograph`)
      .setJti(added.id)
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(privateKey);
    const asked = await fetch(`${world.url}/realms/heliograph/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        scope: 'openid verify:manage',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: assertion,
      }),
    });
    assert.equal(asked.status, 200, await asked.text());
    const twice = await world.run(['keys', 'add', half, ...in1]);
    const wrongHalf = await world.run(['keys', 'add', whole, ...in1]);
    const none = await world.run(['keys', 'add', join(files, 'none.pem'), ...in1]);
    assert.deepEqual([twice.code, wrongHalf.code, none.code], [1, 2, 1], twice.stderr);
    assert.match(wrongHalf.stderr, /is a private key/);
    const listed = await world.run(['keys', ...in1]);
    assert.match(listed.stdout, new RegExp(`Signer public key EdDSA ${added.kid}\\t${added.id}`));
    assert.equal((await world.run(['keys', 'revoke', added.id, '--yes', ...in1])).code, 0);
    const { client_keys } = await world.json<{ client_keys: object[] }>(['keys', ...in1]);
    assert.deepEqual(client_keys, []);
    // In the sandbox's own folder its demo account would sign in again.
    const folder = makeFolder('elsewhere');
    const out = await world.run(['logout', ...in1], { folder });
    assert.equal(out.code, 0, out.stderr);
    const signedOut = await world.run(['apps', ...in1], { folder });
    assert.deepEqual([signedOut.code, /heliograph login/.test(signedOut.stderr)], [3, true]);
    assert.equal((await world.run(['logout', '--all', ...in1])).code, 0);
    assert.ok(!readFileSync(profilesFile(), 'utf8').includes(key), 'the key is kept');
  });

  test('a file that is not ours is left alone, and said', async () => {
    const before = readFileSync(profilesFile(), 'utf8');
    writeFileSync(profilesFile(), '{"profiles": {"x": 5}}');
    const { code, stderr } = await world.run(['whoami']);
    writeFileSync(profilesFile(), before);
    assert.equal(code, 1);
    assert.match(stderr, /profiles\.json does not contain profiles/);
  });
});

describe('the portal', () => {
  test('trace by the id of a text, usage and events for programs; operators only', async () => {
    const [text] = (await world.json<{ data: { message_id: string }[] }>(['inbox', '--to', '+15005550100'])).data;
    const story = await world.json<{ trace_id: string; timeline: { event: string }[] }>([
      'trace',
      text?.message_id ?? '',
      '--profile',
      'two',
    ]);
    assert.ok(
      story.timeline.some(({ event }) => event === 'delivered'),
      'the story has no delivery',
    );
    const shown = await world.run(['trace', text?.message_id ?? '', '--profile', 'two']);
    assert.match(shown.stdout, new RegExp(`^trace ${story.trace_id}$`, 'm'));
    const traceId = Buffer.from(story.trace_id, 'hex');
    await eventually('the collector has that trace', () => spans.some((body) => body.includes(traceId)));
    const found = await world.json<{ data: { id: string; to: string }[] }>([
      ...['find', '+1', '500', '555-0100', '--limit', '1', '--profile', 'two'],
    ]);
    assert.equal(found.data[0]?.to, '+15005550100');
    const newest = await world.json<{ records: { id: string }[] }>(['trace', '0015005550100', '--profile', 'two']);
    assert.equal(newest.records[0]?.id, found.data[0]?.id, 'a number leads to its newest record');
    const none = await world.run(['find', 'msg_01m7jf89400004ebep147c97t8', '--profile', 'two']);
    assert.deepEqual([none.code, /Nothing found/.test(none.stderr + none.stdout)], [1, true]);
    const refused = await world.run(['find', 'x', '--operator', '--profile', 'two']);
    assert.deepEqual([refused.code, /Only operators/.test(refused.stderr)], [1, true]);
    const carriers = await world.run(['carriers', '--profile', 'two']);
    assert.deepEqual([carriers.code, /Only operators/.test(carriers.stderr)], [1, true]);
    const usage = await world.json<{ data: { api: string }[] }>(['usage', '--app', 'enterprise', '--profile', 'two']);
    assert.deepEqual(new Set(usage.data.map(({ api }) => api)), new Set(['messaging', 'sms', 'verify']));
  });
});

test('the guide to configuration in a file, run as it is written beside the service', async () => {
  const guide = readFileSync(join(root, 'docs/guides/gitops.md'), 'utf8');
  const written = [...guide.matchAll(/^npx heliograph ([^#\n]+?)(?: +#.*)?$/gm)].map(([, line = '']) =>
    line.split(' '),
  );
  const env = { DATABASE_URL: world.databaseUrl };
  const file = join(world.folder, 'heliograph.json');
  const codeOf = async (args: string[]) => {
    const { code, stdout, stderr } = await world.run(args, { env });
    return { code, text: `${stdout}${stderr}` };
  };
  const [first = [], plan = [], apply = [], withCredentials = [], ...more] = written;
  assert.deepEqual([more, first[0], plan[0], apply[0]], [[], 'export', 'plan', 'apply']);
  assert.deepEqual(await codeOf(first), { code: 0, text: 'heliograph.json has everything but secrets.\n' });
  assert.match((await codeOf(plan)).text, /^No difference/);
  const exported = JSON.parse(readFileSync(file, 'utf8'));
  exported.plans = [{ plan: 'pro', per_minute: 900 }];
  exported.applications.push({
    ...{ account: world.sandbox.portal.email, name: 'from a file', call_countries: ['GB'] },
    registrations: [{ api: 'sms', plan: 'pro' }],
  });
  writeFileSync(file, JSON.stringify(exported));
  assert.equal((await codeOf(plan)).code, 2);
  const applied = await codeOf(apply);
  assert.deepEqual([applied.code, /Applied\. Every node follows/.test(applied.text)], [0, true], applied.text);
  assert.equal((await codeOf(plan)).code, 0);
  const made = await codeOf(withCredentials);
  assert.equal(made.code, 0, made.text);
  const { credentials } = JSON.parse(readFileSync(join(world.folder, withCredentials.at(-1) ?? ''), 'utf8'));
  const [{ api_key }] = credentials;
  const answer = await fetch(`${world.url}/sms/v1/messages`, { headers: { apikey: api_key } });
  assert.equal(answer.status, 200);
});

test("the README's program runs in the clone that the service was started from, with the settings of the first start", async () => {
  const program = guideSamples(readFileSync(join(root, 'README.md'), 'utf8')).get('check-a-code.mjs') ?? '';
  const settings = join(world.folder, '.heliograph/sandbox.env');
  const args = [`--env-file=${settings}`, '--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { cwd: root, env: { PATH: process.env.PATH }, stdio: 'pipe' });
  const answers = ['+15005550100\n', '123456\n'];
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => {
    said += String(bytes);
    if (/: $/.test(String(bytes))) child.stdin.write(answers.shift() ?? '');
  });
  const failed = readText(child.stderr);
  assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0, await failed);
  assert.match(said, /This number is yours\.\n$/);
});

test("an account that is not the folder's demo account is not given the demo's application", async () => {
  const account = { email: 'other@example.com', password: 'a sentence that only I would think of' };
  const headers = { 'Content-Type': 'application/json' };
  const signUp = { method: 'POST', headers, body: JSON.stringify(account) };
  assert.equal((await fetch(`${world.url}/portal/v1/accounts`, signUp)).status, 201);
  const login = ['login', '--url', world.url, '--email', account.email, '--profile', 'other', '--password-stdin'];
  await world.json(login, { stdin: account.password });
  const usage = await world.run(['usage', '--profile', 'other']);
  assert.deepEqual([usage.code, /You have no application yet/.test(usage.stderr)], [2, true], usage.stderr);
  await world.json(['logout', '--all', '--profile', 'other']);
});

test('events lists the newest, not the oldest that are kept', async () => {
  const list = async (...args: string[]) =>
    (await world.json<{ data: { id: string; subject: string }[] }>(['events', '--profile', 'two', ...args])).data;
  await list();
  const sent = await world.json<{ id: string }>(['send', '+15005550100', 'The newest', '--wait']);
  const all = await list('--limit', '100');
  assert.ok(all.length >= 2, `${all.length} events`);
  const [last] = await list('--limit', '1');
  assert.deepEqual([last?.subject, last?.id], [sent.id, all.at(-1)?.id]);
});

describe('listen', () => {
  test('forwards every event in order, signed, until the program takes it, and goes on where it ended', async () => {
    const receiver = await createWebhookReceiver(answer(503));
    const args = ['listen', '--forward-to', receiver.url, '--api', 'sms', '--json'];
    const first = follow(args);
    const places = join(world.folder, 'state/heliograph/listen');
    await eventually(
      'it has its place',
      () => existsSync(places) && readdirSync(places).some((name) => name.endsWith('.json')),
    );
    const { stdout } = await world.run(['listen', '--print-secret']);
    const secret = stdout.trim();
    await world.run(['send', '+15005550107', 'One']);
    await eventually('the program refused it', () => receiver.calls.length > 0);
    assert.equal(await first.interrupt(), 130);
    assert.equal(JSON.parse(first.lines[0] ?? '').forwarded, false);

    receiver.respond = ok;
    await world.run(['send', '+15005550107', 'Two']);
    const refused = receiver.calls.length;
    const second = follow(args);
    await eventually(
      'both texts have arrived',
      () => second.lines.filter((line) => line.includes('message.delivered')).length === 2,
    );
    assert.equal(await second.interrupt(), 130);
    await receiver.close();
    const taken = receiver.calls.slice(refused);
    for (const type of ['message.sent', 'message.delivered'])
      assert.equal(taken.filter(({ event }) => event.type === type).length, 2, type);
    assert.equal(taken[0]?.event.id, receiver.calls[0]?.event.id, 'the refused one comes first');
    assert.ok(
      receiver.calls.every((call) => verifies(secret, call)),
      'a signature is wrong',
    );
  });
});
