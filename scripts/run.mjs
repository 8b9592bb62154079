// Builds what is missing or stale, then runs it in this very process, so that a signal reaches the service directly.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stampFile = `${root}dist/.built-from`;

function stamp() {
  const hash = createHash('sha256');
  const files = readdirSync(`${root}src`, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort()
    .map((name) => `src/${name}`);
  for (const name of [...files, 'tsconfig.json', 'tsconfig.build.json', 'package.json']) {
    hash.update(`${name}\0`).update(readFileSync(root + name));
  }
  return hash.digest('hex');
}

function build(wanted) {
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  if (!existsSync(compiler)) {
    console.error(
      'Heliograph is not built, and the compiler is not installed. Run `npm ci` (without --omit=dev) first.',
    );
    process.exit(1);
  }
  console.log('Heliograph is building itself.');
  rmSync(`${root}dist`, { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
  mkdirSync(`${root}dist`, { recursive: true });
  writeFileSync(stampFile, wanted);
}

const wanted = stamp();
const built = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : undefined;
if (built !== wanted) build(wanted);
if (process.argv[2] !== '--build-only') await import(new URL('../dist/main.js', import.meta.url).href);
