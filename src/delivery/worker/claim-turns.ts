import type { Clock } from '../../platform/clock.ts';

/** Under load claims come no closer than this: a statement for many texts costs little more than one for a few. */
const claimEveryMs = 40;

export interface ClaimTurns {
  /** Takes the next turn. Returns how long to wait for it. */
  take(): number;
  /** A claim found nothing. An empty queue is no load: the next text has no wait. */
  noteEmpty(): void;
}

export function createClaimTurns(clock: Pick<Clock, 'steadyMs'>): ClaimTurns {
  let nextMs = 0;
  return {
    take() {
      const nowMs = clock.steadyMs();
      const waitMs = Math.min(claimEveryMs, nextMs - nowMs);
      nextMs = Math.max(nextMs, nowMs) + claimEveryMs;
      return Math.max(0, waitMs);
    },
    noteEmpty() {
      nextMs = Math.min(nextMs, clock.steadyMs());
    },
  };
}
