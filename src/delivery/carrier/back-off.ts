import { randomFraction } from '../../platform/crypto/random.ts';

export interface BackOff {
  fromMs: number;
  toMs: number;
}

/**
 * The wait after `tries` failures: doubles each time, up to `toMs`. Half of it is random, so that items that failed
 * together do not retry together.
 */
export function backOffMs(tries: number, { fromMs, toMs }: BackOff, fraction = randomFraction()): number {
  const wholeMs = Math.min(toMs, fromMs * 2 ** Math.max(0, tries - 1));
  return wholeMs * (0.5 + 0.5 * fraction);
}
