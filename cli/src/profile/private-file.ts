import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { failure } from '../process/exit.ts';

const longestFile = 1024 * 1024;
/** A change takes milliseconds, so an older lock was left by a killed program. */
const lockLivesMs = 5000;
const waitForLockMs = 10_000;

/** A JSON file that only its owner can read. Undefined if it does not exist. */
export function readPrivateFile(path: string): unknown {
  let text: string;
  try {
    if (statSync(path).size > longestFile) throw failure(`${path} is too large for a file of ours. Move it away.`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch {
    throw failure(`${path} is not JSON.`, 'Correct it or move it away.');
  }
}

/** Replaces the file atomically, so that no reader sees half of it. */
export function writePrivateFile(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${randomUUID()}`;
  const file = openSync(fresh, 'wx', 0o600);
  try {
    // The umask only removes permissions. An existing file may have had more.
    chmodSync(fresh, 0o600);
    writeSync(file, `${JSON.stringify(value, null, 2)}\n`);
    fsyncSync(file);
    closeSync(file);
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

/** Runs a change of the file while no other program changes it. */
export async function whileLocked<Result>(path: string, change: () => Result): Promise<Result> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const lock = `${path}.lock`;
  const untilMs = Date.now() + waitForLockMs;
  while (!take(lock)) {
    if (Date.now() > untilMs) throw failure(`Another program is changing ${path}.`, `If none is, delete ${lock}.`);
    await new Promise((done) => setTimeout(done, 5 + Math.random() * 20));
  }
  try {
    return change();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  try {
    if (Date.now() - statSync(lock).mtimeMs > lockLivesMs) removeStale(lock);
  } catch {
    // The lock's owner has just removed it.
  }
  return false;
}

/** Two programs may find the same stale lock. The rename succeeds for only one of them, and never removes a fresh lock. */
function removeStale(lock: string): void {
  const aside = `${lock}.${randomUUID()}`;
  renameSync(lock, aside);
  rmSync(aside, { force: true });
}
