import type { Api } from '../http/route.ts';
import type { Encoding } from './text.ts';

export type MessageStatus =
  | 'scheduled'
  | 'queued'
  | 'sent'
  | 'delivered'
  | 'undelivered'
  | 'failed'
  | 'expired'
  | 'canceled'
  | 'unknown';

export const messageStatuses: readonly MessageStatus[] = [
  'scheduled',
  'queued',
  'sent',
  'delivered',
  'undelivered',
  'failed',
  'expired',
  'canceled',
  'unknown',
];

export type MessageErrorCode =
  | 'invalid_destination'
  | 'unreachable'
  | 'blocked_by_carrier'
  | 'blocked_by_recipient'
  | 'content_rejected'
  | 'sender_rejected'
  | 'carrier_unavailable'
  | 'expired'
  | 'unknown';

const errors: Record<MessageErrorCode, { message: string; permanent: boolean }> = {
  invalid_destination: { message: 'The number does not exist.', permanent: true },
  unreachable: { message: 'The phone could not be reached.', permanent: false },
  blocked_by_carrier: { message: 'The carrier refused the text.', permanent: true },
  blocked_by_recipient: { message: 'The recipient does not want texts from this sender.', permanent: true },
  content_rejected: { message: 'The carrier refused the content of the text.', permanent: true },
  sender_rejected: { message: 'The carrier refused the sender.', permanent: true },
  carrier_unavailable: { message: 'The carrier could not be reached.', permanent: false },
  expired: { message: 'The text expired before it was delivered.', permanent: false },
  unknown: { message: 'The carrier gave no reason.', permanent: false },
};

export function messageError(code: MessageErrorCode | null) {
  return code === null ? null : { code, ...errors[code] };
}

/** What a carrier can report about a text it accepted. */
export type ReceiptOutcome = 'delivered' | 'undelivered' | 'expired' | 'failed' | 'unknown';

/**
 * Allowed transitions. States never go backwards, so late, repeated or out-of-order receipts change nothing. A receipt
 * may precede the carrier's answer and skip `sent`. A late receipt may still replace `unknown`, no other end state.
 */
const following: Record<MessageStatus, readonly MessageStatus[]> = {
  scheduled: ['queued', 'expired', 'canceled'],
  queued: ['sent', 'delivered', 'undelivered', 'failed', 'expired', 'canceled', 'unknown'],
  sent: ['delivered', 'undelivered', 'failed', 'expired', 'unknown'],
  unknown: ['delivered', 'undelivered', 'failed', 'expired'],
  delivered: [],
  undelivered: [],
  failed: [],
  expired: [],
  canceled: [],
};

export function mayBecome(from: MessageStatus, to: MessageStatus): boolean {
  return following[from].includes(to);
}

/** The states that may become `to`, for the `where` of the statement that sets it. */
export function statesBefore(to: MessageStatus): MessageStatus[] {
  return messageStatuses.filter((from) => mayBecome(from, to));
}

export interface Message {
  id: string;
  applicationId: string;
  api: Api;
  verificationId: string | null;
  channel: string;
  to: string;
  sender: string;
  /** Null for a verification's text, and after the retention time. */
  body: string | null;
  /** What the worker renders a verification's text from; never contains the code. */
  template: object | null;
  status: MessageStatus;
  encoding: Encoding;
  segmentCount: number;
  characters: number;
  remaining: number;
  reference: string | null;
  errorCode: MessageErrorCode | null;
  correlationId: string;
  createdAtMs: number;
  updatedAtMs: number;
  sentAtMs: number | null;
  deliveredAtMs: number | null;
  expiresAtMs: number;
  carrier: string;
  /** When the worker sends it next, or gives up on it. */
  dueAtMs: number;
}

/** The fields that the API returns. */
export type ShownMessage = Omit<
  Message,
  'applicationId' | 'api' | 'verificationId' | 'template' | 'correlationId' | 'carrier' | 'dueAtMs'
>;
