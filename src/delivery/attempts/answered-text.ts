import type { SubmitResult } from '../carrier/carrier.ts';
import type { ClaimedText } from './queued-text.ts';

/** A submitted text and its carrier's answer, for counting. */
export interface AnsweredText {
  claimed: ClaimedText;
  /** Undefined if the carrier gave none. */
  answer: SubmitResult | undefined;
  /** From the write to the answer; undefined if it was not written. */
  tookMs: number | undefined;
  /** The text was already counted as in doubt. */
  isLate: boolean;
}

export type NoteAnswers = (carrier: string, texts: readonly AnsweredText[]) => void;
