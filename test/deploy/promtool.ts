import { spawnSync } from 'node:child_process';

/** Runs promtool, and returns its exit code and what it said. */
export function promtool(...args: string[]): { code: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { code: status, said: stdout + stderr };
}
