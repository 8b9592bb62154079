import type { Message, MessageErrorCode, MessageStatus } from '../messages/message.ts';

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
}

/** A batch that this worker has taken from the queue. It is on disk before the carrier gets a text. */
export interface Claim {
  id: number;
  texts: ClaimedText[];
}

export interface ClaimedText {
  message: Message;
  entry: QueueEntry;
}

/** A claimed text that needs no further work of a worker. */
export interface EndedText {
  /** As it is after the submit. */
  entry: QueueEntry;
  status: Extract<MessageStatus, 'sent' | 'failed' | 'expired' | 'unknown'>;
  carrierMessageId: string | null;
  error: MessageErrorCode | null;
}

/** A claimed text to try again. */
export interface ScheduledText {
  entry: QueueEntry;
  dueAtMs: number;
}
