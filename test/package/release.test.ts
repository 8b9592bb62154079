// What a release is made of: the same bytes each time, one version, the notes of that version.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { releaseNotes } from '../../scripts/release-notes.ts';
import { alsoInLong, inShort } from '../support/effort.ts';
import { makeFolder } from '../support/process.ts';
import { buildService, cleanEnvironment } from '../support/service.ts';
import { release, root } from './installed.ts';

const read = (name: string) => readFileSync(join(root, name), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };
/** The pages take 10 s of CPU. */
const compilations: string[][] = [
  ['dist', 'scripts/compile-service.mjs'],
  ['cli/dist', 'scripts/compile-cli.mjs'],
  ...inShort(
    [],
    [['portal/dist', 'portal/node_modules/vite/bin/vite.js', 'build', 'portal', '--logLevel', 'warn', '--outDir']],
  ),
];

async function node(...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, args, { cwd: root, env: cleanEnvironment() });
}

/** The checksums of the files in a folder, but for what a build writes beside them. */
function checksumsIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !['.built-from', 'sbom.cdx.json'].includes(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  const checksum = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
  return Object.fromEntries(files.map((file) => [file.slice(folder.length), checksum(file)]));
}

test('the bundles are the same, byte for byte, when they are compiled again', async () => {
  await buildService();
  for (const [folder = '', ...compiler] of compilations) {
    const again = `${folder}.${process.pid}`;
    try {
      await node(...compiler, compiler.includes('--outDir') ? join(root, again) : again);
      assert.deepEqual(checksumsIn(join(root, again)), checksumsIn(join(root, folder)), folder);
    } finally {
      rmSync(join(root, again), { recursive: true, force: true });
    }
  }
});

test('two releases are the same, byte for byte', () =>
  alsoInLong(async () => {
    const [one, other] = [await release(), await release()];
    assert.deepEqual(checksumsIn(one.folder), checksumsIn(other.folder));
  }));

test('a release is not written over another one', async () => {
  const folder = makeFolder('release');
  writeFileSync(join(folder, 'SHA256SUMS'), '');
  await assert.rejects(release(folder), /is not empty/);
});

describe('release notes', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.2.0 (2026-11-18)\n\nThe first.\n\n### Upgrading\n\n- Do.\n\n## 0.1.0\n';
  test('are the section of the version, or in a draft what is to come', () => {
    assert.equal(releaseNotes(changelog, '0.2.0', false), 'The first.\n\n### Upgrading\n\n- Do.');
    assert.equal(releaseNotes(changelog, '0.2.0', true), '- New.');
    assert.equal(releaseNotes(changelog, '0.3.0', false), undefined);
    assert.equal(releaseNotes(changelog, '0.1.0', false), undefined, 'an empty section is none');
  });
});

test('all that a release consists of has one version', () => {
  for (const folder of ['.', 'src', 'portal', 'sdk', 'cli', 'tools/openapi']) {
    const file = `${folder}/package.json`;
    assert.equal((JSON.parse(read(file)) as { version: string }).version, version, file);
  }
  assert.ok(read('clients/python/pyproject.toml').includes(`\nversion = "${version}"\n`), 'clients/python');
  assert.ok(
    read('deploy/chart/Chart.yaml').includes(`\nversion: ${version}\nappVersion: "${version}"\n`),
    'deploy/chart',
  );
  assert.match(read('CHANGELOG.md'), new RegExp(`^## ${version.replaceAll('.', '\\.')}`, 'm'));
});
