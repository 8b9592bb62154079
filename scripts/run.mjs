// Builds what is missing or stale, then runs it: in this process, so that signals reach the service directly, unless the
// service shall have several (`cli/bin/keep-running.mjs`).
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runAndKeep } from '../cli/bin/keep-running.mjs';
import { stopWithParent } from '../cli/bin/stop-with-parent.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Not what is made of the OpenAPI document. */
const clientSource = /^(?!openapi\.ts).*\.ts$/;

/** What to build: output folder, inputs, the places where its compiler may be, and the command. */
const targets = [
  {
    folder: 'dist',
    inputs: () => [
      ...filesIn('src', /(?<!\.test)\.ts$/),
      ...['scripts/compile-service.mjs', 'scripts/third-party.mjs', 'package-lock.json'],
    ],
    compilers: ['node_modules/esbuild/package.json'],
    command: (_compiler, out) => [`${root}scripts/compile-service.mjs`, out],
  },
  {
    folder: 'portal/dist',
    inputs: () => [
      ...filesIn('portal/src', /./),
      ...filesIn('portal/public', /./),
      ...filesIn('portal/build', /./),
      ...['index.html', 'vite.config.ts', 'package.json'].map((name) => `portal/${name}`),
      // The guides, and a page that shows code samples of one.
      ...filesIn('docs/guides', /./),
      ...filesIn('docs/integrations', /./),
      ...filesIn('docs/tutorials', /\.md$/),
      ...['carriers', 'command-line', 'errors', 'events', 'operations', 'settings'].map((name) => `docs/${name}.md`),
      'sdk/README.md',
    ],
    // npm installs a workspace's packages at the root or in the workspace.
    compilers: ['portal/node_modules/vite/bin/vite.js', 'node_modules/vite/bin/vite.js'],
    command: (vite, out) => [vite, 'build', 'portal', '--outDir', root + out, '--emptyOutDir', '--logLevel', 'warn'],
  },
  {
    folder: 'cli/dist',
    inputs: () => [
      ...filesIn('cli/src', /(?<!\.test)\.ts$/),
      ...filesIn('sdk/src', clientSource),
      ...['portal/src/integrations/twilio/node-host.ts', 'scripts/compile-cli.mjs', 'package-lock.json'],
    ],
    compilers: ['node_modules/esbuild/package.json'],
    command: (_compiler, out) => [`${root}scripts/compile-cli.mjs`, out],
  },
  {
    folder: 'sdk/dist',
    inputs: () => [
      ...filesIn('sdk/src', clientSource),
      'sdk/tsconfig.json',
      // Its types come from the routes of the service.
      ...filesIn('src', /(?<!\.test)\.ts$/),
      ...['scripts/compile-client.mjs', 'scripts/openapi-document.ts', 'tools/openapi/make-types.mjs'],
      'package-lock.json',
    ],
    compilers: ['node_modules/typescript/bin/tsc'],
    command: (_compiler, out) => [`${root}scripts/compile-client.mjs`, out],
  },
];

function filesIn(folder, wanted) {
  return readdirSync(root + folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && wanted.test(entry.name))
    .map((entry) => `${relative(root, entry.parentPath).replaceAll('\\', '/')}/${entry.name}`)
    .sort();
}

function stampOf({ inputs }) {
  const hash = createHash('sha256');
  for (const name of inputs()) hash.update(`${name}\0`).update(readFileSync(root + name));
  return hash.digest('hex');
}

function builtFrom({ folder }) {
  const file = `${root}${folder}/.built-from`;
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Builds to a temporary folder and renames it, so that two simultaneous starts never run a half-written build. */
async function build({ wanted, ...target }) {
  const { folder, compilers, command } = target;
  const compiler = findCompiler(compilers);
  if (compiler === undefined) {
    console.error(
      'Heliograph is not built, and the compiler is not installed. Run `npm ci` (without --omit=dev) first.',
    );
    process.exit(1);
  }
  removeLeftovers(folder);
  const fresh = `${folder}.${process.pid}`;
  const status = await run(command(root + compiler, fresh));
  if (status !== 0) {
    rmSync(root + fresh, { recursive: true, force: true });
    process.exit(status ?? 1);
  }
  writeFileSync(`${root}${fresh}/.built-from`, wanted);
  // Keep the same build if another process finished it first: it may be running already.
  while (builtFrom(target) !== wanted && existsSync(root + fresh)) {
    if (existsSync(root + folder)) moveAside(folder);
    try {
      renameSync(root + fresh, root + folder);
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    }
  }
  rmSync(root + fresh, { recursive: true, force: true });
}

function findCompiler(compilers) {
  return compilers.find((path) => existsSync(root + path));
}

function run(args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
  return new Promise((resolve, reject) => child.on('error', reject).on('exit', resolve));
}

function moveAside(folder) {
  const old = `${root}${folder}.${process.pid}.old`;
  try {
    renameSync(root + folder, old);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  rmSync(old, { recursive: true, force: true });
}

/** Removes what interrupted builds left. */
function removeLeftovers(folder) {
  const parent = dirname(root + folder);
  for (const name of readdirSync(parent)) {
    const pid = Number(/^dist\.(\d+)(\.old)?$/.exec(name)?.[1]);
    if (pid > 0 && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** A start builds them too: programs in the clone import the client, and the first start prints lines for the command line. */
const forDevelopers = ['cli/dist', 'sdk/dist'];

/** The service runs without them: where no compiler is installed, a start leaves them out. */
function isExtra(folder) {
  return command === undefined && forDevelopers.includes(folder);
}

/** `--build-only` builds all, or what it names. The virtual SMSC is a program of its own: it has no portal. */
function foldersFor([command, ...args]) {
  if (command === '--build-only') return args.length > 0 ? args : targets.map(({ folder }) => folder);
  if (command === undefined) return ['dist', 'portal/dist', ...forDevelopers];
  return command === 'smsc' ? ['dist'] : ['dist', 'portal/dist'];
}

stopWithParent();
const command = process.argv[2];
const needed = foldersFor(process.argv.slice(2));
const stale = targets
  .filter(({ folder }) => needed.includes(folder))
  .filter(({ folder, compilers }) => !isExtra(folder) || findCompiler(compilers) !== undefined)
  .map((target) => ({ ...target, wanted: stampOf(target) }))
  .filter((target) => builtFrom(target) !== target.wanted);
// Standard output belongs to what is run: an export is read by programs.
if (stale.length > 0) console.error('Building Heliograph.');
await Promise.all(stale.map(build));
const program = `../dist/service/${command === 'smsc' ? 'smsc' : 'main'}.js`;
const address = new URL(program, import.meta.url).href;
if (command === undefined) await runAndKeep(address);
else if (command !== '--build-only') await import(address);
