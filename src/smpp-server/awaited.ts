// Tests: test/smpp-server/receipts.test.ts
import type { Clock } from '../platform/clock.ts';
import { highestSequence } from '../smpp/pdu.ts';

/**
 * Called with the status of a deliver_sm_resp, or with how the delivery ended without one. After `unanswered` it may
 * be called once more, when the answer comes late.
 */
export type Settle = (answer: number | 'unanswered' | 'closed') => void;

interface Open {
  settle: Settle;
  sentMs: number;
}

/** deliver_sm that one peer may leave unanswered, for how long, and how many late ones are remembered. */
const window = 50;
const answerMs = 30_000;
const mostLate = 500;

/** The deliver_sm of one peer that it has not answered. */
export function createAwaited(clock: Clock) {
  const open = new Map<number, Open>();
  const late = new Map<number, Open>();
  let sequence = 0;

  function nextSequence(): number {
    do {
      sequence = sequence >= highestSequence ? 1 : sequence + 1;
    } while (open.has(sequence) || late.has(sequence));
    return sequence;
  }

  return {
    nextSequence,
    get open(): number {
      return open.size;
    },
    get room(): number {
      return Math.max(0, window - open.size);
    },
    add(settle: Settle): number {
      const given = nextSequence();
      open.set(given, { settle, sentMs: clock.steadyMs() });
      return given;
    },
    answer(answered: number, status: number): void {
      const of = open.has(answered) ? open : late;
      const found = of.get(answered);
      of.delete(answered);
      found?.settle(status);
    },
    expire(nowMs: number): void {
      if (open.size === 0 && late.size <= mostLate) return;
      for (const [given, each] of open) {
        if (nowMs - each.sentMs < answerMs) break;
        open.delete(given);
        late.set(given, each);
        each.settle('unanswered');
      }
      for (const oldest of late.keys()) {
        if (late.size <= mostLate) break;
        late.delete(oldest);
      }
    },
    close(): void {
      late.clear();
      for (const each of open.values()) each.settle('closed');
      open.clear();
    },
  };
}
