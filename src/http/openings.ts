import type { Clock } from '../platform/clock.ts';

/** Connections opened together can arrive with shorter idle pauses between them. */
const pauseMs = 0.1;

/**
 * Estimates when a connection that Node accepts now was opened: the kernel opens it, and a busy process accepts it
 * later.
 */
export interface Openings {
  /** Minus infinity when the process was too busy to know. */
  openedAtMs(): number;
  /** Call when answers go out. Only after an idle pause is a new connection certain to have opened after them. */
  noteAnswers(): void;
}

/**
 * With `sharesPort` another process may have refused the caller while its connection waited here. Then only this is
 * certain: the connection opened after the last answers of this process.
 */
export function createOpenings(clock: Clock, waitedMs: () => number, sharesPort = false): Openings {
  let waitedAtAnswersMs = Number.NEGATIVE_INFINITY;
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  return {
    openedAtMs() {
      const paused = waitedMs() - waitedAtAnswersMs >= pauseMs;
      if (!paused) return Number.NEGATIVE_INFINITY;
      return sharesPort ? answeredAtMs : clock.steadyMs();
    },
    noteAnswers() {
      waitedAtAnswersMs = waitedMs();
      if (sharesPort) answeredAtMs = clock.steadyMs();
    },
  };
}
