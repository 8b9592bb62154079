// The pages of docs/integrations: every server has one with its settings, and what a reader can run is run.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { type HookKind, hookKinds } from '../../src/hooks/hook.ts';
import { kindRules } from '../../src/hooks/kinds.ts';
import { createHookWorld, type HookBody, type HookWorld } from '../hooks/world.ts';
import { integrationPages, integrationSamples, writeIntegrationSamples } from '../support/integration-samples.ts';
import { makeFolder } from '../support/process.ts';

const textOf = (name: string) => integrationPages.find((page) => page.name === `${name}.md`)?.text ?? '';

describe('pages', () => {
  test('every kind of hook has one, and the overview leads to each', () => {
    for (const { name } of integrationPages)
      assert.ok(name === 'README.md' || textOf('README').includes(`(${name})`), name);
    for (const kind of hookKinds) assert.notEqual(textOf(kind), '', kind);
  });

  test('the settings of the portal are those of the page', () => {
    const shown: Partial<Record<HookKind, string[]>> = {
      keycloak: ['apikey', 'message', 'to', 'from'],
      supabase: kindRules.supabase.settings('', null).map(({ name }) => name),
      kratos: ['Authorization'],
      generic: ['Authorization'],
    };
    for (const [kind, names] of Object.entries(shown))
      for (const name of names) assert.ok(textOf(kind).includes(name), `${kind}: ${name}`);
  });

  test('a code block that a reader can run has a name, and a page says what is not run', () => {
    const nameless = integrationPages.flatMap(({ name, text }) =>
      [...text.matchAll(/^ *```(sh|ts|js|jsonnet|json)$/gm)].map(([, language]) => `${name}: ${language}`),
    );
    assert.deepEqual(nameless, []);
    const silent = integrationPages.filter(({ text }) => !/^Not run here: |^A test runs /m.test(text));
    assert.deepEqual(
      silent.map(({ name }) => name),
      ['README.md', 'generic.md'],
    );
  });
});

test('the TypeScript compiler accepts the programs', async () => {
  const folder = await writeIntegrationSamples([]);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions', '--types', 'node'];
  const target = ['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom'];
  const files = [...integrationSamples.keys()].filter((name) => name.endsWith('.ts'));
  const compiler = join('node_modules', 'typescript/bin/tsc');
  const run = promisify(execFile)(process.execPath, [compiler, ...options, ...target, ...files], { cwd: folder });
  assert.equal((await run.catch((error: { stdout: string }) => error)).stdout, '');
});

describe('what a reader can run', () => {
  let world: HookWorld;
  before(async () => {
    world = await createHookWorld();
  });
  after(() => world.close());

  const addressOf = (hook: HookBody) => world.app.url + new URL(hook.url).pathname;

  test('the call of a generic hook', async () => {
    const hook = await world.create({ kind: 'generic', pointers: { to: '/user/phone', code: '/otp' } });
    const folder = makeFolder('generic');
    writeFileSync(join(folder, 'call.sh'), integrationSamples.get('call-a-hook.sh') ?? '');
    const env = { ...process.env, HOOK_URL: addressOf(hook), HOOK_SECRET: hook.secret ?? '' };
    const { stdout } = await promisify(execFile)('sh', ['call.sh'], { cwd: folder, env });
    assert.match(stdout, /^HTTP\/1\.1 200[\s\S]*\{\}$/);
    assert.match((await world.codes('+447700900123', 1))[0] ?? '', /482913/);
  });

  test('the Action of Auth0', async () => {
    const hook = await world.create({ kind: 'auth0', from: 'ACME' });
    const folder = makeFolder('auth0');
    writeFileSync(join(folder, 'action.cjs'), integrationSamples.get('auth0-action.js') ?? '');
    const driver = `
      const { onExecuteCustomPhoneProvider } = require('./action.cjs');
      const [notification, secrets] = process.argv.slice(2).map((each) => JSON.parse(each));
      const said = [];
      const note = (name) => (reason) => { said.push([name, reason]); };
      const api = { notification: { drop: note('drop'), retry: note('retry') } };
      onExecuteCustomPhoneProvider({ notification, secrets }, api).then(() => console.log(JSON.stringify(said)));`;
    writeFileSync(join(folder, 'drive.cjs'), driver);
    const run = async (notification: object, secret = hook.secret) => {
      const secrets = JSON.stringify({ HOOK_URL: addressOf(hook), HOOK_SECRET: secret });
      const given = JSON.stringify({
        delivery_method: 'text',
        locale: 'en',
        message_type: 'otp_verify',
        ...notification,
      });
      const { stdout } = await promisify(execFile)(process.execPath, ['drive.cjs', given, secrets], { cwd: folder });
      return JSON.parse(stdout) as [string, string][];
    };
    const to = world.newNumber();
    const as_text = 'Your code is 515253';
    assert.deepEqual(await run({ recipient: to, code: '515253', as_text }), []);
    assert.match((await world.codes(to, 1))[0] ?? '', /515253/);
    const other = world.newNumber();
    const changed = { recipient: other, as_text: 'Your password was changed.', message_type: 'change_password' };
    assert.deepEqual(await run(changed), []);
    assert.deepEqual(await world.codes(other, 1), ['Your password was changed.']);
    const [[verb, reason] = []] = await run({ recipient: '+15005550112', code: '515253', as_text });
    assert.deepEqual([verb, /block_list/.test(reason ?? '')], ['drop', true]);
    assert.deepEqual((await run({ recipient: to, code: '515253', as_text }, 'wrong'))[0]?.[0], 'drop');
    assert.deepEqual((await run({ recipient: to, code: '1', delivery_method: 'voice' }))[0]?.[0], 'drop');
  });
});
