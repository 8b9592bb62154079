// The table of cases that the clients of all languages share, by each of them: against scripted answers, and against the
// real service.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { guideSamples } from '../../portal/src/webhooks/guide-samples.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';
import { freePort, makeFolder } from '../support/process.ts';
import { type ClientCall, createTypeScriptDriver, type ErrorOutcome, type Outcome } from './driver.ts';
import { createPythonDriver, python, runPython } from './python.ts';
import { createScriptedServer, type Script } from './scripted-server.ts';
import { clientsFolder, readCases } from './table.ts';

interface Expected {
  result?: unknown;
  /** `says` is a part of the message. */
  error?: Partial<ErrorOutcome> & { says?: string };
}

interface AnswersCase extends ClientCall, Script, Expected {
  name: string;
  timeout?: number;
  /** How many calls at once. */
  times?: number;
  /** Absent where a time limit may end before the request has arrived. */
  requests?: number;
  token_requests?: number;
  /** How many idempotency keys, or which. */
  keys?: number;
  key?: string;
  paths?: string[];
}

interface Step extends ClientCall, Expected {
  /** Parts of the result that later steps use, by name. */
  keep?: Record<string, string>;
}

const answersCases = readCases<AnswersCase[]>('answers');
const serviceCases = readCases<{ name: string; steps: Step[] }[]>('service');
const drivers = [createTypeScriptDriver(), createPythonDriver()];
const credentials = { api_key: 'hg_1', client_id: 'cli_1', client_secret: 'hgs_1' };

let app: TestApp;
let acme: TestApplication;
let server: Awaited<ReturnType<typeof createScriptedServer>>;
before(async () => {
  server = await createScriptedServer();
  // A proof names the public address of the service, so this one has to be known.
  app = await createTestApp({ clock: createRunningClock(), env: { PORT: String(await freePort()) } });
  acme = await createRegistered(app, ['sms', 'verify', 'messaging'], 'enterprise');
  await receiveText();
});
after(async () => {
  await Promise.all(drivers.map((driver) => driver.end()));
  await server.close();
  await app.close();
});

/** A text from a phone, which the cases read. */
async function receiveText(): Promise<void> {
  const operator = await createOperator(app);
  const own = '+447800900001';
  const number = `/portal/v1/operator/numbers/${encodeURIComponent(own)}`;
  assert.equal((await operator.send('PUT', number, { application_id: acme.id })).status, 200);
  const body = { from: '+447700900777', to: own, message: 'Where is my order?' };
  const headers = { apikey: acme.apiKey };
  assert.equal((await send(app, 'POST', '/sandbox/v1/inbox/replies', { body, headers })).status, 201);
}

function assertOutcome(outcome: Outcome, { result, error }: Expected): void {
  if (error === undefined) {
    assert.equal(outcome.error, undefined, JSON.stringify(outcome.error));
    assert.deepEqual(only(outcome.result, result), result);
    return;
  }
  const { says = '', ...facts } = error;
  assert.ok(outcome.error !== undefined, `it did not fail: ${JSON.stringify(outcome.result)}`);
  assert.deepEqual(only(outcome.error, facts), facts);
  assert.ok(outcome.error.message.includes(says), outcome.error.message);
  assert.ok(!outcome.error.message.includes('hgs_1'), 'no secret is shown');
}

/** Of a value only what a case names. */
function only(value: unknown, named: unknown): unknown {
  if (Array.isArray(named) && Array.isArray(value)) return value.map((each, index) => only(each, named[index]));
  if (typeof named !== 'object' || named === null || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(named)) return value;
  return Object.fromEntries(
    Object.entries(named).map(([name, each]) => [name, only((value as Record<string, unknown>)[name], each)]),
  );
}

for (const driver of drivers) {
  describe(`${driver.language}, with scripted answers`, { concurrency: true }, () => {
    for (const { name, call, args, options, take, ...wanted } of answersCases) {
      test(name, async () => {
        const script = server.script(wanted);
        const client = { base_url: script.url, ...credentials, ...(wanted.timeout && { timeout: wanted.timeout }) };
        const made = { call, args, ...(options && { options }), ...(take && { take }) };
        const calls = Array.from({ length: wanted.times ?? 1 }, () => driver.run(client, made));
        for (const outcome of await Promise.all(calls)) assertOutcome(outcome, wanted);
        const { requests, tokenRequests } = script;
        assert.equal(tokenRequests.length, wanted.token_requests ?? 0);
        if (wanted.requests !== undefined) assert.equal(requests.length, wanted.requests);
        const keys = new Set(requests.map(({ key }) => key));
        if (wanted.keys !== undefined) assert.equal(keys.size, wanted.keys);
        if (wanted.key !== undefined) assert.deepEqual([...keys], [wanted.key]);
        if (wanted.paths !== undefined)
          assert.deepEqual(
            requests.map(({ path }) => sorted(path)),
            wanted.paths,
          );
      });
    }

    test('after a 429 no call of the API is sent before its time, and another API is not held up', async () => {
      const limited = { status: 429, headers: { 'retry-after': '1' }, json: { message: 'Later.' } };
      const tokens = [{ json: { access_token: 't1', expires_in: 3600 } }];
      const script = server.script({ tokens, answers: [limited, { json: { id: 'x' } }] });
      const client = { base_url: script.url, ...credentials };
      const read = (call: string) => driver.run(client, { call, args: ['x'] });
      const first = read('sms.get');
      while (script.answeredMs.length === 0) await new Promise((done) => setTimeout(done, 5));
      const [answeredMs = 0] = script.answeredMs;
      // The 429 waits in a socket of the client. A busy client may read one later answer before it, but not five in a row.
      for (let times = 0; times < 5; times++) assertOutcome(await read('messaging.get'), { result: { id: 'x' } });
      const others = await Promise.all(Array.from({ length: 5 }, () => read('sms.get')));
      for (const outcome of [await first, ...others]) assertOutcome(outcome, { result: { id: 'x' } });
      const later = script.requests.filter(({ path }) => path.startsWith('/sms')).slice(1);
      assert.equal(later.length, 6);
      for (const { atMs } of later) assert.ok(atMs >= answeredMs + 1000, `${atMs - answeredMs} ms after the 429`);
    });
  });

  describe(`${driver.language}, with the service`, () => {
    for (const { name, steps } of serviceCases) {
      test(name, async () => {
        const { client_id, client_secret } = acme.client;
        const client = { base_url: app.url, api_key: acme.apiKey, client_id, client_secret };
        const known = knownFor(driver.language);
        for (const step of steps) {
          const { keep = {}, result, error, ...call } = fill(step, known);
          const outcome = await driver.run(client, call);
          assertOutcome(outcome, error === undefined ? { result } : { error });
          for (const [own, path] of Object.entries(keep)) known[own] = String(at(outcome.result, path));
        }
      });
    }

    test('the cases have every call of the client', async () => {
      const used = new Set(serviceCases.flatMap(({ steps }) => steps.map(({ call }) => call)));
      // The feed is the same for all three.
      const same = ['messaging.events.follow', 'verify.events.follow'];
      const calls = await driver.calls();
      assert.ok(calls.length > 30, `${calls.length} calls`);
      assert.deepEqual(calls.filter((call) => !used.has(call) && !same.includes(call)).sort(), []);
    });
  });
}

/** Queries in any order. */
function sorted(path: string): string {
  const [place = '', query = ''] = path.split('?');
  return query === '' ? place : `${place}?${query.split('&').sort().join('&')}`;
}

function knownFor(language: string): Record<string, string> {
  const isPython = language === 'Python';
  return {
    run: `run of ${language}`.replaceAll(' ', '-'),
    number: isPython ? '+447700900556' : '+447700900555',
    test_number: isPython ? '+15005550106' : '+15005550105',
    payer: isPython ? '+15005550109' : '+15005550108',
    application: acme.id,
    later: new Date(app.clock.nowMs() + 3_600_000).toISOString(),
  };
}

function fill(step: Step, known: Record<string, string>): Step {
  const text = JSON.stringify(step).replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    assert.ok(known[name] !== undefined, `nothing is kept as ${name}`);
    return known[name];
  });
  return JSON.parse(text) as Step;
}

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((each, name) => (each as Record<string, unknown>)[name], value);
}

test('Python: the package is the same each time, and the program of its README runs with it', async () => {
  const [one, other] = [makeFolder('python-package'), makeFolder('python-package')];
  for (const folder of [one, other]) await runPython('package.py', folder);
  const names = readdirSync(one);
  assert.equal(names.length, 2);
  for (const name of names) assert.deepEqual(readFileSync(join(one, name)), readFileSync(join(other, name)), name);
  const wheel = names.find((name) => name.endsWith('.whl')) ?? '';
  const readme = readFileSync(`${clientsFolder}/python/README.md`, 'utf8');
  writeFileSync(join(one, 'check_a_code.py'), guideSamples(readme).get('check_a_code.py') ?? '');
  const printed = await runProgram(one, 'check_a_code.py', '+15005550107\n123456\n', {
    PYTHONPATH: join(one, wheel),
    HELIOGRAPH_URL: app.url,
    HELIOGRAPH_CLIENT_ID: acme.client.client_id,
    HELIOGRAPH_CLIENT_SECRET: acme.client.client_secret,
  });
  assert.match(printed, /This number is yours\.$/);
});

async function runProgram(cwd: string, file: string, input: string, env: Record<string, string>): Promise<string> {
  const child = spawn(python, [file], { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(input);
  return (await text(child.stdout)).trim();
}

test('Python: rules, settings, webhooks, threads', async () => {
  const printed = await runPython('-W', 'error', '-m', 'unittest', 'discover', '-s', 'tests');
  assert.match(printed, /Ran \d\d tests[\s\S]*\nOK\n$/);
});
