// Runs Debian's programs by the files of deploy/ha, where only addresses, folders and passwords are this machine's.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const files = fileURLToPath(new URL('../../deploy/ha', import.meta.url));
const path = `${process.env.PATH}:/usr/bin:/usr/sbin`;

/** Postgres refuses root: then the programs run as Debian's user for it, or as another without rights. */
export interface RunAs {
  uid?: number;
  gid?: number;
}

export function findRunAs(): RunAs {
  if (process.getuid?.() !== 0) return {};
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const known = lines.map((line) => line.split(':')).find(([name]) => name === 'postgres');
  return { uid: Number(known?.[2] ?? 65534), gid: Number(known?.[3] ?? 65534) };
}

export function own(folder: string, { uid, gid }: RunAs): void {
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
}

/** Writes a file of deploy/ha with these changes, in order, and returns its path. Each must change something. */
export function configure(from: string, to: string, changes: readonly (readonly [string, string])[]): string {
  let text = readFileSync(join(files, from), 'utf8');
  for (const [what, by] of changes) {
    if (!text.includes(what)) throw new Error(`deploy/ha/${from} has no ${what}`);
    text = text.replaceAll(what, by);
  }
  writeFileSync(to, text, { mode: 0o644 });
  return to;
}

export function launch(program: string, args: string[], folder: string, runAs: RunAs = {}): ChildProcess {
  const output = openSync(join(folder, `${program}.log`), 'a');
  const env = { PATH: path, HOME: folder, LANG: 'C.UTF-8' };
  // Signals of the terminal must reach only the process that stops them in order.
  return spawn(program, args, { cwd: folder, env, stdio: ['ignore', output, output], detached: true, ...runAs });
}

export function isRunning(child: ChildProcess | undefined): child is ChildProcess {
  return child !== undefined && child.exitCode === null && child.signalCode === null && child.pid !== undefined;
}

export async function end(child: ChildProcess | undefined, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (!isRunning(child)) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  if (signal === 'SIGKILL') child.kill('SIGCONT');
  await gone;
}

/** A process and all below it. */
export function treeOf(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = parentOf(name);
    if (parent !== undefined) parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
  }
  const below = (each: number): number[] => [each, ...(parents.get(each) ?? []).flatMap(below)];
  return below(pid);
}

function parentOf(pid: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** One that ends meanwhile is no error. */
export function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {}
  }
}

/** Where this machine has the programs of a Postgres server. */
export function findServerPrograms(): string {
  const versions = readdirSync('/usr/lib/postgresql').filter((version) => Number(version) >= 15);
  const newest = versions.toSorted((one, other) => Number(other) - Number(one))[0];
  if (newest === undefined) throw new Error('Postgres 15 or newer is not installed.');
  return `/usr/lib/postgresql/${newest}/bin`;
}

export const debianPackages = ['patroni', 'python3-etcd', 'etcd-server', 'postgresql-15', 'redis-server', 'haproxy'];

/** The programs that are missing here. */
export function findMissing(): string[] {
  return ['patroni', 'etcd', 'redis-server', 'haproxy'].filter((program) => {
    try {
      execFileSync('which', [program], { env: { PATH: path }, stdio: 'ignore' });
      return false;
    } catch {
      return true;
    }
  });
}
