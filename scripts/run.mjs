// Builds what is missing or stale, then runs it in this process, so that signals reach the service directly.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What to build: output folder, inputs, the places where its compiler may be, and the command. */
const targets = [
  {
    folder: 'dist',
    inputs: () => [...filesIn('src', /(?<!\.test)\.ts$/), 'scripts/compile-service.mjs', 'package-lock.json'],
    compilers: ['node_modules/esbuild/package.json'],
    command: (_compiler, out) => [`${root}scripts/compile-service.mjs`, out],
  },
  {
    folder: 'portal/dist',
    inputs: () => [
      ...filesIn('portal/src', /./),
      ...filesIn('portal/public', /./),
      ...['index.html', 'vite.config.ts', 'package.json'].map((name) => `portal/${name}`),
      // The pages show its code samples.
      'docs/events.md',
    ],
    // npm installs a workspace's packages at the root or in the workspace.
    compilers: ['portal/node_modules/vite/bin/vite.js', 'node_modules/vite/bin/vite.js'],
    command: (vite, out) => [vite, 'build', 'portal', '--outDir', root + out, '--emptyOutDir', '--logLevel', 'warn'],
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
  const compiler = compilers.find((path) => existsSync(root + path));
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

/** npm signals the shell it runs us in, and that shell exits without passing the signal on. */
function stopWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 200);
  watch.unref();
}

if (process.env.npm_lifecycle_event !== undefined) stopWithParent();
const command = process.argv[2];
// The virtual SMSC is a program of its own: it has no portal.
const isSmsc = command === 'smsc';
const needed = isSmsc ? targets.filter(({ folder }) => folder === 'dist') : targets;
const stale = needed
  .map((target) => ({ ...target, wanted: stampOf(target) }))
  .filter((target) => builtFrom(target) !== target.wanted);
if (stale.length > 0) console.log('Building Heliograph.');
await Promise.all(stale.map(build));
const program = `../dist/service/${isSmsc ? 'smsc' : 'main'}.js`;
if (command !== '--build-only') await import(new URL(program, import.meta.url).href);
