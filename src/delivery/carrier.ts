import type { MessageErrorCode, ReceiptOutcome } from '../messages/message.ts';

/** A text on its way out, rendered at this moment. */
export interface OutgoingText {
  messageId: string;
  attempt: number;
  applicationId: string;
  to: string;
  from: string;
  text: string;
  expiresAtMs: number;
}

/** What a carrier says to a text: it has it, it may be tried again, or it never will be. */
export type SubmitResult =
  | { outcome: 'accepted'; carrierMessageId: string }
  | { outcome: 'retry'; error: MessageErrorCode; afterMs?: number }
  | { outcome: 'never'; error: MessageErrorCode };

/**
 * A way to phones. `submit` answers for each text in order. When it throws, or does not answer in time, nobody knows
 * what arrived: the texts are in doubt, and the message's own policy says what becomes of them.
 */
export interface Carrier {
  readonly name: string;
  readonly maxBatch: number;
  readonly submitTimeoutMs: number;
  submit(texts: OutgoingText[]): Promise<SubmitResult[]>;
  /** Starts to report what became of texts; receipts may come early, late, twice, out of order or for nobody. */
  start(receive: ReceiveReceipts): void;
  stop(): Promise<void>;
}

export interface Receipt {
  carrierMessageId: string;
  /** Our own id, where the carrier gives it back: it finds a message whose acceptance was never written down. */
  messageId: string | null;
  outcome: ReceiptOutcome;
  error: MessageErrorCode | null;
}

/** Resolves once the receipts are on disk: only then may a carrier be told that we have them. */
export type ReceiveReceipts = (receipts: Receipt[]) => Promise<void>;
