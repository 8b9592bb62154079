// Makes a release in one folder: `npm run release -- [--draft] [folder]`. The same commit gives the same bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { releaseNotes } from './release-notes.ts';
import { createTar } from './tar.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
/** A draft may have changes that are in no commit, and a version without its notes. */
const isDraft = process.argv.includes('--draft');
const [named = join('release', version)] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const folder = resolve(named);

// Files that a build makes get modes by it, and a package has the modes of its files.
process.umask(0o022);
if (!isDraft) requireClean();
if (existsSync(folder) && readdirSync(folder).length > 0) fail(`${folder} is not empty.`);
const notes = releaseNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version, isDraft);
if (notes === undefined) fail(`CHANGELOG.md has no section for ${version}. Give it one, or make a draft by --draft.`);
mkdirSync(folder, { recursive: true });
for (const workspace of [[], ['-w', 'sdk']]) pack(workspace);
copyFileSync(join(root, 'dist/sbom.cdx.json'), join(folder, `heliograph-${version}.cdx.json`));
run('python3', [join(root, 'clients/python/package.py'), folder]);
packChart();
writeFileSync(join(folder, 'RELEASE-NOTES.md'), `# Heliograph ${version}\n\n${notes}\n`);
writeChecksums();
console.log([`Made in ${folder}:`, ...readdirSync(folder)].join('\n  '));

function requireClean(): void {
  const changes = run('git', ['status', '--porcelain']).trim();
  if (changes !== '')
    fail(`A release is made of a commit, and there are changes:\n${changes}\nOr make a draft by --draft.`);
}

/** `npm pack` builds what is stale. It takes modes from the disk, where only git's are the same everywhere. */
function pack(workspace: string[]): void {
  const given = ['pack', '--json', '--pack-destination', folder, ...workspace];
  const [packed] = listOf(run('npm', given));
  const isOther = (packed?.files ?? []).map(({ path }) => hadAnotherMode(join(root, workspace[1] ?? '', path)));
  if (isOther.includes(true)) run('npm', ['--ignore-scripts', ...given]);
}

/** As `helm package` does it: `helm install heliograph <file>` takes it. */
function packChart(): void {
  const chart = join(root, 'deploy/chart');
  const files = readdirSync(chart, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((one, other) => (one < other ? -1 : 1))
    .map((file) => ({ path: `heliograph${file.slice(chart.length)}`, content: readFileSync(file) }));
  writeFileSync(join(folder, `heliograph-chart-${version}.tgz`), gzipSync(createTar(files), { level: 9 }));
}

/** Gives a file the mode that it gets everywhere. */
function hadAnotherMode(file: string): boolean {
  const mode = statSync(file).mode & 0o777;
  const wanted = (mode & 0o100) === 0 ? 0o644 : 0o755;
  if (mode !== wanted) chmodSync(file, wanted);
  return mode !== wanted;
}

/** What builds say stands before it. */
function listOf(printed: string): { files: { path: string }[] }[] {
  return Object.values(JSON.parse(printed.slice(printed.search(/^[[{]/m))));
}

/** As `sha256sum -c SHA256SUMS` reads them. */
function writeChecksums(): void {
  const lines = readdirSync(folder)
    .sort()
    .map((name) => `${checksumOf(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
}

function checksumOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function run(program: string, args: string[]): string {
  return execFileSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
