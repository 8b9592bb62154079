// Loaded into each process of a test run: at its end it reports to the runner how much CPU it used, with what it started.
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** A process that a test forks loads this file too, and has another parent. */
const file = process.env.HELIOGRAPH_TEST_CPU;
let added = 0;
if (isMainThread && file !== undefined && process.ppid === Number(process.env.HELIOGRAPH_TEST_RUNNER)) {
  process.on('exit', () => writeFileSync(file, String(cpuSecondsSoFar())));
}

/** Of this process and of those it started that have ended. */
export function cpuSecondsSoFar(): number {
  return ownSeconds() + cpuSecondsOfChildren('self') + added;
}

/** For processes that another process than this one waits for, as a browser's pages are. */
export function addCpuSeconds(seconds: number): void {
  added += seconds;
}

function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Of its processes that have ended, and of what these started: fields 16 and 17 of Linux's `stat`, in hundredths. */
export function cpuSecondsOfChildren(pid: number | 'self'): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0;
  }
}
