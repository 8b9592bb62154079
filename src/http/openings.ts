import type { Clock } from '../platform/clock.ts';

/** Connections opened together can arrive with shorter idle pauses between them. */
const pauseMs = 0.1;

/**
 * Estimates when a connection that Node accepts now was opened: the kernel opens it, and a busy process accepts it
 * later.
 */
export interface Openings {
  /** Minus infinity when the process was too busy to tell. */
  openedAtMs(): number;
  /** Call when answers go out. Only after an idle pause is a new connection certain to have opened after them. */
  noteAnswers(): void;
}

export function createOpenings(clock: Clock, waitedMs: () => number): Openings {
  let waitedAtAnswersMs = Number.NEGATIVE_INFINITY;
  return {
    openedAtMs() {
      const paused = waitedMs() - waitedAtAnswersMs >= pauseMs;
      return paused ? clock.steadyMs() : Number.NEGATIVE_INFINITY;
    },
    noteAnswers() {
      waitedAtAnswersMs = waitedMs();
    },
  };
}
