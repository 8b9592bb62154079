import type { Clock } from '../../platform/clock.ts';

/** Under load claims come no closer than this: a statement for many texts costs little more than one for a few. */
const claimEveryMs = 40;

export function createClaimTurns(clock: Pick<Clock, 'steadyMs'>) {
  let nextMs = 0;
  return {
    /** Takes the next turn. Returns how long to wait for it. */
    take(): number {
      const nowMs = clock.steadyMs();
      const waitMs = Math.min(claimEveryMs, nextMs - nowMs);
      nextMs = Math.max(nextMs, nowMs) + claimEveryMs;
      return Math.max(0, waitMs);
    },
    /** A claim found nothing. An empty queue is no load: the next text has no wait. */
    noteEmpty(): void {
      nextMs = Math.min(nextMs, clock.steadyMs());
    },
  };
}
