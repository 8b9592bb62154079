import type { Clock } from '../platform/clock.ts';

export interface Progress {
  /** This many more bytes were copied. */
  moved(what: string, bytes: number): void;
}

const everyMs = 2000;

/** Reports the progress of a long copy every two seconds. A short copy reports nothing. */
export function createProgress(clock: Clock, say: (text: string) => void): Progress {
  let reportedMs = clock.steadyMs();
  let total = 0;
  return {
    moved(what, bytes) {
      total += bytes;
      if (clock.steadyMs() - reportedMs < everyMs) return;
      reportedMs = clock.steadyMs();
      say(`  ${what}: ${inWords(total)} so far`);
    },
  };
}

export function inWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
