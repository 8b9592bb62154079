import type { Clock } from '../platform/clock.ts';

/** Shorter pauses occur between connections that were opened together. */
const pauseMs = 0.1;

/** Tells when a connection that is accepted now was opened. The kernel opens connections; we accept them when we come to it. */
export interface Openings {
  /** A busy process accepts late. Then it cannot tell, and the answer is "long ago". */
  openedAtMs(): number;
  /** Answers went out: of what is accepted now, only what was opened after a pause was certainly opened after them. */
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
