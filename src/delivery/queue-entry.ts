import type { MessageErrorCode, MessageStatus } from '../messages/message.ts';
import type { TextToSend } from '../messages/text-to-send.ts';
import type { LongText, PartState } from './carrier.ts';

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
  /** How often it went on to another carrier. */
  moves: number;
}

/** A batch that this worker has taken from the queue. It is on disk before the carrier gets a text. */
export interface Claim {
  id: number;
  texts: ClaimedText[];
  /** Whether anyone has opted out of anything: then each text is looked at once more. */
  optOuts: boolean;
}

export interface ClaimedText {
  message: TextToSend;
  entry: QueueEntry;
  /** Of a long text that was tried before. */
  parts: readonly PartState[];
  /** The form of those parts; null if there are none. */
  form: string | null;
}

/** A claimed text that needs no further work of a worker. */
export interface EndedText {
  /** As it is after the submit. */
  entry: QueueEntry;
  status: Extract<MessageStatus, 'sent' | 'failed' | 'expired' | 'unknown' | 'canceled'>;
  carrierMessageId: string | null;
  receiptKey: string | null;
  error: MessageErrorCode | null;
  long: LongText | undefined;
}

/** A claimed text to try again. */
export interface ScheduledText {
  entry: QueueEntry;
  /** The carrier whose queue it goes to. */
  carrier: string;
  dueAtMs: number;
  long: LongText | undefined;
}
