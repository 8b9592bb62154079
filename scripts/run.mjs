// Builds what is missing or stale, then runs it in this very process, so that a signal reaches the service directly.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function stamp() {
  const hash = createHash('sha256');
  const files = readdirSync(`${root}src`, { recursive: true })
    .map((name) => String(name).replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort()
    .map((name) => `src/${name}`);
  for (const name of [...files, 'tsconfig.json', 'tsconfig.build.json', 'package.json']) {
    hash.update(`${name}\0`).update(readFileSync(root + name));
  }
  return hash.digest('hex');
}

function builtFrom() {
  const file = `${root}dist/.built-from`;
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Built beside its place and moved there whole: two that start at once never run half of what the other is writing. */
function build(wanted) {
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  if (!existsSync(compiler)) {
    console.error(
      'Heliograph is not built, and the compiler is not installed. Run `npm ci` (without --omit=dev) first.',
    );
    process.exit(1);
  }
  console.log('Heliograph is building itself.');
  removeLeftovers();
  const folder = `dist.${process.pid}`;
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', folder], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) {
    rmSync(root + folder, { recursive: true, force: true });
    process.exit(status ?? 1);
  }
  writeFileSync(`${root}${folder}/.built-from`, wanted);
  // Another that was faster has built the same, and may be running it already: it stays.
  while (builtFrom() !== wanted && existsSync(root + folder)) {
    if (existsSync(`${root}dist`)) moveAside();
    try {
      renameSync(root + folder, `${root}dist`);
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    }
  }
  rmSync(root + folder, { recursive: true, force: true });
}

function moveAside() {
  const old = `${root}dist.${process.pid}.old`;
  try {
    renameSync(`${root}dist`, old);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  rmSync(old, { recursive: true, force: true });
}

/** What a build that was interrupted has left. */
function removeLeftovers() {
  for (const name of readdirSync(root)) {
    const pid = Number(/^dist\.(\d+)(\.old)?$/.exec(name)?.[1]);
    if (pid > 0 && !isAlive(pid)) rmSync(root + name, { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** npm hands a signal to the shell that it runs us in, and that shell ends without handing it on. */
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
const wanted = stamp();
if (builtFrom() !== wanted) build(wanted);
if (process.argv[2] !== '--build-only') await import(new URL('../dist/main.js', import.meta.url).href);
