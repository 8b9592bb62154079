// run: with packages
// A generator makes types from the document of the running service; a customer's program compiles with them, and does
// what it says.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, getToken } from '../support/applications.ts';
import { runTool } from './tools.ts';

const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const program = fileURLToPath(new URL('client-program.txt', import.meta.url));

let app: TestApp;
let folder: string;
before(async () => {
  app = await createTestApp();
  folder = await mkdtemp(join(tmpdir(), 'heliograph-client-'));
});
after(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

interface Program {
  run(given: { url: string; apiKey: string; token: string }): Promise<{
    id: string;
    segments: number;
    wasSent: boolean;
    expiresAt: string;
    listed: string[];
  }>;
}

test('types made from the document compile with a program that uses them, and it works', async () => {
  const document = await (await fetch(`${app.url}/openapi/apis.json`)).text();
  await writeFile(join(folder, 'api.ts'), await runTool('make-types', document));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const file = join(folder, 'program.ts');
  await copyFile(program, file);
  await compile(file);
  const acme = await createRegistered(app, ['sms', 'verify']);
  const token = await getToken(app, acme.client, 'verify:manage');
  const { run }: Program = await import(join(folder, 'made', 'program.js'));
  const { id, segments, wasSent, expiresAt, listed } = await run({ url: app.url, apiKey: acme.apiKey, token });
  assert.match(id, /^msg_/);
  assert.deepEqual([segments, wasSent, listed], [1, true, [id]]);
  assert.match(expiresAt, /^\d{4}-\d\d-\d\dT/);
});

async function compile(file: string): Promise<void> {
  const options = ['--outDir', 'made', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2023'];
  // It skips what TypeScript itself declares: the generated file is no declaration, and is checked.
  options.push('--skipLibCheck');
  const modules = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--lib', 'es2023,dom', '--types', ''];
  await promisify(execFile)(process.execPath, [compiler, ...options, ...modules, file], { cwd: folder }).catch(
    (error: { stdout?: string }) => assert.fail(error.stdout ?? String(error)),
  );
}
