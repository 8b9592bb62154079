import type { Api } from '../http/route.ts';
import type { Tx } from '../platform/database/database.ts';
import type { IdPrefix } from '../platform/ids.ts';

/** The order is stored as numbers: append new types. */
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
  // Sent on demand to one webhook, and never stored. A webhook may subscribe to it.
  'webhook.test',
] as const;

export type EventType = (typeof eventTypes)[number];

/** An event as stored. The other fields come from its record. */
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
  /** A copy of the record, where the record may have been deleted. */
  data: object | null;
}

/** An event as the feed and webhooks emit it. */
export interface EmittedEvent {
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

/** Adds their records to stored events, with one query for each kind of record. */
export type AssembleEvents = (tx: Tx, events: StoredEvent[]) => Promise<EmittedEvent[]>;

export function typeCode(type: EventType): number {
  return eventTypes.indexOf(type);
}

/** The kind of record that an event of this type is about. */
export function subjectPrefix(type: EventType): IdPrefix {
  if (type === 'message.received') return 'inb';
  if (type.startsWith('message.')) return 'msg';
  return type.startsWith('verification.') ? 'ver' : 'opt';
}
