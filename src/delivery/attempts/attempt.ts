// Tests: src/delivery/attempts/result.test.ts
import type { MessageErrorCode } from '../../messages/message.ts';
import type { AcceptedDetails, SubmitResult } from '../carrier/carrier.ts';
import { type CarrierId, readCarrierId } from '../carrier/id.ts';
import { readCarrierWords } from '../carrier/words.ts';
import type { NextCarrier } from '../routing/next-carrier.ts';

/**
 * `refused`: this carrier refuses the text for good. `unavailable`: the text was not submitted, or the carrier could not
 * take it at that time.
 */
export type AttemptOutcome = 'accepted' | 'refused' | 'unavailable' | 'throttled' | 'in_doubt';

/** Append only: the store writes an outcome as its index in this list. */
export const attemptOutcomes: readonly AttemptOutcome[] = [
  'accepted',
  'refused',
  'unavailable',
  'throttled',
  'in_doubt',
];

/** One submit of a text to one carrier, or its move off a carrier that did not work. */
export interface TextAttempt {
  /** A uuid. */
  messageId: string;
  attempt: number;
  carrier: string;
  submittedAtMs: number;
  outcome: AttemptOutcome;
  error: MessageErrorCode | null;
  carrierMessageId: CarrierId | null;
  told: AcceptedDetails;
  /** The error of the answer in the carrier's own words. */
  reported: string | null;
  /** The carrier that got the text next. */
  next?: NextCarrier | undefined;
}

/** A text in the queue, as it is after the submit. */
type Submitted = Pick<TextAttempt, 'messageId' | 'attempt'>;

/** Only the first attempts are kept, so that a text that is tried for days does not fill the table. */
const mostKept = 20;

/** The row for a submit; undefined if the message's own record shows all of it, or if the text did not leave. */
export function attemptOf(
  entry: Submitted,
  answer: SubmitResult | undefined,
  { carrier, submittedAtMs }: { carrier: string; submittedAtMs: number },
): TextAttempt | undefined {
  const about = { messageId: entry.messageId, attempt: entry.attempt, carrier, submittedAtMs };
  if (answer?.outcome === 'accepted') {
    const { details } = answer;
    const carrierMessageId = readCarrierId(answer.carrierMessageId);
    return details && { ...about, outcome: 'accepted', error: null, carrierMessageId, told: details, reported: null };
  }
  if (answer?.outcome === 'not_sent' || entry.attempt > mostKept) return undefined;
  const error = answer?.outcome === 'never' || answer?.outcome === 'retry' ? answer.error : null;
  const reported = readCarrierWords(answer?.reported);
  return { ...about, outcome: outcomeOf(answer), error, carrierMessageId: null, told: {}, reported };
}

/** The row for a text that moves to another carrier without a submit to this one. */
export function unavailableAttempt(entry: Submitted, carrier: string, nowMs: number): TextAttempt {
  const { messageId, attempt } = entry;
  const about = { messageId, attempt, carrier, submittedAtMs: nowMs };
  const nothing = { carrierMessageId: null, told: {}, reported: null };
  return { ...about, ...nothing, outcome: 'unavailable', error: 'carrier_unavailable' };
}

/** The outcome of a submit; a text without a usable answer is in doubt. */
export function outcomeOf(answer: SubmitResult | undefined): AttemptOutcome {
  switch (answer?.outcome) {
    case 'accepted':
      return 'accepted';
    case 'never':
      return 'refused';
    case 'throttled':
      return 'throttled';
    case 'retry':
      return answer.elsewhere && answer.error !== 'carrier_unavailable' ? 'refused' : 'unavailable';
    default:
      return 'in_doubt';
  }
}
