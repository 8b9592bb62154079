import type { Clock } from '../platform/clock.ts';

export interface Progress {
  /** So many bytes more have gone through. */
  moved(what: string, bytes: number): void;
}

const everyMs = 2000;

/** Says every two seconds how far a long copy has come. A short one says nothing. */
export function createProgress(clock: Clock, say: (text: string) => void): Progress {
  let toldMs = clock.steadyMs();
  let total = 0;
  return {
    moved(what, bytes) {
      total += bytes;
      if (clock.steadyMs() - toldMs < everyMs) return;
      toldMs = clock.steadyMs();
      say(`  ${what}: ${inWords(total)} so far`);
    },
  };
}

export function inWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
