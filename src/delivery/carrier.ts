import type { MessageErrorCode, ReceiptOutcome } from '../messages/message.ts';

/** A text rendered for sending. */
export interface OutgoingText {
  messageId: string;
  attempt: number;
  applicationId: string;
  to: string;
  from: string;
  text: string;
  expiresAtMs: number;
}

/** A carrier's answer to a text: accepted, try again later, or never. */
export type SubmitResult =
  | { outcome: 'accepted'; carrierMessageId: string }
  | { outcome: 'retry'; error: MessageErrorCode; afterMs?: number }
  | { outcome: 'never'; error: MessageErrorCode };

/**
 * Sends texts to phones. `submit` answers each text, in order. If it throws or times out, we do not know what arrived:
 * the texts are in doubt, and the next claim decides whether to send them again.
 */
export interface Carrier {
  readonly name: string;
  readonly maxBatch: number;
  readonly submitTimeoutMs: number;
  submit(texts: OutgoingText[]): Promise<SubmitResult[]>;
  /** Starts reporting receipts. They may come early, late, twice, out of order, or for unknown messages. */
  start(receive: ReceiveReceipts): void;
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
