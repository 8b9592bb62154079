// Runs the tests: all test files, or those whose path contains an argument. It starts only what these files need, and
// stops everything it started, whether the tests end, hang, or get Ctrl-C.
import { spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  isGroupRunning,
  livingPostmaster,
  makeRunFolder,
  removeLeftovers,
  removeRunFolder,
  writeRunnerGroup,
} from '../test/support/process.ts';
import { compilePureTests, compileTests } from './compile-tests.ts';
import { cpuSecondsOfChildren } from './report-cpu.ts';
import { canInstall, findMissing, programsFor, provide, type SystemNeed } from './system-needs.ts';
import { findTestFiles, isUnitTest, leadsTo, type Need, needsOf } from './test-files.ts';

/** A program that is missing, and the files that are not tested without it. */
interface LeftOut extends SystemNeed {
  files: string[];
}

const root = fileURLToPath(new URL('..', import.meta.url));
const parts = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
/** `--times=50` runs the files this many times, to find a test that fails by chance. */
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

/** Pure tests need nothing: to find that out by their imports takes longer than most of them. */
const isPure = found.every(isUnitTest);
const needs = isPure ? new Set<Need>() : needsOf(found);
const programs = isPure ? [] : programsFor(found);
sayWhatIsStarted();

let interrupted = false;
/** Ends what runs at the moment. */
let interruptWork = () => {};
const interrupt = () => {
  interrupted = true;
  interruptWork();
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
// npm signals the shell it runs us in, and that shell exits without passing the signal on.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && interrupt(), 500).unref();

await removeLeftovers();
const folder = makeRunFolder();
let leftOut: LeftOut[] = [];
let code = 1;
try {
  code = await prepareAndRun();
} finally {
  await removeRunFolder(folder);
}
sayWhatIsLeftOut();
process.exit(interrupted ? 130 : code);

/** The exit code. While the build runs, the tests are compiled and the database starts. */
async function prepareAndRun(): Promise<number> {
  // Where nothing can be installed, it is known now what is missing.
  if (!canInstall()) leaveOut(findMissing(programs));
  if (isTooLittle()) return 1;
  const server = needs.has('postgres') ? startServer() : undefined;
  try {
    const [missing, built] = await Promise.all([
      provide(programs),
      needs.has('build') ? build() : 0,
      provideCompiled(`${folder}/compiled`),
      server,
    ]);
    if (built !== 0) return built;
    leaveOut(missing);
    if (isTooLittle()) return 1;
    const status = interrupted ? 1 : await runTests(filesToRun(), (await server)?.settings);
    if (server !== undefined) console.log(`ℹ postgres_cpu_s ${cpuSecondsOfServer().toFixed(1)}`);
    return status;
  } finally {
    await server?.then(
      ({ stop }) => stop(),
      () => {},
    );
  }
}

function leaveOut(missing: SystemNeed[]): void {
  leftOut = missing.map((need) => ({ ...need, files: found.filter((file) => leadsTo(file, need.usedBy)) }));
}

function filesToRun(): string[] {
  return found.filter((file) => !leftOut.some((need) => need.files.includes(file)));
}

/** CI insists on all files; others on one at least. */
function isTooLittle(): boolean {
  const { length } = filesToRun();
  return length < found.length && (process.env.CI === 'true' || length === 0);
}

/** A run that another run's test starts gets what that one has compiled. */
async function provideCompiled(place: string): Promise<void> {
  const there = process.env.HELIOGRAPH_TEST_COMPILED;
  if (there === undefined) await (isPure ? compilePureTests(place, found) : compileTests(place));
  else symlinkSync(there, place, 'dir');
}

/** Pure tests do not even load the code that starts a database. */
async function startServer(): Promise<{ settings: string; stop(): Promise<void> }> {
  const { startTestServer } = await import('../test/support/server.ts');
  return startTestServer({ folder, isInterrupted: () => interrupted });
}

/** Of the connections that have ended, which no job counts. */
function cpuSecondsOfServer(): number {
  const pid = livingPostmaster(`${folder}/server/data`);
  return pid === undefined ? 0 : cpuSecondsOfChildren(pid);
}

/** Its exit code. */
function build(): Promise<number> {
  const child = spawn(process.execPath, ['scripts/run.mjs', '--build-only'], { cwd: root, stdio: 'inherit' });
  interruptWork = () => child.kill();
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}

function sayWhatIsStarted(): void {
  const count = `${found.length} test ${found.length === 1 ? 'file' : 'files'}`;
  const started = [
    ...(needs.has('build') ? ['a build of the service, the portal and the client'] : []),
    ...(needs.has('postgres') ? ['Postgres'] : []),
    ...programs.map(({ program }) => program),
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
async function runTests(files: string[], server: string | undefined): Promise<number> {
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
  interruptWork = () => signalGroup(group, 'SIGTERM');
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
