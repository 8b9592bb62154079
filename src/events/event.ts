import type { Api } from '../http/route.ts';
import type { Tx } from '../platform/database/database.ts';
import type { IdPrefix } from '../platform/ids.ts';

/** In the order of the numbers that the store writes for them: new ones go to the end. */
export const eventTypes = [
  'message.sent',
  'message.delivered',
  'message.undelivered',
  'message.failed',
  'message.expired',
  'message.canceled',
  'message.unknown',
  'message.received',
  'verification.approved',
  'verification.failed',
  'verification.expired',
  'verification.canceled',
  'verification.blocked',
  'recipient.opted_out',
  'recipient.opted_in',
  // Sent on demand to one webhook, and never stored. A webhook may name it among its types.
  'webhook.test',
] as const;

export type EventType = (typeof eventTypes)[number];

/** An event as the store has it. The rest of what is told is read from the record. */
export interface StoredEvent {
  position: number;
  applicationId: string;
  api: Api;
  type: EventType;
  /** The id of the record that changed. */
  subject: string;
  sequence: number;
  timeMs: number;
  errorCode: number | null;
  /** The record, where it may be gone by now. */
  data: object | null;
}

/** An event as the feed and webhooks tell it. */
export interface ToldEvent {
  id: string;
  type: EventType;
  time: string;
  sequence: number;
  subject: string;
  api: Api | null;
  application_id: string;
  reference: string | null;
  data: object;
}

/** Turns stored events into what the feed and webhooks tell, with one query for each kind of record. */
export type TellEvents = (tx: Tx, events: StoredEvent[]) => Promise<ToldEvent[]>;

export function typeCode(type: EventType): number {
  return eventTypes.indexOf(type);
}

/** The kind of record that an event of this type is about. */
export function subjectPrefix(type: EventType): IdPrefix {
  if (type === 'message.received') return 'inb';
  if (type.startsWith('message.')) return 'msg';
  return type.startsWith('verification.') ? 'ver' : 'opt';
}
