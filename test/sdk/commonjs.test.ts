// run: with packages
// The packed client in a CommonJS project of a user whose compiler is TypeScript 5.4 and resolves modules as Node 10 did.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { pack, root } from '../package/installed.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { inShort } from '../support/effort.ts';
import { freePort, makeFolder } from '../support/process.ts';

const execute = promisify(execFile);
const folder = makeFolder('commonjs-user');
let app: TestApp;
let acme: TestApplication;
before(async () => {
  // A proof names the public address of the service, so this one has to be known.
  app = await createTestApp({ env: { PORT: String(await freePort()) } });
  acme = await createRegistered(app, ['verify', 'sms']);
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, '@heliograph/client'), { recursive: true });
  mkdirSync(join(packages, '@types'));
  const { file } = await pack('-w', 'sdk');
  await execute('tar', ['xzf', file, '--strip-components', '1', '-C', join(packages, '@heliograph/client')]);
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(packages, name), 'dir');
  writeFileSync(join(folder, 'package.json'), '{}');
  copyFileSync(join(root, 'test/sdk/commonjs-program.txt'), join(folder, 'program.ts'));
});
after(() => app.close());

test('TypeScript 5.4 finds its types, and the program runs', async () => {
  const compilerOptions = {
    ...{ target: 'es2022', module: 'commonjs', moduleResolution: 'node10', lib: ['es2022'], types: ['node'] },
    ...{ strict: true, exactOptionalPropertyTypes: true, skipDefaultLibCheck: true },
    // In short only what the program uses: to check all types of Node takes longer than the rest.
    skipLibCheck: inShort(true, false),
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  const compiler = join(root, 'node_modules/typescript-5.4/bin/tsc');
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/typescript-5.4/package.json'), 'utf8'));
  assert.match(version, /^5\.4\./);
  await execute(process.execPath, [compiler, '-p', '.'], { cwd: folder }).catch((error: { stdout?: string }) =>
    assert.fail(error.stdout ?? String(error)),
  );
  const env = {
    ...process.env,
    HELIOGRAPH_URL: app.url,
    HELIOGRAPH_API_KEY: acme.apiKey,
    HELIOGRAPH_APPLICATION_ID: acme.id,
    HELIOGRAPH_CLIENT_ID: acme.client.client_id,
    HELIOGRAPH_CLIENT_SECRET: acme.client.client_secret,
  };
  const { stdout } = await execute(process.execPath, ['program.js'], { cwd: folder, env });
  assert.deepEqual(JSON.parse(stdout), ['queued', true, '+15005550100', 404, true]);
});
