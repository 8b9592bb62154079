import assert from 'node:assert/strict';
import { inShort } from '../support/effort.ts';
import { tellFigure } from '../support/figures.ts';

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

/** An idle request above this means that the machine is busy with something else. */
const quietMs = 10;

/** The median of a few requests that need nothing but the process. */
async function idleMs(url: string): Promise<number> {
  const times: Times = [];
  for (let tries = 0; tries < 9; tries++) {
    times.push(await timed(async () => (await fetch(`${url}/healthz`)).arrayBuffer()));
  }
  return times.sort((a, b) => a - b)[4] ?? 0;
}

/**
 * Holds a measure to its bound, in the long form only. It fails when the bound is exceeded in three of three tries, while
 * an idle request to the same service stays below 10 ms.
 */
export async function assertTimeBound(
  name: string,
  service: () => { url: string },
  measure: () => Promise<{ value: number; most: number }>,
): Promise<void> {
  const seen: string[] = [];
  for (let tries = 0; tries < 3; tries++) {
    const { value, most } = await measure();
    const idle = await idleMs(service().url);
    seen.push(`${value.toFixed(2)} (at most ${most.toFixed(2)}, idle ${idle.toFixed(2)})`);
    if (value <= most || idle >= quietMs || inShort(true, false)) {
      tellFigure(`${name}: ${seen.join(', ')}`);
      return;
    }
  }
  assert.fail(`${name}: ${seen.join(', ')}`);
}
