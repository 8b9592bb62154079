import type { Clock } from '../../platform/clock.ts';

/** Stops asking a service that does not answer. After a pause, one question tries the service again. */
export interface Breaker {
  /** False while the service must not be asked. True for the question that tries it again. */
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
      // Until this question is answered, the others are refused.
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
