import type { Api } from '../http/route.ts';
import { hourMs } from '../platform/clock.ts';
import type { Channel } from './channel.ts';
import type { Encoding } from './text/text.ts';
import type { Routing } from './text/text-route.ts';

// The store writes the index of these names, so new ones go to the end.
export const encodingNames: readonly Encoding[] = ['GSM-7', 'UCS-2'];
/** In the order of sending. */
export const laneNames: readonly Lane[] = ['first', 'bulk'];

/** Texts of verifications and of high priority go first: a person waits for them. Bulk texts share what is left. */
export type Lane = 'first' | 'bulk';

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

/** The store writes the index, so new ones go to the end. */
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
  | 'unknown'
  | 'no_answer'
  | 'busy'
  | 'not_on_channel';

/** The store writes the index, so new ones go to the end. */
export const messageErrorCodes: readonly MessageErrorCode[] = [
  'invalid_destination',
  'unreachable',
  'blocked_by_carrier',
  'blocked_by_recipient',
  'content_rejected',
  'sender_rejected',
  'carrier_unavailable',
  'expired',
  'unknown',
  'no_answer',
  'busy',
  'not_on_channel',
];

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
  no_answer: { message: 'The person did not answer the call.', permanent: false },
  busy: { message: 'The phone was busy.', permanent: false },
  not_on_channel: { message: 'The number does not use this channel.', permanent: true },
};

export function messageError(code: MessageErrorCode | null) {
  return code === null ? null : { code, ...errors[code] };
}

/** What a carrier can report about a text it accepted. */
export type ReceiptOutcome = 'delivered' | 'undelivered' | 'expired' | 'failed' | 'unknown';

/**
 * Allowed transitions. States never go backwards, so late, repeated or out-of-order receipts change nothing. A receipt
 * may precede the carrier's answer and skip `sent`. A late receipt may still replace `unknown`; a late `delivered` also the
 * ends that carriers correct, for `correctedWithinMs`.
 */
const following: Record<MessageStatus, readonly MessageStatus[]> = {
  scheduled: ['queued', 'expired', 'canceled'],
  queued: ['sent', 'delivered', 'undelivered', 'failed', 'expired', 'canceled', 'unknown'],
  sent: ['delivered', 'undelivered', 'failed', 'expired', 'unknown'],
  unknown: ['delivered', 'undelivered', 'failed', 'expired'],
  delivered: [],
  undelivered: ['delivered'],
  failed: ['delivered'],
  expired: ['delivered'],
  canceled: [],
};

/** Ends that a late `delivered` may replace, for this time after the text was sent. */
export const correctedEnds: readonly MessageStatus[] = ['undelivered', 'failed', 'expired'];
export const correctedWithinMs = 72 * hourMs;

export function mayBecome(from: MessageStatus, to: MessageStatus): boolean {
  return following[from].includes(to);
}

/** A message that has not been sent, as far as we know. */
export const unsentStatuses: readonly MessageStatus[] = ['scheduled', 'queued'];
/** Lists by one of these read `message_end`. */
export const badEnds: readonly MessageStatus[] = ['undelivered', 'failed', 'expired', 'canceled', 'unknown'];

export interface Message {
  id: string;
  applicationId: string;
  api: Api;
  verificationId: string | null;
  channel: Channel;
  to: string;
  sender: string;
  /** The sender that its route substituted for the caller's. */
  sentAs: string | null;
  /** Null for a verification's text, and after the retention time. */
  body: string | null;
  /** The worker renders a verification's text from it; never contains the code. */
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
  /** How many times it was sent again although it may have arrived. */
  possibleDuplicates: number;
  expiresAtMs: number;
  carrier: string;
  lane: Lane;
  /** When the caller wanted it sent; null for at once. */
  sendAtMs: number | null;
  /** When the hours of its route begin, if they defer it; else null. */
  deferredUntilMs: number | null;
  /** How its carrier was chosen. Only read by `explain`. */
  routing?: Routing | undefined;
  /** Its trace id and span id, if it is in a sampled trace. Only read by the statements that continue the trace. */
  trace?: string | undefined;
  /** The address to call when its status changes. Only read by the statements that change it. */
  statusCallback?: string | undefined;
}

/** The fields that the API returns. */
export type ShownMessage = Omit<
  Message,
  | 'applicationId'
  | 'api'
  | 'verificationId'
  | 'template'
  | 'correlationId'
  | 'carrier'
  | 'lane'
  | 'sendAtMs'
  | 'sentAs'
  | 'deferredUntilMs'
  | 'routing'
  | 'statusCallback'
  | 'trace'
>;

/** The name of a carrier whose key is `<name>#<id>`. */
export function carrierNameOf(key: string): string {
  const end = key.indexOf('#');
  return end === -1 ? key : key.slice(0, end);
}
