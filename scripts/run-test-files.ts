// Runs the test files it is given: each in a process of its own, a few at a time. Started by scripts/test.ts, in a process
// group of its own.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compiledName } from './compile-tests.ts';
import { createSourcePlaces } from './source-places.ts';
import { hasProperties } from './test-files.ts';
import { createJobs, type Job } from './test-jobs.ts';
import { failureOf, lineOf, type Outcome, summaryOf, timesOf } from './test-report.ts';
import { writeResults } from './test-results.ts';
import { writeTimes } from './test-times.ts';

const long = process.env.HELIOGRAPH_TEST_LONG === '1';
/** For one file, on a machine that is busy with other things: a file that takes longer hangs. */
const fileTimeoutMs = long ? 3_600_000 : 900_000;
/** Up to this many jobs print everything that they have to say. */
const fewJobs = 6;

/** Most new objects are dropped at once: with more room for them, a process takes a twentieth less CPU. */
const memory = ['--min-semi-space-size=32', '--max-semi-space-size=64'];

const startedMs = performance.now();
const cores = availableParallelism();
/** More than there are cores: most files wait half of their time. The long form measures times, and needs the cores. */
const slots = Number(process.env.HELIOGRAPH_TEST_SLOTS ?? (long ? cores : cores + 3));
const once = createJobs(process.argv.slice(2), { unitJobs: cores, long });
const times = Number(process.env.HELIOGRAPH_TEST_TIMES ?? 1);
const jobs = Array.from({ length: times }, () => once).flat();
const alone = jobs.length === 1;
const outcomes: Outcome[] = [];
const toSourcePlaces = createSourcePlaces(`${process.env.HELIOGRAPH_TEST_FOLDER}/compiled`, process.cwd());
let started = 0;
const waiting = [...jobs];
await Promise.all(Array.from({ length: slots }, work));

const tookMs = performance.now() - startedMs;
if (!alone) console.log(`\n${summaryOf(outcomes, tookMs)}`);
else console.log(`ℹ cpu_s ${outcomes[0]?.cpuSeconds.toFixed(1)}`);
if (process.env.HELIOGRAPH_TEST_RESULTS !== undefined) {
  writeResults(process.env.HELIOGRAPH_TEST_RESULTS, outcomes, tookMs);
}
if (process.env.HELIOGRAPH_TEST_RECORD_TIMES === '1') {
  const times = outcomes.filter(({ job }) => Object.keys(job.env).length === 0).flatMap(timesOf);
  // Of pure tests only the slow ones are worth a line.
  const kept = times.filter(({ name, seconds }) => name.startsWith('test/') || seconds >= 1);
  writeTimes(kept.map(({ name, seconds }) => ({ file: name, seconds })));
}
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;

async function work(): Promise<void> {
  for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
    const outcome = await run(job);
    outcomes.push(outcome);
    if (jobs.length <= fewJobs && !alone) console.log(outcome.output.trimEnd());
    if (!alone) console.log(lineOf(outcome, outcomes.length, jobs.length));
    // Printed again at the end; a run that is interrupted has printed it at least once.
    if (!outcome.passed && jobs.length > fewJobs) console.log(failureOf(outcome));
  }
}

/** `scripts/test.ts` has compiled it. */
function compiled(file: string): string {
  return `${process.env.HELIOGRAPH_TEST_FOLDER}/compiled/${compiledName(file)}`;
}

function run(job: Job): Promise<Outcome> {
  const startedAtMs = performance.now();
  const cpuFile = join(process.env.HELIOGRAPH_TEST_FOLDER ?? tmpdir(), `cpu-${process.pid}-${++started}`);
  const outside = job.files.some((file) => file.startsWith('..'));
  const files = outside ? job.files : job.files.map(compiled);
  const imported = ['--import', compiled('scripts/lighter-tracking.ts'), compiled('scripts/import-test-files.ts')];
  // One file may leave something open. Of several, the first would end the process before the next is imported.
  const forced = files.length === 1 ? ['--test-force-exit'] : [];
  const entry = [...forced, ...(outside ? [] : imported), ...files];
  const seeded = !long && job.files.some(hasProperties) ? ['--import', compiled('scripts/fixed-seed.ts')] : [];
  // Only files of this project are compiled ahead.
  const loaded = outside ? ['--import', 'tsx'] : ['--import', compiled('scripts/report-cpu.ts')];
  const child = spawn(process.execPath, [...memory, ...loaded, ...seeded, '--test-reporter=spec', ...entry], {
    env: { ...process.env, ...job.env, HELIOGRAPH_TEST_RUNNER: String(process.pid), HELIOGRAPH_TEST_CPU: cpuFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const take = (text: string) => {
    const mapped = toSourcePlaces(text);
    output += mapped;
    if (alone) process.stdout.write(mapped);
  };
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => take(`${line}\n`));
  }
  const late = setTimeout(() => {
    take(`\n${job.name} did not end within ${fileTimeoutMs / 60_000} minutes.\n`);
    child.kill('SIGKILL');
  }, fileTimeoutMs);
  return new Promise((resolve) => {
    const finish = (code: number | null) => {
      clearTimeout(late);
      const seconds = (performance.now() - startedAtMs) / 1000;
      resolve({ job, passed: code === 0, seconds, cpuSeconds: takeNumber(cpuFile), output });
    };
    child.on('close', finish);
    // A process that a test has left behind may hold the pipes open.
    child.on('exit', (code) => setTimeout(finish, 1000, code).unref());
  });
}

/** What report-cpu.ts has written; a process that was killed has written nothing. */
function takeNumber(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  } finally {
    rmSync(file, { force: true });
  }
}
