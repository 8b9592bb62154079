// The page of the virtual SMSC and what scripts ask it, and the command that starts both.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { type SmscPage, startSmscPage } from '../../src/smsc/http.ts';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { connectRaw } from './raw-client.ts';

interface Answer {
  status: number;
  body: string;
  headers: NodeJS.Dict<string | string[]>;
}

describe('the page', () => {
  let smsc: Smsc;
  let page: SmscPage;
  before(async () => {
    smsc = await startSmsc({ behaviour: { receipt_after_ms: 0 } });
    page = await startSmscPage(smsc, 0);
  });
  after(async () => {
    await page.close();
    await smsc.close();
  });

  function ask(method: string, path: string, { body = '', headers = {} } = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = request({ port: page.port, host: '127.0.0.1', method, path, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, body: Buffer.concat(chunks).toString() });
        });
      });
      asked.on('error', reject).end(body);
    });
  }
  const json = { 'content-type': 'application/json' };

  test('HTML, style and script, with a policy that allows no other', async () => {
    for (const path of ['/', '/page.css', '/page.js']) {
      const { status, headers } = await ask('GET', path);
      assert.equal(status, 200);
      assert.match(String(headers['content-security-policy']), /default-src 'none'/);
    }
    assert.equal((await ask('GET', '/elsewhere')).status, 404);
  });

  test('GET /texts and /state show what arrived', async () => {
    const client = await connectRaw(smsc.port);
    await client.bind();
    const { messageId } = await client.submit({ shortMessage: Buffer.from('<b>hi</b>') });
    const { texts } = JSON.parse((await ask('GET', '/texts?limit=5')).body);
    assert.equal(texts[0].text, '<b>hi</b>');
    assert.equal(texts[0].parts[0].id, messageId);
    const state = JSON.parse((await ask('GET', '/state')).body);
    assert.equal(state.counts.accepted, 1);
    assert.equal(state.binds[0].system_id, 'tester');
    await ask('POST', '/texts/clear', { body: '{}', headers: json });
    assert.deepEqual(JSON.parse((await ask('GET', '/texts')).body), { texts: [] });
    client.close();
  });

  test('POST /faults changes the behaviour, or says what is wrong', async () => {
    const changed = await ask('POST', '/faults', {
      body: '{"throttle_every": 3, "refuse_status": "0x0b"}',
      headers: json,
    });
    assert.equal(changed.status, 200);
    assert.deepEqual([smsc.behaviour.throttle_every, smsc.behaviour.refuse_status], [3, 11]);
    for (const [body, problem] of [
      ['{"throttle_every": -1}', /throttle_every must be a whole number/],
      ['{"colour": 1}', /no switch "colour"/],
      ['{"__proto__": {"a": 1}}', /no switch "__proto__"/],
      ['[]', /Give an object/],
      ['{', /Give an object/],
      [`"${'x'.repeat(20_000)}"`, /Give an object/],
    ] as const) {
      const { status, body: answer } = await ask('POST', '/faults', { body, headers: json });
      assert.equal(status, 400, body.slice(0, 40));
      assert.match(JSON.parse(answer).problem, problem);
    }
    assert.equal(smsc.behaviour.throttle_every, 3, 'a wrong change changes nothing');
  });

  test('another web page cannot reach it: by another name, or by a form', async () => {
    assert.equal((await ask('GET', '/texts', { headers: { host: 'evil.example' } })).status, 403);
    const form = { 'content-type': 'text/plain' };
    assert.equal((await ask('POST', '/faults', { body: '{"throttle_every": 9}', headers: form })).status, 403);
    assert.equal(smsc.behaviour.throttle_every, 3);
  });
});

describe('the command', () => {
  const main = new URL('../../src/smsc/main.ts', import.meta.url).pathname;
  async function run(...args: string[]) {
    const child = spawn(process.execPath, ['--import', 'tsx', main, 'smsc', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    return { child, output: () => output };
  }

  test('says how to use it, takes a text, and stops on SIGTERM', async () => {
    const { child, output } = await run('--port', '0', '--page-port', '0', '--password', 'p4ss');
    while (!output().includes('Ctrl-C')) await once(child.stdout, 'data');
    const { carriers } = JSON.parse(/\{"carriers".*\}/.exec(output())?.[0] ?? '{}');
    assert.deepEqual(Object.keys(carriers[0]), ['name', 'kind', 'settings']);
    assert.match(output(), /npm run carriers -- apply carriers\.json/);
    const client = await connectRaw(carriers[0].settings.port);
    assert.equal((await client.bind('bind_transceiver', { password: carriers[0].settings.password })).status, 0);
    assert.equal((await client.submit()).status, 0);
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
    client.close();
  });

  test('smsc --help prints the options, and a mistake is explained', async () => {
    const help = await run('--help');
    assert.deepEqual(await once(help.child, 'close'), [0, null]);
    assert.match(help.output(), /--throttle-every <value>/);
    const wrong = await run('--colour', 'red');
    assert.deepEqual(await once(wrong.child, 'close'), [1, null]);
    assert.match(wrong.output(), /Unknown option --colour/);
  });
});
