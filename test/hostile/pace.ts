import assert from 'node:assert/strict';
import { inShort } from '../support/effort.ts';

/** How long each of many tries took, in milliseconds. */
export type Times = number[];

export function p99(times: Times): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/**
 * Holds a measure to its bound, in the long form only: a busy machine is no failure. It fails when the bound is exceeded
 * in three of three tries.
 */
export async function assertPace(name: string, measure: () => Promise<{ value: number; most: number }>): Promise<void> {
  const seen: string[] = [];
  for (let tries = 0; tries < 3; tries++) {
    const { value, most } = await measure();
    seen.push(`${value.toFixed(2)} (at most ${most.toFixed(2)})`);
    if (value <= most || inShort(true, false)) {
      process.stderr.write(`${name}: ${seen.join(', ')}\n`);
      return;
    }
  }
  assert.fail(`${name}: ${seen.join(', ')}`);
}
