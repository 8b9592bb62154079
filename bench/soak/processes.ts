import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** What the processes below one process hold. Only Linux reports it; elsewhere `undefined`. */
export interface ProcessSums {
  count: number;
  residentBytes: number;
  /** Without what processes share, such as the buffers of Postgres. */
  privateBytes: number;
  descriptors: number;
}

export const hasProc = existsSync('/proc/self/status');

/** The process and everything that it has started, without `except` and what that has started. */
export function sumProcesses(root: number, except?: number): ProcessSums | undefined {
  if (!hasProc) return undefined;
  const sums = { count: 0, residentBytes: 0, privateBytes: 0, descriptors: 0 };
  for (const pid of familyOf(root, except)) {
    const status = readText(`/proc/${pid}/status`);
    if (status === '') continue;
    sums.count++;
    sums.residentBytes += kilobytes(status, 'VmRSS');
    sums.privateBytes += kilobytes(status, 'RssAnon');
    sums.descriptors += entriesOf(`/proc/${pid}/fd`);
  }
  return sums;
}

function familyOf(root: number, except?: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const text = readText(`/proc/${name}/stat`);
    const parent = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const family = [root];
  for (const pid of family) family.push(...(children.get(pid) ?? []).filter((child) => child !== except));
  return family;
}

function kilobytes(status: string, name: string): number {
  return 1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
}

/** A process may end while it is read, or belong to another user. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function entriesOf(path: string): number {
  try {
    return readdirSync(path).length;
  } catch {
    return 0;
  }
}
