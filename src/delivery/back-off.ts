import { randomFraction } from '../platform/random.ts';

export interface BackOff {
  fromMs: number;
  toMs: number;
}

/**
 * How long to wait after so many tries: twice as long each time, up to an end. Half of it is fixed and half by chance, so
 * that what failed together is not tried again together.
 */
export function backOffMs(tries: number, { fromMs, toMs }: BackOff, fraction = randomFraction()): number {
  const wholeMs = Math.min(toMs, fromMs * 2 ** Math.max(0, tries - 1));
  return wholeMs * (0.5 + 0.5 * fraction);
}
