import type { Clock } from '../../platform/clock.ts';

/** Stops asking a service that does not answer; after a pause one question tries it again. */
export interface Breaker {
  /** False while it may not be asked. True for the one that tries it again. */
  mayAsk(): boolean;
  answered(): void;
  failed(): void;
  readonly isOpen: boolean;
}

const mostFailures = 5;
const pauseMs = 10_000;

export function createBreaker(clock: Pick<Clock, 'steadyMs'>): Breaker {
  let failures = 0;
  let openUntilMs = 0;
  return {
    get isOpen() {
      return failures >= mostFailures;
    },
    mayAsk() {
      if (failures < mostFailures) return true;
      const nowMs = clock.steadyMs();
      if (nowMs < openUntilMs) return false;
      // The others wait for what this question finds.
      openUntilMs = nowMs + pauseMs;
      return true;
    },
    answered() {
      failures = 0;
    },
    failed() {
      failures++;
      if (failures >= mostFailures) openUntilMs = clock.steadyMs() + pauseMs;
    },
  };
}
