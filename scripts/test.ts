// Runs the tests: starts one Postgres for all, runs every test file (or those whose path contains an argument), and
// stops everything it started, whether the tests end, hang, or get Ctrl-C.
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { createLog } from '../src/platform/log.ts';
import { prepareServer } from '../test/support/database.ts';
import {
  isGroupRunning,
  makeRunFolder,
  removeLeftovers,
  removeRunFolder,
  writeRunnerGroup,
} from '../test/support/process.ts';
import { leadsTo, provideSystemNeeds } from './system-needs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const wanted = process.argv.slice(2);
/** What starts processes takes longest, and comes first: a slow file that starts last keeps a core waiting. */
const slowestFirst = ['test/faults/start', 'test/browser', 'test/cluster', 'test/faults', 'test/hostile', 'test/races'];

const found = ['src', 'test']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, String(name))))
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort((one, other) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1));
if (found.length === 0) {
  console.error(`No test file's path contains ${wanted.join(' or ')}.`);
  process.exit(1);
}

const leftOut = provideSystemNeeds().map((need) => ({
  ...need,
  files: found.filter((file) => leadsTo(file, need.usedBy)),
}));
const files = found.filter((file) => !leftOut.some((need) => need.files.includes(file)));
if (files.length < found.length && (process.env.CI === 'true' || files.length === 0)) {
  sayWhatIsLeftOut();
  process.exit(1);
}

// Tests start services and serve portal pages, so build both from these sources.
const build = spawnSync(process.execPath, ['scripts/run.mjs', '--build-only'], { cwd: root, stdio: 'inherit' });
if (build.status !== 0) process.exit(build.status ?? 1);

let interrupted = false;
let interruptRunner = () => {};
const interrupt = () => {
  interrupted = true;
  interruptRunner();
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
// npm signals the shell it runs us in, and that shell exits without passing the signal on.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && interrupt(), 500).unref();

await removeLeftovers();
const folder = makeRunFolder();
let code = 1;
try {
  const log = createLog({ level: 'warn', readable: true });
  const onProgress = (step: string) => console.log(`Tests are ${step}.`);
  const postgres = await startEmbeddedPostgres({ folder: join(folder, 'server'), log, onProgress });
  if (!interrupted) await prepareServer(postgres);
  if (!interrupted) code = await runTests(JSON.stringify(postgres));
  await postgres.stop();
} finally {
  await removeRunFolder(folder);
}
sayWhatIsLeftOut();
process.exit(interrupted ? 130 : code);

function rankOf(file: string): number {
  const rank = slowestFirst.findIndex((start) => file.startsWith(start));
  return rank === -1 ? slowestFirst.length : rank;
}

function sayWhatIsLeftOut(): void {
  for (const { program, why, how, files: without } of leftOut.filter((need) => need.files.length > 0)) {
    const count = `${without.length} test ${without.length === 1 ? 'file' : 'files'}`;
    console.error(`\n${'='.repeat(80)}\nNOT TESTED: ${count}, because ${program} is not installed (${why}):`);
    for (const file of without) console.error(`  ${file}`);
    console.error(`To test them too: ${how}\n${'='.repeat(80)}`);
  }
}

/** Runs the runner, test files and services in one process group, so that all of them can be stopped. */
async function runTests(server: string): Promise<number> {
  const runner = spawn(process.execPath, ['--import', 'tsx', 'scripts/run-test-files.ts', ...files], {
    cwd: root,
    stdio: 'inherit',
    detached: true,
    env: { ...process.env, HELIOGRAPH_TEST_SERVER: server, HELIOGRAPH_TEST_FOLDER: folder },
  });
  const group = runner.pid;
  if (group === undefined) throw new Error('the test runner could not be started');
  writeRunnerGroup(folder, group);
  interruptRunner = () => signalGroup(group, 'SIGTERM');
  const status = await new Promise<number>((resolve) => runner.on('exit', (value) => resolve(value ?? 1)));
  await endGroup(group);
  return status;
}

/** Gives services time to stop what they started. */
async function endGroup(group: number): Promise<void> {
  signalGroup(group, 'SIGTERM');
  for (let waitedMs = 0; waitedMs < 12_000 && isGroupRunning(group); waitedMs += 100) {
    if (waitedMs > 10_000) signalGroup(group, 'SIGKILL');
    await new Promise((done) => setTimeout(done, 100));
  }
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // The group has ended.
  }
}
