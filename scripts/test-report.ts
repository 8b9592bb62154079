// What a test run prints: a line for each file as it ends, the failures in full, the totals, and the slowest files.
import type { Job } from './test-jobs.ts';

export interface Outcome {
  job: Job;
  passed: boolean;
  seconds: number;
  /** Of its processes, without the Postgres that all jobs share. */
  cpuSeconds: number;
  /** Everything that the process printed, in the form of node's spec reporter. */
  output: string;
}

const counts = ['tests', 'pass', 'fail', 'cancelled', 'skipped', 'todo'] as const;

export function countOf({ output }: Outcome, what: (typeof counts)[number]): number {
  return Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
}

/** What tests have measured and reported with `t.diagnostic`. */
export function figuresOf({ output }: Outcome): string[] {
  const lines = [...output.matchAll(/^\s*ℹ (.+)$/gm)].map(([, text = '']) => text);
  return lines.filter(
    (text) => !/^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|cpu_s) [\d.]+$/.test(text),
  );
}

export function lineOf(outcome: Outcome, done: number, all: number): string {
  const { job, passed, seconds, cpuSeconds } = outcome;
  const progress = `${String(done).padStart(String(all).length)}/${all}`;
  const took = `${seconds.toFixed(1).padStart(6)} s (${cpuSeconds.toFixed(1).padStart(4)} s of CPU)`;
  return `${passed ? '✔' : '✖'} ${progress} ${took}  ${job.name}, ${countOf(outcome, 'tests')} tests`;
}

export function summaryOf(outcomes: Outcome[], tookMs: number): string {
  const failed = outcomes.filter(({ passed }) => !passed);
  const totals = counts.map((what) => `ℹ ${what} ${outcomes.reduce((sum, each) => sum + countOf(each, what), 0)}`);
  const cpuSeconds = outcomes.reduce((sum, each) => sum + each.cpuSeconds, 0);
  const lines = [...totals, `ℹ duration_ms ${Math.round(tookMs)}`, `ℹ cpu_s ${Math.round(cpuSeconds)}`];
  if (outcomes.length > 20) {
    lines.push('', 'The slowest:', ...slowest(outcomes), '', 'The most CPU:', ...costliest(outcomes));
  }
  if (failed.length > 0) lines.push('', '✖ failing tests:', ...failed.map(failureOf));
  return lines.join('\n');
}

function slowest(outcomes: Outcome[]): string[] {
  return outcomes
    .flatMap(timesOf)
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, 20)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${name}`);
}

function costliest(outcomes: Outcome[]): string[] {
  return outcomes
    .flatMap(costsOf)
    .toSorted((one, other) => other.cpuSeconds - one.cpuSeconds)
    .slice(0, 40)
    .map(({ name, cpuSeconds }) => `${cpuSeconds.toFixed(1).padStart(6)} s  ${name}`);
}

/** What a process prints about one of the files that share it. */
export function cpuLineOf(file: string, cpuSeconds: number): string {
  return `${file} took ${cpuSeconds.toFixed(1)} s of CPU`;
}

function costsOf({ job, cpuSeconds, output }: Outcome): { name: string; cpuSeconds: number }[] {
  if (job.files.length === 1) return [{ name: job.name, cpuSeconds }];
  return [...output.matchAll(/^(\S+\.test\.ts) took ([\d.]+) s of CPU$/gm)].map(([, name = '', seconds]) => ({
    name: name + laneOf(job),
    cpuSeconds: Number(seconds),
  }));
}

/** Files that share a process are suites in its output, with a time each. */
export function timesOf({ job, seconds, output }: Outcome): { name: string; seconds: number }[] {
  if (job.files.length === 1) return [{ name: job.name, seconds }];
  return [...output.matchAll(/^[✔✖] (\S+\.test\.ts) \(([\d.]+)ms\)$/gm)].map(([, name = '', ms]) => ({
    name: name + laneOf(job),
    seconds: Number(ms) / 1000,
  }));
}

function laneOf({ env }: Job): string {
  return 'HELIOGRAPH_HTTP_LANE' in env ? ` (${env.HELIOGRAPH_HTTP_LANE} lane)` : '';
}

/** The part of the output that is about failures; all of it when the process ended before it came to that. */
export function failureOf({ job, output }: Outcome): string {
  const start = output.indexOf('✖ failing tests:');
  return `\n${job.name}\n${start === -1 ? output : output.slice(start + '✖ failing tests:'.length)}`;
}
