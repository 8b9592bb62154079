import { existsSync, readdirSync, readFileSync } from 'node:fs';

/**
 * What all processes of the Postgres on this folder have used so far. Only Linux tells; elsewhere it is 0. A connection
 * that has been closed takes its share with it, but those of a round live as long as the round.
 */
export function createPostgresCpu(dataFolder: string): () => number {
  const postmaster = readFileSync(`${dataFolder}/postmaster.pid`, 'utf8').split('\n')[0] ?? '';
  if (!existsSync(`/proc/${postmaster}/schedstat`)) return () => 0;
  return () => {
    const own = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster);
    return [postmaster, ...own].reduce((sum, pid) => sum + usedMicroseconds(pid), 0);
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
