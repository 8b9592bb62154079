import type { Clock } from '../clock.ts';

/**
 * Milliseconds until the next full period of this process, at least a quarter of one. Loops that poll with the same period
 * then poll together, and their reads can share a query.
 */
export function alignedPause(clock: Pick<Clock, 'steadyMs'>, periodMs: number): number {
  const leftMs = periodMs - (clock.steadyMs() % periodMs);
  return leftMs < periodMs / 4 ? leftMs + periodMs : leftMs;
}
