// run: with packages
// The package, as a user gets it: `npm pack`, `npm install` into an empty folder, `npx heliograph start`. The packages that
// it needs come from a registry on loopback that offers what is installed here, so no network is needed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { processesOn } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';
import { type Installed, install, type Packed, release, root } from './installed.ts';
import '../clients/python.ts';

let packed: Packed & { folder: string };
let installed: Installed;
before(async () => {
  await buildService();
  packed = await release();
  installed = await install(packed.file);
});
after(async () => {
  await endServices();
  await installed.registry.close();
});

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
};

test('a release is one folder with package, clients, chart, bill of materials, notes and checksums', () => {
  const { version } = manifest;
  const others = ['RELEASE-NOTES.md', 'SHA256SUMS', `heliograph-client-${version}.tgz`, `heliograph-chart-${version}.tgz`];
  const ends = ['-py3-none-any.whl', '.cdx.json', '.tar.gz', '.tgz'];
  const wanted = [...others, ...ends.map((end) => `heliograph-${version}${end}`)];
  assert.deepEqual(new Set(readdirSync(packed.folder)), new Set(wanted));
  const printed = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: packed.folder, encoding: 'utf8' });
  assert.equal(printed.match(/: OK$/gm)?.length, wanted.length - 1);
  const chart = execFileSync('tar', ['tzf', `heliograph-chart-${version}.tgz`], { cwd: packed.folder, encoding: 'utf8' });
  assert.match(chart, /^heliograph\/Chart\.yaml$/m);
});

describe('what is in it', () => {
  test('what a start needs, and no source, test, map or note of a build', (t) => {
    const paths = packed.files.map(({ path }) => path);
    for (const needed of [
      ...[
        'package.json',
        'README.md',
        'LICENSE',
        'CHANGELOG.md',
        '.env.example',
        'dist/THIRD-PARTY.txt',
        'dist/sbom.cdx.json',
      ],
      ...[
        'dist/service/main.js',
        'dist/service/smsc.js',
        'dist/service/delivery-thread.js',
        'dist/service/web-process.js',
      ],
      ...[
        'portal/dist/index.html',
        'portal/dist/THIRD-PARTY.md',
        'cli/bin/heliograph.mjs',
        'cli/dist/main.js',
        'docs/carriers.md',
      ],
      ...readdirSync(join(root, 'migrations')).map((name) => `migrations/${name}`),
    ]) {
      assert.ok(paths.includes(needed), `${needed} is missing`);
    }
    const needless = /\.map$|\.tsx?$|\.test\.|\.built-from$|^(?:src|test|scripts|bench|tools|node_modules)\//;
    assert.deepEqual(
      paths.filter((path) => needless.test(path)),
      [],
    );
    t.diagnostic(`${paths.length} files, ${Math.round(packed.size / 1000)} kB`);
    assert.ok(packed.size < 3_000_000, `${packed.size} bytes: see what has been added`);
  });

  test('all that the programs import is in it, of Node, or a dependency', () => {
    const known = new Set([...builtinModules, ...Object.keys(manifest.dependencies), 'pg-native']);
    const missing = packed.files
      .map(({ path }) => path)
      .filter((path) => /^(?:dist\/service|cli\/dist)\/.*\.js$/.test(path))
      .flatMap((path) => importsOf(readFileSync(join(root, path), 'utf8')).map((name) => `${path} imports ${name}`))
      .filter((line) => !known.has(packageOf(line.slice(line.lastIndexOf(' ') + 1))));
    assert.deepEqual(missing, []);
  });

  test('npm asks for few packages, and installs them without a compiler', () => {
    const names = readdirSync(join(installed.folder, 'node_modules')).filter((name) => !name.startsWith('.'));
    assert.ok(names.length < 10, `the folder has ${names.join(', ')}`);
    assert.deepEqual(
      ['typescript', 'esbuild', 'vite', 'tsx'].filter((name) => names.includes(name)),
      [],
    );
    assert.ok(existsSync(join(installed.folder, 'node_modules', '.bin', 'heliograph')), 'the command is linked');
  });
});

function importsOf(text: string): string[] {
  return [...text.matchAll(/^(?:import|export)[^;'"]*from ?"([^"]+)"|\bimport\("([^"]+)"\)/gm)]
    .map(([, named, loaded]) => named ?? loaded ?? '')
    .filter((name) => !name.startsWith('.'));
}

function packageOf(name: string): string {
  const bare = name.replace(/^node:/, '');
  return builtinModules.includes(bare) ? bare : bare.split('/', bare.startsWith('@') ? 2 : 1).join('/');
}

/** As a person does it in a terminal, in the folder of the installation, with the data folder in it. */
function startInstalled(): Promise<Service> {
  const command: [string, ...string[]] = ['npx', 'heliograph', 'start'];
  const dataDir = join(installed.folder, '.heliograph');
  return startService({ command, dataDir, cwd: installed.folder, env: installed.env, asTerminal: true });
}

describe('from nothing to a text', () => {
  test('it starts, takes a text to the handset, and Ctrl-C leaves nothing behind', async () => {
    const service = await startInstalled();
    await service.ready;
    await service.printed('sandbox-credentials.json');
    assert.match(service.output(), new RegExp(`Heliograph ${manifest.version.replaceAll('.', '\\.')} is ready`));
    assert.match(await (await fetch(service.url)).text(), /<title>Heliograph/, 'the pages are in the package');

    const text = 'From the package';
    const sent = await installed.npx('heliograph', 'send', '+15005550100', text, '--wait', '--json');
    assert.equal(sent.code, 0, sent.stderr);
    assert.equal(JSON.parse(sent.stdout).status, 'delivered');
    const credentials = JSON.parse(readFileSync(join(service.dataDir, 'sandbox-credentials.json'), 'utf8'));
    const headers = { apikey: credentials.applications[0].api_key as string };
    assert.match(await (await fetch(`${service.url}/sandbox/v1/inbox`, { headers })).text(), /From the package/);

    service.kill('SIGINT');
    // The exit code is npm's own affair.
    await service.ended;
    assert.match(service.output(), /Stopping: finishing requests in flight/);
    await assert.rejects(fetch(`${service.url}/healthz`), 'the service no longer answers');
    await eventually('no process of it is left', () => processesOn(installed.folder).length === 0);
  });

  test('messages name the command as it is typed here', async () => {
    const { code, stderr } = await installed.npx('heliograph', 'smsc', '--nonsense');
    assert.equal(code, 1);
    assert.match(stderr, /See npx heliograph smsc --help\./);
  });
});
