// docs/guides: every sample is taken from its document and run, with the real service.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { python, pythonEnvironment } from '../clients/python.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from '../support/guide-receivers.ts';
import { guides, writeGuideSamples } from '../support/guide-samples.ts';

const samples = new Map(guides.flatMap((guide) => [...guide.samples]));
let app: TestApp;
let application: TestApplication;
let folder: string;
let env: Record<string, string>;

before(async () => {
  // One request a second on Free, for the sample that waits.
  const plans = JSON.stringify({ free: { per_minute: 1000, burst: 1 } });
  [app, folder] = await Promise.all([createTestApp({ env: { HELIOGRAPH_PLANS: plans } }), writeGuideSamples(samples)]);
  application = await createRegistered(app, ['sms', 'verify', 'messaging'], 'pro');
  env = {
    HELIOGRAPH_URL: app.url,
    HELIOGRAPH_API_KEY: application.apiKey,
    HELIOGRAPH_CLIENT_ID: application.client.client_id,
    HELIOGRAPH_CLIENT_SECRET: application.client.client_secret,
    HELIOGRAPH_APPLICATION_ID: application.id,
    TOKEN: await getToken(app, application.client, 'verify:manage'),
  };
});
after(() => app.close());

/** Runs a sample as a reader would, and returns what it printed. */
async function run(name: string, more: Record<string, string> = {}): Promise<string> {
  assert.ok(samples.has(name), `there is no sample ${name}`);
  const program = name.endsWith('.sh') ? 'sh' : name.endsWith('.py') ? python : process.execPath;
  const options = { cwd: folder, env: { ...pythonEnvironment, ...env, ...more }, timeout: 60_000 };
  const { stdout } = await promisify(execFile)(program, [name.replace(/\.ts$/, '.mjs')], options);
  return stdout.trim();
}

const runJson = async (name: string) => JSON.parse(await run(name));
const sampleOf = (name: string) => JSON.parse(samples.get(name) ?? '');

describe('first-text.md', () => {
  test('sends by curl and by the client, and the handset has the text', async () => {
    const made = await runJson('send-a-text.sh');
    assert.deepEqual(Object.keys(made), Object.keys(sampleOf('text')), 'the fields of the answer that is printed');
    for (const name of ['send-a-text.ts', 'send_a_text.py']) assert.match(await run(name), /^msg_\w+ queued$/);
    const { data } = await runJson('read-the-handset.sh');
    assert.equal(data[0].text, 'Hello');
  });
});

describe('verify-a-number.md', () => {
  test('starts and checks', async () => {
    assert.equal(await run('verify-a-number.ts'), 'true approved');
    assert.equal(await run('verify_a_number.py'), 'True approved');
    const { id } = await runJson('start-a-verification.sh');
    assert.equal(JSON.parse(await run('check-the-code.sh', { ID: id })).valid, true);
  });

  test('the server takes a person from a number to a verified one, and says what is wrong', async () => {
    const server = await startReceiver(folder, ['node', 'sign-up-server.mjs'], env);
    const opened = await fetch(server.url);
    assert.equal(await opened.text(), samples.get('sign-up.html'));
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
    const post = async (path: string, form: Record<string, string>) => {
      const body = new URLSearchParams(form);
      const response = await fetch(new URL(path, server.url), { method: 'POST', headers: { cookie }, body });
      return (await response.json()) as { message: string; verified?: boolean };
    };
    const say = (message: string) => ({ message });
    const wrong = { verified: false, message: 'Wrong code. You have 4 more tries.' };
    assert.deepEqual(await post('/code', { code: '1234' }), { verified: false, message: 'Ask for a code first.' });
    assert.match((await post('/number', { number: '12' })).message, /^Check what you have entered/);
    assert.deepEqual(await post('/number', { number: '+15005550112' }), say('We cannot send a code to this number.'));
    assert.deepEqual(await post('/number', { number: '+15005550102' }), say('We have sent you a code.'));
    assert.deepEqual(await post('/code', { code: '000000' }), wrong);
    const right = { verified: true, message: '+15005550102 is verified.' };
    assert.deepEqual(await post('/code', { code: '123456' }), right);
    await server.stop();
  });

  test('a proof is checked', async () => {
    const headers = { authorization: `Bearer ${env.TOKEN}`, 'content-type': 'application/json' };
    const call = async (path: string, body: object) => {
      const response = await fetch(app.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return (await response.json()) as { id: string; proof: string };
    };
    const { id } = await call('/verify/v1/verifications', { to: '+15005550103', channel: 'sms' });
    const { proof } = await call(`/verify/v1/verifications/${id}`, { code: '123456' });
    assert.equal(await run('check-a-proof.ts', { PROOF: proof }), '+15005550103 is verified');
  });
});

describe('tokens.md', () => {
  test('gets a token, uses it and revokes it', async () => {
    const token = await runJson('get-a-token.sh');
    const { access_token: _printed, ...printed } = sampleOf('token');
    const { access_token: TOKEN, ...others } = token;
    assert.deepEqual(others, printed);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const status = async () => (await fetch(`${app.url}/verify/v1/verifications`, { headers })).status;
    assert.match(await run('use-a-token.sh', { TOKEN }), /"id":"ver_/);
    assert.equal(await status(), 200);
    await run('revoke-a-token.sh', { TOKEN });
    assert.equal(await status(), 401);
  });
});

describe('limits.md', () => {
  test('the four headers are there', async () => {
    const headers = (await run('see-the-headers.sh')).split('\n').map((line) => line.split(':')[0]);
    const named = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'X-Correlation-ID'];
    assert.deepEqual(headers.toSorted(), named);
  });

  test('the sample waits as a 429 says, and its text is sent', async () => {
    const { apiKey } = await createRegistered(app, ['sms'], 'free');
    const statuses: number[] = [];
    // Passes requests on. The second of the limit is taken before the first one, and passes once that is refused.
    const relay = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const url = app.url + request.url;
      if (statuses.length === 0) await fetch(`${url}?limit=1`, { headers: { apikey: apiKey } });
      const headers = new Headers(request.headers as Record<string, string>);
      for (const name of ['host', 'connection', 'content-length']) headers.delete(name);
      const answer = await fetch(url, { method: 'POST', headers, body: Buffer.concat(chunks) });
      statuses.push(answer.status);
      if (answer.status === 429) app.clock.advance(1000);
      response.writeHead(answer.status, { 'retry-after': answer.headers.get('retry-after') ?? '' });
      response.end(await answer.text());
    });
    await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening));
    const HELIOGRAPH_URL = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
    assert.equal(await run('wait-and-retry.ts', { HELIOGRAPH_URL, HELIOGRAPH_API_KEY: apiKey }), '201');
    assert.deepEqual(statuses, [429, 201]);
    relay.close();
  });
});

describe('test-numbers.md', () => {
  test('verifies a test number, and another by what its handset shows', async () => {
    assert.match(await run('verify-with-a-test-number.sh'), /"status":"approved"/);
    assert.equal(await run('read-a-code.ts'), 'true');
  });

  test('the table says what becomes of each number', async () => {
    const post = async (path: string, body: object) => {
      const headers = { apikey: env.HELIOGRAPH_API_KEY ?? '', authorization: `Bearer ${env.TOKEN}` };
      const options = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
      const response = await fetch(app.url + path, { ...options, body: JSON.stringify(body) });
      return (await response.json()) as Record<string, unknown>;
    };
    const texts = new Map<string, string>();
    const starts = new Map<string, string>();
    for (const last of ['09', '10', '11', '12', '13', '14']) {
      const to = `+150055501${last}`;
      texts.set(last, String((await post('/sms/v1/messages', { to, from: 'ACME', message: 'Hello' })).id));
      starts.set(last, String((await post('/verify/v1/verifications', { to, channel: 'sms' })).id));
    }
    const statusOf = async (path: string, credential: Record<string, string>) => {
      const { status } = (await (await fetch(app.url + path, { headers: credential })).json()) as { status: string };
      return status;
    };
    const apikey = env.HELIOGRAPH_API_KEY ?? '';
    const becomes = (last: string, wanted: string) =>
      eventually(`${last} is ${wanted}`, async () => {
        app.clock.advance(10);
        app.delivery.wake();
        return (await statusOf(`/sms/v1/messages/${texts.get(last)}`, { apikey })) === wanted;
      });
    const check = async (last: string) =>
      (await post(`/verify/v1/verifications/${starts.get(last)}`, { code: '123456' })).status;
    for (const [last, wanted] of [
      ['09', 'delivered'],
      ['11', 'undelivered'],
      ['12', 'failed'],
      ['13', 'delivered'],
      ['14', 'failed'],
    ] as const) {
      await becomes(last, wanted);
    }
    assert.equal(await statusOf(`/sms/v1/messages/${texts.get('10')}`, { apikey }), 'sent');
    const checked = await Promise.all(['09', '10', '11', '12', '14'].map(check));
    assert.deepEqual(checked, ['approved', 'approved', 'approved', 'blocked', 'approved']);
    app.clock.advance(2000);
    assert.equal(await check('13'), 'expired');
    app.clock.advance(8000);
    await becomes('10', 'delivered');
  });

  test('a handset answers STOP, and the next text fails', async () => {
    assert.match(await run('answer-a-text.sh'), /"message":"STOP"/);
    const { status, error } = await runJson('send-a-text.sh');
    assert.deepEqual([status, error.code], ['failed', 'blocked_by_recipient']);
  });
});

describe('idempotency.md', () => {
  test('sends once', async () => {
    const first = await run('send-once.sh');
    const again = await run('send-once.sh');
    const idOf = (answer: string) => /"id":"(\w+)"/.exec(answer)?.[1];
    assert.equal(idOf(again), idOf(first));
    assert.doesNotMatch(first, /idempotency-replayed/i);
    assert.match(again, /idempotency-replayed: true/i);
    assert.equal(await run('send-once.ts'), 'true');
    assert.equal(await run('send_once.py'), 'True');
  });
});

test('a code block that a reader can run has a name, so that a test runs it', () => {
  const nameless = guides.flatMap(({ name, text }) =>
    [...text.matchAll(/^ *```(sh|ts|js|python|php|go|html|json)$/gm)].map(([, language]) => `${name}: ${language}`),
  );
  assert.deepEqual(nameless, []);
});
