// The package where it is less comfortable: installed by another user, without what is optional, run by npx alone.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { makeFolder, processesOn } from '../support/process.ts';
import { buildService, endServices, startService } from '../support/service.ts';
import { type Installed, install, type Packed, pack } from './installed.ts';

let packed: Packed;
let installed: Installed;
before(async () => {
  await buildService();
  packed = await pack();
  installed = await install(packed.file, '--ignore-scripts');
});
after(async () => {
  await endServices();
  await installed.registry.close();
});

const nobody = 65534;
const isRoot = process.getuid?.() === 0;

/** Not even the owner of the files can write to them then, unless it is root. */
function setMode(folder: string, mode: number): void {
  chmodSync(folder, mode);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) setMode(join(folder, entry.name), mode);
  }
}

describe('an installed package', () => {
  test('a user who cannot write to the installation starts it, though no install script ran', async () => {
    setMode(join(installed.folder, 'node_modules'), 0o555);
    const cwd = makeFolder('of another user');
    const dataDir = join(cwd, '.heliograph');
    mkdirSync(dataDir, { mode: 0o700 });
    for (const folder of isRoot ? [cwd, dataDir] : []) chownSync(folder, nobody, nobody);
    const start = [join(installed.folder, 'node_modules/heliograph/cli/bin/heliograph.mjs'), 'start'];
    const as = isRoot ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] : ['env'];
    const [program = '', ...args] = [...as, process.execPath, ...start];
    const service = await startService({ command: [program, ...args], dataDir, cwd, env: { HOME: cwd } });
    await service.ready;
    assert.ok(readdirSync(join(dataDir, 'postgres', 'libraries')).length > 0, 'the links are in the data folder');
    service.kill('SIGTERM');
    assert.equal((await service.ended).code, 0, service.output());
    setMode(join(installed.folder, 'node_modules'), 0o755);
  });

  test('SIGTERM to npx alone, as a supervisor sends it, leaves no process behind', async () => {
    const { folder: cwd, env } = installed;
    const dataDir = join(cwd, '.heliograph');
    const service = await startService({ command: ['npx', 'heliograph', 'start'], dataDir, cwd, env });
    await service.ready;
    service.kill('SIGTERM');
    await service.ended;
    await eventually('no process of it is left', () => processesOn(cwd).length === 0);
    rmSync(dataDir, { recursive: true });
  });

  test('npx runs the packed file itself, and says how to go on', async () => {
    const empty = makeFolder('empty');
    const file = relative(empty, packed.file);
    const { code, stderr } = await installed.npxIn(empty, '--yes', file, 'smsc', '--nonsense');
    assert.equal(code, 1, stderr);
    assert.ok(stderr.includes(`See npx ${file} smsc --help.`), stderr);
  });

  test('without what is optional it says plainly what is missing', async () => {
    const bare = await install(packed.file, '--omit=optional');
    const { code, stderr } = await bare.npx('heliograph', 'start');
    await bare.registry.close();
    assert.equal(code, 1);
    assert.match(stderr, /no embedded Postgres for this machine/);
    assert.match(stderr, /`npm install` without --omit=optional, or set DATABASE_URL/);
  });
});
