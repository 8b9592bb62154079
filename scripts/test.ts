// Runs the tests: starts one Postgres for them all, runs every test file (or those whose path contains an argument), and
// ends what it started, by pid, however the tests end.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { createLog } from '../src/platform/log.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const wanted = process.argv.slice(2);

const files = ['src', 'test']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, String(name))))
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort();
if (files.length === 0) {
  console.error(`No test file's path contains ${wanted.join(' or ')}.`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'heliograph-test-'));
const log = createLog({ level: 'warn', readable: true });
const postgres = await startEmbeddedPostgres({ folder, log, onProgress: (step) => console.log(`Tests are ${step}.`) });

const runner = spawn(
  process.execPath,
  ['--import', 'tsx', '--test', `--test-concurrency=${availableParallelism()}`, '--test-reporter=spec', ...files],
  { cwd: root, stdio: 'inherit', env: { ...process.env, HELIOGRAPH_TEST_SERVER: JSON.stringify(postgres.connection) } },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner.kill(signal));
const code = await new Promise<number>((resolve) => runner.on('exit', (status) => resolve(status ?? 1)));

await postgres.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(code);
