import { type MessageErrorCode, type MessageStatus, unsentStatuses } from '../../messages/message.ts';
import type { TextToSend } from '../../messages/text/text-to-send.ts';
import type { SpanIds } from '../../platform/tracing/trace-context.ts';
import type { LongText, PartState } from '../carrier/carrier.ts';
import type { CarrierId } from '../carrier/id.ts';
import type { TextAttempt } from './attempt.ts';

/** An entry of the queue: a text to send, and what happened to it before. */
export interface QueueEntry {
  lane: number;
  /** Uuids, as the queue has them. */
  applicationId: string;
  messageId: string;
  /** Submits so far. */
  attempt: number;
  unanswered: number;
  possibleDuplicates: number;
  inDoubt: boolean;
  /** Number of moves to another carrier. */
  moves: number;
}

/** A claim's row, as its worker last wrote it. A statement with another revision changes nothing. */
export interface OpenClaim {
  id: number;
  revision: number;
}

/** A batch that this worker has taken from the queue. It is on disk before the carrier gets a text. */
export interface Claim extends OpenClaim {
  /** This time decides which texts have expired. The claim's row keeps it, so that a later release decides the same. */
  claimedAtMs: number;
  texts: ClaimedText[];
  /** Whether any opt-out exists. Only then is each text checked for opt-outs. */
  optOuts: boolean;
}

export interface ClaimedText {
  message: TextToSend;
  entry: QueueEntry;
  /** The parts of a long text that was tried before. */
  parts: readonly PartState[];
  /** The form of those parts; null if there are none. */
  form: string | null;
  /** The span of its submit, if its trace is sampled. */
  submitSpan?: SpanIds | undefined;
}

/** A `sent` text is queued again only if its carrier reported that it did not arrive, so that another carrier sends it. */
export function isUnsettled({ message: { status } }: ClaimedText): boolean {
  return status === 'sent' || unsentStatuses.includes(status);
}

/** A claimed text that workers are done with. */
export interface EndedText {
  /** The entry as it is after the submit. */
  entry: QueueEntry;
  status: Extract<MessageStatus, 'sent' | 'failed' | 'expired' | 'unknown' | 'canceled'>;
  carrierMessageId: CarrierId | null;
  receiptKey: CarrierId | null;
  error: MessageErrorCode | null;
  long: LongText<CarrierId> | undefined;
  /** The submit that ended the text, unless the message's own record shows all of it. */
  attempt?: TextAttempt | undefined;
  /** True for a text that another carrier has sent before, and that did not arrive: it is shown as sent already. */
  wasSent?: boolean;
  /** Copied from `TextToSend`. */
  isReported?: boolean | undefined;
}

/** A claimed text to try again. */
export interface ScheduledText {
  entry: QueueEntry;
  /** The carrier whose queue it goes to. */
  carrier: string;
  dueAtMs: number;
  long: LongText<CarrierId> | undefined;
  /** The submit that did not succeed; undefined if there was none. */
  attempt?: TextAttempt | undefined;
  /** The text moves to another carrier, at once and with all its parts. */
  isMoved?: boolean;
  /** The number of the answered submit, if `entry` was reset to its state before that submit. */
  submit?: number;
}
