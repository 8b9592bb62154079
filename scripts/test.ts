// Runs the tests: all test files, or those whose path contains an argument. It starts only what these files need, and
// stops everything it started, whether the tests end, hang, or get Ctrl-C.
import { spawn, spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  isGroupRunning,
  makeRunFolder,
  removeLeftovers,
  removeRunFolder,
  writeRunnerGroup,
} from '../test/support/process.ts';
import { compileTests } from './compile-tests.ts';
import { programsFor, provide } from './system-needs.ts';
import { findTestFiles, leadsTo, needsOf } from './test-files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const parts = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
/** `--times=50` runs the files so often, to find a test that fails by chance. */
const times = process.argv.find((argument) => argument.startsWith('--times='))?.slice('--times='.length) ?? '1';
/** Writes how long each file took, for the order of later runs. */
const recordsTimes = process.argv.includes('--record-times');
const unknown = process.argv.filter((argument) => /^--(?!times=\d+$|record-times$)/.test(argument));
if (unknown.length > 0 || (recordsTimes && parts.length > 0)) {
  console.error('Usage: npm test -- [--times=<count>] [part of a path…], or npm test -- --record-times for all files.');
  process.exit(1);
}
const found = findTestFiles(parts);
if (found.length === 0) {
  console.error(`No test file's path contains ${parts.join(' or ')}.`);
  process.exit(1);
}

const programs = programsFor(found);
const leftOut = provide(programs).map((need) => ({
  ...need,
  files: found.filter((file) => leadsTo(file, need.usedBy)),
}));
const files = found.filter((file) => !leftOut.some((need) => need.files.includes(file)));
if (files.length < found.length && (process.env.CI === 'true' || files.length === 0)) {
  sayWhatIsLeftOut();
  process.exit(1);
}

const needs = needsOf(files);
sayWhatIsStarted();
if (needs.has('build')) {
  const build = spawnSync(process.execPath, ['scripts/run.mjs', '--build-only'], { cwd: root, stdio: 'inherit' });
  if (build.status !== 0) process.exit(build.status ?? 1);
}

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
  await provideCompiled(`${folder}/compiled`);
  const server = needs.has('postgres') ? await startServer() : undefined;
  if (!interrupted) code = await runTests(server?.settings);
  await server?.stop();
} finally {
  await removeRunFolder(folder);
}
sayWhatIsLeftOut();
process.exit(interrupted ? 130 : code);

/** A run that another run's test starts gets what that one has compiled. */
async function provideCompiled(place: string): Promise<void> {
  const there = process.env.HELIOGRAPH_TEST_COMPILED;
  if (there === undefined) await compileTests(place);
  else symlinkSync(there, place, 'dir');
}

/** Pure tests do not even load the code that starts a database. */
async function startServer(): Promise<{ settings: string; stop(): Promise<void> }> {
  const { startTestServer } = await import('../test/support/server.ts');
  return startTestServer({ folder, isInterrupted: () => interrupted });
}

function sayWhatIsStarted(): void {
  const count = `${files.length} test ${files.length === 1 ? 'file' : 'files'}`;
  const running = programs.filter((program) => !leftOut.some((need) => need.program === program.program));
  const started = [
    ...(needs.has('build') ? ['a build of the service, the portal and the client'] : []),
    ...(needs.has('postgres') ? ['Postgres'] : []),
    ...running.map(({ program }) => program),
  ];
  console.log(`Tests: ${count}, with ${started.length === 0 ? 'nothing but Node' : started.join(', ')}.`);
}

function sayWhatIsLeftOut(): void {
  for (const { program, why, how, files: without } of leftOut) {
    const count = `${without.length} test ${without.length === 1 ? 'file' : 'files'}`;
    console.error(`\n${'='.repeat(80)}\nNOT TESTED: ${count}, because ${program} is not installed (${why}):`);
    for (const file of without) console.error(`  ${file}`);
    console.error(`To test them too: ${how}\n${'='.repeat(80)}`);
  }
}

/** Runs the runner, test files and services in one process group, so that all of them can be stopped. */
async function runTests(server: string | undefined): Promise<number> {
  const runner = spawn(process.execPath, [`${folder}/compiled/scripts/run-test-files.js`, ...files], {
    cwd: root,
    stdio: 'inherit',
    detached: true,
    env: {
      ...process.env,
      HELIOGRAPH_TEST_FOLDER: folder,
      HELIOGRAPH_TEST_TIMES: times,
      HELIOGRAPH_TEST_RECORD_TIMES: recordsTimes ? '1' : '0',
      ...(server !== undefined && { HELIOGRAPH_TEST_SERVER: server }),
    },
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
