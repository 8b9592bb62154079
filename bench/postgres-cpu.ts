import { existsSync, readdirSync, readFileSync } from 'node:fs';

/**
 * What all processes of the Postgres on this folder have used so far. Only Linux reports it; elsewhere it is 0. A connection
 * that has been closed counts with what it had used when it was last read.
 */
export function createPostgresCpu(dataFolder: string): () => number {
  const postmaster = readFileSync(`${dataFolder}/postmaster.pid`, 'utf8').split('\n')[0] ?? '';
  if (!existsSync(`/proc/${postmaster}/schedstat`)) return () => 0;
  const used = new Map<string, number>();
  return () => {
    const own = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster);
    for (const pid of [postmaster, ...own]) used.set(pid, Math.max(used.get(pid) ?? 0, usedMicroseconds(pid)));
    return [...used.values()].reduce((sum, each) => sum + each, 0);
  };
}

/** The second field behind the program's name, which may itself hold spaces. */
function parentOf(pid: string): string | undefined {
  const text = readText(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[1];
}

function usedMicroseconds(pid: string): number {
  return Number(readText(`/proc/${pid}/schedstat`).split(' ')[0]) / 1000;
}

/** Empty for a process that has just ended. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
