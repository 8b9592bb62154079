// Tests: test/providers/faults.test.ts
import type { Clock } from '../../platform/clock.ts';
import { backOffMs } from '../carrier/back-off.ts';

/**
 * Whether a provider works, by its answers. `probing`: after failures one text at a time goes out, until the provider
 * answers one. `down`: nothing goes out before the next try.
 */
export interface CarrierCondition {
  readonly state: 'ready' | 'probing' | 'down';
  /** Why it does not work, as a sentence. */
  readonly error: string | null;
  /** On the steady clock; null while it works. */
  readonly nextTryMs: number | null;
  readonly sinceMs: number;
  /** The account is refused, until the provider answers again. */
  readonly isRefused: boolean;
  /** A connection attempt is due: it shows whether the provider can be reached, without risking a text. */
  readonly wantsConnection: boolean;
  /** The provider has answered, with any result. */
  noteAnswer(): void;
  /** A connection could not be made. */
  noteUnreachable(reason: string): void;
  /** A connection works again. */
  noteConnected(): void;
  /** A request got no answer. */
  noteDoubt(reason: string): void;
  /** The account is refused: an operator must act. */
  noteAccount(reason: string): void;
  /** Ends the wait for the next try. */
  tryNow(): void;
}

const reconnect = { fromMs: 1000, toMs: 30_000 };
/** An account that is refused is tried once a minute, like a bind with a wrong password. */
const accountMs = 60_000;
/** This many unanswered requests in a row stop the carrier: an outage must not put a whole queue in doubt. */
const mostDoubts = 10;
const doubtMs = 5000;

/** `onChange` is called when it starts or stops working. */
export function createCarrierCondition(clock: Clock, onChange: () => void = () => {}): CarrierCondition {
  let isWell = true;
  let error: string | null = null;
  let nextTryMs: number | null = null;
  let needsConnection = false;
  let failures = 0;
  let doubts = 0;
  let sinceMs = clock.nowMs();
  let isRefused = false;

  function fail(reason: string, waitMs: number): void {
    const wasWell = isWell;
    if (wasWell) sinceMs = clock.nowMs();
    isWell = false;
    error = reason;
    nextTryMs = clock.steadyMs() + waitMs;
    if (wasWell) onChange();
  }

  function isDue(): boolean {
    return nextTryMs === null || clock.steadyMs() >= nextTryMs;
  }

  return {
    get state() {
      if (isWell) return 'ready';
      return isDue() && !needsConnection ? 'probing' : 'down';
    },
    get error() {
      return error;
    },
    get nextTryMs() {
      return nextTryMs;
    },
    get sinceMs() {
      return sinceMs;
    },
    get isRefused() {
      return isRefused;
    },
    get wantsConnection() {
      return needsConnection && isDue();
    },
    noteAnswer() {
      const wasWell = isWell;
      if (!wasWell) sinceMs = clock.nowMs();
      isWell = true;
      isRefused = false;
      needsConnection = false;
      error = null;
      nextTryMs = null;
      failures = 0;
      doubts = 0;
      if (!wasWell) onChange();
    },
    noteUnreachable(reason) {
      // Requests that fail together are one event.
      if (needsConnection && !isDue()) return;
      needsConnection = true;
      fail(reason, backOffMs(++failures, reconnect));
    },
    noteConnected() {
      needsConnection = false;
      // The next text shows whether requests are answered too.
      nextTryMs = clock.steadyMs();
    },
    noteDoubt(reason) {
      doubts++;
      if (doubts >= mostDoubts || !isWell) fail(reason, doubtMs);
    },
    noteAccount(reason) {
      isRefused = true;
      fail(reason, accountMs);
    },
    tryNow() {
      failures = 0;
      if (nextTryMs !== null) nextTryMs = Math.min(nextTryMs, clock.steadyMs());
    },
  };
}
