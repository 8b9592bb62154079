import type { BindState } from './bind-store.ts';
import type { Answer, Carrier, OutgoingText } from './carrier.ts';
import type { CarrierFacts } from './configured.ts';
import type { LogEntry } from './log-store.ts';
import type { ClaimedTest, TestStep } from './test-store.ts';

/** A carrier that an operator has configured, as a worker runs it. */
export interface RunningCarrier<Configured extends CarrierFacts = CarrierFacts> extends Carrier {
  /** A paused carrier sends nothing, and still takes receipts. */
  setPaused(paused: boolean): void;
  /** Applies settings that need no new connection (see `isOver` of setup). */
  update(configured: Configured): void;
  /** Connects now instead of at the next attempt. */
  tryNow(): void;
  /** The slots that this node holds. */
  binds(): BindState[];
  /** A hint for the operator, if receipts would match under other settings. */
  readonly hint: string | null;
  /** The keys that the text of a receipt with this id may be kept under. */
  receiptKeys(carrierMessageId: string): string[];
  /** The newest PDUs, oldest first. */
  readLog(): LogEntry[];
  /** Tries the carrier step by step, and sends one text. */
  runTest(test: ClaimedTest, onStep: (step: TestStep) => Promise<void>): Promise<void>;
}

/** Maximum time for the answers to texts under way when a carrier stops. */
export const drainMs = 3000;

/** The settings of either protocol for plain texts in doubt, with `byDefault` for those not set. */
export function doubtOf(
  settings: { on_doubt?: 'resend' | 'hold' | undefined; on_doubt_seconds?: number | undefined },
  byDefault: { resend: boolean; afterMs: number },
): { resend: boolean; afterMs: number } {
  const { on_doubt: onDoubt, on_doubt_seconds: seconds } = settings;
  return {
    resend: onDoubt === undefined ? byDefault.resend : onDoubt === 'resend',
    afterMs: seconds === undefined ? byDefault.afterMs : seconds * 1000,
  };
}

/** Calls `onAccepted` for each text that the carrier accepts. */
export function watchAccepted(
  texts: OutgoingText[],
  answer: Answer,
  onAccepted: ((text: OutgoingText) => void) | undefined,
): Answer {
  if (onAccepted === undefined) return answer;
  return (index, result) => {
    const text = texts[index];
    if (result.outcome === 'accepted' && text !== undefined) onAccepted(text);
    answer(index, result);
  };
}
