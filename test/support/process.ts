import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder below the one that `npm test` removes in the end, with every server that still runs in it. */
export function makeFolder(name: string): string {
  return mkdtempSync(join(process.env.HELIOGRAPH_TEST_FOLDER ?? tmpdir(), `${name}-`));
}

/** What the runner has compiled of a file, for a process that a test starts: to compile there takes half a second. */
export function compiledFile(name: string): string {
  return join(process.env.HELIOGRAPH_TEST_FOLDER ?? '', 'compiled', name.replace(/\.ts$/, '.js'));
}

/** The pid of the Postgres on a data folder, while it lives. */
export function livingPostmaster(dataFolder: string): number | undefined {
  const file = join(dataFolder, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  return pid > 1 && isRunning(pid) ? pid : undefined;
}

/** What has ended but was not yet reaped by its parent is gone for all that matters here. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !hasProc || stateOf(pid) !== 'Z';
}

export function isGroupRunning(group: number): boolean {
  if (!hasProc) return isRunning(-group);
  const inGroup = (pid: string) => statOf(pid)[2] === String(group) && statOf(pid)[0] !== 'Z';
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && inGroup(name));
}

/** Every process whose command line names the path. */
export function processesOn(path: string): number[] {
  const names = hasProc ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return names.filter((pid) => readText(`/proc/${pid}/cmdline`).includes(path)).map(Number);
}

const hasProc = existsSync('/proc/self/stat');

function stateOf(pid: number): string | undefined {
  return statOf(String(pid))[0] ?? 'Z';
}

/** State, parent, group and so on: what follows the program's name, which may itself hold spaces. */
function statOf(pid: string): string[] {
  const text = readText(`/proc/${pid}/stat`);
  return text === '' ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export async function waitUntilGone(pid: number, withinMs = 15_000): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < withinMs && isRunning(pid); waitedMs += 25) {
    await new Promise((done) => setTimeout(done, 25));
  }
  return !isRunning(pid);
}

const folderName = /^heliograph-test-(\d+)-/;

/** Linux keeps what lies here in memory. */
const memory = '/dev/shm';
const memoryNeeded = 8 * 2 ** 30;

/**
 * In memory where there is plenty: a run makes and drops hundreds of databases, which costs a disk more than the tests.
 * TMPDIR names another place. The long form needs more room.
 */
function placeForRuns(): string {
  const isNamed = process.env.TMPDIR !== undefined || process.env.HELIOGRAPH_TEST_LONG === '1';
  if (isNamed || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return Math.min(bavail * bsize, freemem()) >= memoryNeeded ? memory : tmpdir();
}

/** The one folder for everything that a test run leaves. Others may pass through it, as a user of Postgres's must. */
export function makeRunFolder(): string {
  const folder = mkdtempSync(join(placeForRuns(), `heliograph-test-${process.pid}-`));
  chmodSync(folder, 0o711);
  return folder;
}

/** Which process group the tests of this run are, so that even after a `kill -9` the next run can end it. */
export function writeRunnerGroup(folder: string, group: number): void {
  writeFileSync(join(folder, 'runner'), String(group));
}

/** Ends the tests of the run and every Postgres whose data lies below its folder, and removes the folder. */
export async function removeRunFolder(folder: string): Promise<void> {
  const runner = Number(readText(join(folder, 'runner')));
  // Another process may have this number by now.
  if (runner > 1 && readText(`/proc/${runner}/cmdline`).includes('scripts/run-test-files.')) {
    process.kill(-runner, 'SIGKILL');
    await waitUntilGone(runner, 5000);
  }
  // By entries, because names alone would lead through the link to node_modules.
  for (const { name, parentPath: dataFolder } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (name !== 'postmaster.pid') continue;
    const pid = livingPostmaster(dataFolder);
    if (pid === undefined || !readText(`/proc/${pid}/cmdline`).includes(dataFolder)) continue;
    process.kill(pid, 'SIGQUIT');
    if (!(await waitUntilGone(pid, 5000))) process.kill(pid, 'SIGKILL');
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** What runs that were killed have left: their folders carry their pids. */
export async function removeLeftovers(): Promise<void> {
  for (const location of [tmpdir(), memory].filter(existsSync)) {
    for (const name of readdirSync(location)) {
      const pid = Number(folderName.exec(name)?.[1]);
      if (pid > 1 && !isRunning(pid)) await removeRunFolder(join(location, name));
    }
  }
}

/** Below the ports that systems hand out by themselves, so that no connection of any program gets one of these by chance. */
const ports = { first: 11_000, count: 20_000 };

/** A free port. Of all the processes of a test run each port is given to one. */
export async function freePort(): Promise<number> {
  // Processes begin in different places.
  for (let turn = 0; turn < ports.count; turn++) {
    const port = ports.first + ((process.pid * 31 + turn) % ports.count);
    if (take(port) && (await canListen(port))) return port;
  }
  throw new Error('there is no free port');
}

const taken = new Set<number>();

/** Whether it was not given before: to this process, or to another one of the same test run. */
function take(port: number): boolean {
  if (taken.has(port)) return false;
  taken.add(port);
  const folder = process.env.HELIOGRAPH_TEST_FOLDER;
  if (folder === undefined) return true;
  try {
    writeFileSync(join(folder, `port-${port}`), '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
