import type { SubmitResult } from '../carrier/carrier.ts';
import type { ClaimedText, EndedText } from './queued-text.ts';

/** A submitted text and its carrier's answer, for counting. */
export interface AnsweredText {
  claimed: ClaimedText;
  /** Undefined if the carrier gave none. */
  answer: SubmitResult | undefined;
  /** Time from the write to the answer; undefined if the text was not written. */
  tookMs: number | undefined;
  /** Steady time of the answer; undefined for one that is late or says that the carrier throttles. */
  answeredAtMs?: number | undefined;
  /** The text was already counted as in doubt. */
  isLate: boolean;
}

export type NoteAnswers = (carrier: string, texts: readonly AnsweredText[]) => void;

/** A text that ended before any carrier had accepted it, for counting. */
export interface UnsentEnd {
  claimed: ClaimedText;
  status: 'failed' | 'expired';
}

export type NoteEnds = (carrier: string, ends: readonly UnsentEnd[]) => void;

/** The ends to count. Leaves out texts that another carrier had sent before: they count with that carrier. */
export function unsentEnds(texts: readonly ClaimedText[], ended: readonly EndedText[]): UnsentEnd[] {
  const ends = ended.filter(({ status, wasSent }) => (status === 'failed' || status === 'expired') && wasSent !== true);
  if (ends.length === 0) return [];
  const byId = new Map(texts.map((text) => [text.entry.messageId, text]));
  return ends.flatMap(({ entry, status }) => {
    const claimed = byId.get(entry.messageId);
    return claimed === undefined ? [] : [{ claimed, status: status === 'failed' ? status : 'expired' }];
  });
}
