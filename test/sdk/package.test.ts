// run: with packages
// The client as its package gives it to a user: its types with strict compilers, the README's program, nothing else inside.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { guideSamples } from '../../portal/src/webhooks/guide-samples.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import '../support/client.ts';
import { inShort } from '../support/effort.ts';
import { makeFolder } from '../support/process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = makeFolder('client-user');
/** The newest compiler, and the last one that is written in JavaScript. */
const compilers = [join(root, 'node_modules/typescript/bin/tsc'), findOldCompiler()];

function findOldCompiler(): string {
  const require = createRequire(join(root, 'tools/openapi/package.json'));
  return join(require.resolve('typescript/package.json'), '../bin/tsc');
}

let app: TestApp;
let acme: TestApplication;
before(async () => {
  app = await createTestApp();
  acme = await createRegistered(app, ['verify', 'sms']);
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, '@heliograph'), { recursive: true });
  mkdirSync(join(packages, '@types'));
  symlinkSync(join(root, 'sdk'), join(packages, '@heliograph/client'), 'dir');
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(packages, name), 'dir');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  copyFileSync(join(root, 'test/sdk/user-program.txt'), join(folder, 'program.ts'));
});
after(() => app.close());

const strict = { noEmit: true, strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
const places: Record<string, object> = {
  'a program for Node': { module: 'nodenext', lib: ['es2022'], types: ['node'] },
  'a page': { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] },
};
for (const [index, [name, place]] of Object.entries(places).entries()) {
  test(`the types of the client fit ${name}, with every check of the compiler`, async () => {
    const config = `tsconfig.${index}.json`;
    const compilerOptions = { ...strict, target: 'es2022', skipLibCheck: false, ...place };
    writeFileSync(join(folder, config), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    for (const compiler of inShort(compilers.slice(0, 1), compilers)) {
      await promisify(execFile)(process.execPath, [compiler, '-p', config], { cwd: folder }).catch(
        (error: { stdout?: string }) => assert.fail(error.stdout ?? String(error)),
      );
    }
  });
}

test('it needs nothing but itself: no package and nothing of Node', async () => {
  const { metafile } = await build({
    entryPoints: [join(root, 'sdk/dist/index.js')],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    metafile: true,
    minify: true,
  });
  const inputs = Object.keys(metafile.inputs);
  assert.deepEqual(
    inputs.filter((name) => !name.includes('sdk/dist/')),
    [],
  );
  const [output] = Object.values(metafile.outputs);
  assert.ok((output?.bytes ?? 0) < 20_000, `a page loads ${output?.bytes} bytes`);
  assert.equal(JSON.parse(readFileSync(join(root, 'sdk/package.json'), 'utf8')).dependencies, undefined);
});

test('verifyProof by itself needs nothing of the client', async () => {
  const { metafile } = await build({
    entryPoints: [join(root, 'sdk/dist/proof-alone.js')],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    metafile: true,
    minify: true,
  });
  const names = Object.keys(metafile.inputs).map((name) => basename(name, '.js'));
  for (const left of ['heliograph', 'transport', 'tokens', 'messages', 'verifications', 'feed', 'webhook'])
    assert.ok(!names.includes(left), left);
  const [output] = Object.values(metafile.outputs);
  assert.ok((output?.bytes ?? 0) < 9000, `a page loads ${output?.bytes} bytes`);
});

/** The first program of the README. */
function sampleOf(readme: string): string {
  return /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
}

test('the program of the README checks a code in 15 lines, and ends by itself', async () => {
  const sample = sampleOf(readFileSync(join(root, 'sdk/README.md'), 'utf8'));
  assert.ok(sample.trimEnd().split('\n').length <= 15, 'lines of the sample');
  writeFileSync(join(folder, 'sample.mjs'), sample);
  const env = {
    ...process.env,
    HELIOGRAPH_URL: app.url,
    HELIOGRAPH_CLIENT_ID: acme.client.client_id,
    HELIOGRAPH_CLIENT_SECRET: acme.client.client_secret,
  };
  const program = spawn(process.execPath, ['sample.mjs'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((done) => program.on('close', done));
  const answers = ['+15005550100\n', '123456\n'];
  let asked = '';
  program.stdout.on('data', (bytes: Buffer) => {
    asked += bytes.toString();
    if (/: $/.test(asked)) {
      asked = '';
      program.stdin.write(answers.shift() ?? '');
    }
  });
  const said = await text(program.stdout);
  assert.match(said, /This number is yours\.\n$/);
  assert.equal(await ended, 0);
});

test('the first program of the guides runs as they say: in a folder with "type": "module", by tsx', async () => {
  const sample = guideSamples(readFileSync(join(root, 'docs/guides/first-text.md'), 'utf8')).get('send-a-text.ts');
  writeFileSync(join(folder, 'send-a-text.ts'), sample ?? '');
  const args = ['--import', pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href, 'send-a-text.ts'];
  const env = { ...process.env, HELIOGRAPH_URL: app.url, HELIOGRAPH_API_KEY: acme.apiKey };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
  assert.match(stdout, /^msg_\w{26} queued\n$/);
});

test('after its calls no timer and no open request keeps a program alive', async () => {
  const program = `
    import { Heliograph } from '@heliograph/client';
    const heliograph = new Heliograph(${JSON.stringify({ baseUrl: app.url, apiKey: acme.apiKey })});
    const kept = new AbortController();
    await heliograph.sms.preview('Hello', { signal: kept.signal });
    const leaving = new AbortController();
    const left = heliograph.sms.events.read({ waitSeconds: 20, signal: leaving.signal }).catch((error) => error.message);
    leaving.abort(new Error('left'));
    const { getEventListeners } = await import('node:events');
    console.log(JSON.stringify([
      await left,
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
      getEventListeners(kept.signal, 'abort').length,
    ]));`;
  const args = ['--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  const [left, timers, listeners] = JSON.parse(stdout);
  assert.equal(left, 'left');
  assert.equal(listeners, 0, 'listeners stay with a signal that lives on');
  assert.ok(timers <= 1, `${timers} timers are left; fetch itself has one for its connections`);
});
