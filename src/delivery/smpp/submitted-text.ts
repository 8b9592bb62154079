import type { SubmitRefusal } from '../../smpp/submit-errors.ts';
import type { Answer, LongText, OutgoingText, PartState, Progress, SubmitResult } from '../carrier/carrier.ts';

/** A text at the carrier, and the state of each part. */
export interface SubmittedText {
  readonly text: OutgoingText;
  readonly total: number;
  /** The parts to send now: all but those that the carrier has. */
  readonly partsToSend: number[];
  /** True once a part was refused: the others need not be sent. */
  isRefused(): boolean;
  /** The network has the part. */
  noteWritten(part: number): void;
  /** The carrier has throttled the part, which waits to be sent again. */
  noteWaits(part: number, reported: string): void;
  noteAccepted(part: number, carrierMessageId: string, receiptKey: string): void;
  /** `silent`: the answer may still come. */
  noteInDoubt(part: number, silent: boolean): void;
  noteRefused(part: number, refusal: SubmitRefusal): void;
  /** The part will not be sent now: the connection is gone, or the text was refused, or waited for too long. */
  noteUnsent(part: number): void;
}

export interface SubmittedTextOptions {
  text: OutgoingText;
  index: number;
  total: number;
  /** How its parts are written. */
  form: string;
  /** How many receipts make the text delivered. */
  needed: number;
  answer: Answer;
  progress: Progress;
  onAnswered: () => void;
}

/**
 * Collects the answers to all parts of a text, and reports one result when no answer is open. After a result in doubt, a
 * late answer to a part gives another result.
 */
export function createSubmittedText(options: SubmittedTextOptions): SubmittedText {
  const { text, index, total, form, needed, answer, progress, onAnswered } = options;
  /** By part, from 1. */
  const states: (PartState | undefined)[] = [];
  for (const state of text.parts) states[state.part] = state;
  const partsToSend: number[] = [];
  const isOpen: boolean[] = [];
  for (let part = 1; part <= total; part++) {
    isOpen[part] = states[part]?.state !== 'accepted';
    if (isOpen[part]) partsToSend.push(part);
  }
  let open = partsToSend.length;
  /** Written, and not answered. */
  const isOut: boolean[] = [];
  let out = 0;
  let refusal: SubmitRefusal | undefined;
  let isAnswered = false;
  /** A part was sent in this submit, with any result. Doubt from an earlier submit does not count. */
  let hasLeft = false;
  const isInDoubtNow: boolean[] = [];
  /** The answers to all parts in doubt may still come. */
  let isSilent = true;

  function result(): SubmitResult {
    const [, first] = states;
    // Nearly every text has one part.
    if (total === 1 && first?.state === 'accepted') return accepted(first);
    const parts = states.filter((state) => state !== undefined);
    const long: { long?: LongText } = total > 1 ? { long: { total, form, needed, parts } } : {};
    if (parts.length === total && parts.every(({ state }) => state === 'accepted')) {
      return { ...accepted(first), ...long };
    }
    if (refusal?.outcome === 'never') return { ...refusal, ...long };
    if (parts.some(({ part }) => isInDoubtNow[part])) return { outcome: 'in_doubt', silent: isSilent, ...long };
    if (refusal !== undefined) return { ...refusal, ...long };
    return { outcome: 'not_sent', ...(hasLeft && long) };
  }

  /** Notes that a part is no longer at the carrier. If no part is, but others are open, the text waits here. */
  function comeBack(part: number, others: number): void {
    if (!isOut[part]) return;
    isOut[part] = false;
    if (--out === 0 && others > 0) progress(index, 'waits');
  }

  function settle(part: number, state: PartState | undefined): void {
    hasLeft = true;
    states[part] = state;
    isInDoubtNow[part] = state?.state === 'in_doubt';
    close(part);
  }

  function close(part: number): void {
    comeBack(part, open - 1);
    if (isOpen[part]) open--;
    isOpen[part] = false;
    if (open === 0) reportResult();
  }

  function reportResult(): void {
    const isFirst = !isAnswered;
    isAnswered = true;
    answer(index, result());
    if (isFirst) onAnswered();
  }

  // There may be nothing to send: a late answer may have shown that the carrier has every part.
  if (open === 0) reportResult();

  return {
    text,
    total,
    partsToSend,
    isRefused() {
      return refusal !== undefined && refusal.outcome !== 'throttled';
    },
    noteWritten(part) {
      if (!isOut[part]) out++;
      isOut[part] = true;
      progress(index, 'written');
    },
    noteWaits(part, reported) {
      progress(index, 'throttled', reported);
      comeBack(part, open);
    },
    noteAccepted(part, carrierMessageId, receiptKey) {
      settle(part, { part, state: 'accepted', carrierMessageId, receiptKey });
    },
    noteInDoubt(part, silent) {
      isSilent &&= silent;
      settle(part, { part, state: 'in_doubt', carrierMessageId: null, receiptKey: null });
    },
    noteRefused(part, given) {
      // The worst answer decides: a text with a part that never gets through must not be tried again.
      if (refusal === undefined || given.outcome === 'never' || refusal.outcome === 'throttled') refusal = given;
      settle(part, undefined);
    },
    noteUnsent: close,
  };
}

/** The ids of the first part stand for the whole text. */
function accepted(first: PartState | undefined) {
  const carrierMessageId = first?.carrierMessageId ?? '';
  return { outcome: 'accepted', carrierMessageId, receiptKey: first?.receiptKey ?? carrierMessageId } as const;
}
