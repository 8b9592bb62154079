import type { MessageErrorCode, ReceiptOutcome } from '../messages/message.ts';

/** A text rendered for sending. */
export interface OutgoingText {
  messageId: string;
  attempt: number;
  applicationId: string;
  /** Verifications go first; bulk texts share what is left. */
  lane: 'verification' | 'bulk';
  to: string;
  from: string;
  text: string;
  expiresAtMs: number;
}

/**
 * A carrier's answer to a text: accepted, try again later, never, or no usable answer. `throttled` means that the carrier
 * works and wants fewer texts: the pauses do not grow.
 */
export type SubmitResult =
  | { outcome: 'accepted'; carrierMessageId: string }
  | { outcome: 'retry'; error: MessageErrorCode; afterMs?: number }
  | { outcome: 'throttled'; afterMs?: number }
  | { outcome: 'never'; error: MessageErrorCode }
  | { outcome: 'in_doubt' };

/**
 * Sends texts to phones. `submit` answers each text, in order. If it throws or times out, we do not know what arrived:
 * all its texts are in doubt, and the next claim decides whether to send them again.
 */
export interface Carrier {
  readonly name: string;
  readonly submitTimeoutMs: number;
  /** True if receipts repeat our message id, so that the carrier's own id need not be kept. */
  readonly repeatsMessageId: boolean;
  /** How many texts it takes now. A worker claims no more, since a claimed text waits for nothing else. */
  capacity(): number;
  submit(texts: OutgoingText[]): Promise<SubmitResult[]>;
  /**
   * Starts reporting receipts. They may come early, late, twice, out of order, or for unknown messages. The carrier calls
   * `onCapacity` when it takes texts again after `capacity()` was 0.
   */
  start(receive: ReceiveReceipts, onCapacity: () => void): void;
  stop(): Promise<void>;
}

export interface Receipt {
  carrierMessageId: string;
  /** Our id, if the carrier returns it: it finds a message whose acceptance was never recorded. */
  messageId: string | null;
  outcome: ReceiptOutcome;
  error: MessageErrorCode | null;
}

/** Resolves once the receipts are on disk; only then may the carrier be told that we have them. */
export type ReceiveReceipts = (receipts: Receipt[]) => Promise<void>;
