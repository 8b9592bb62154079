import type { AttemptOutcome } from '../../../src/delivery/attempts/attempt.ts';
import type { QueueEntry } from '../../../src/delivery/attempts/queued-text.ts';
import type { PartState, Receipt } from '../../../src/delivery/carrier/carrier.ts';
import { type MessageStatus, unsentStatuses } from '../../../src/messages/message.ts';
import { type CarrierName, nameOf, type TextName } from './texts.ts';

/** What Postgres has: the columns that delivery decides by. A statement makes new tables, and changes none. */
export interface Tables {
  readonly messages: readonly MessageRow[];
  readonly queue: readonly QueueRow[];
  readonly schedule: readonly ScheduleRow[];
  readonly claims: readonly ClaimRow[];
  readonly parts: readonly PartRow[];
  readonly attempts: readonly AttemptRow[];
  /** The keys of `sent_text`: what receipts may call a text. */
  readonly sentTexts: readonly string[];
  readonly unmatched: readonly ReportedReceipt[];
  readonly paused: readonly CarrierName[];
  /** The verification of the code still needs it. */
  readonly pending: boolean;
}

export interface MessageRow {
  readonly name: TextName;
  readonly status: MessageStatus;
  readonly attempt: number;
  readonly possibleDuplicates: number;
  readonly carrier: CarrierName;
  readonly carrierMessageId: string | null;
  /** `sent_at` is not null. */
  readonly hasLeft: boolean;
}

export interface QueueRow {
  readonly carrier: CarrierName;
  readonly entry: QueueEntry;
}

export interface ScheduleRow extends QueueRow {
  readonly dueAtMs: number;
}

export interface ClaimRow {
  /** Stands for the token, too: both are new for every claim. */
  readonly id: number;
  readonly carrier: CarrierName;
  /** By the worker's clock. */
  readonly claimedAtMs: number;
  /** By the database's clock. */
  readonly leasedUntilMs: number;
  readonly revision: number;
  readonly entries: readonly QueueEntry[];
}

export interface PartRow extends PartState {
  readonly name: TextName;
  readonly needed: number;
  readonly outcome: Receipt['outcome'] | null;
}

export interface AttemptRow {
  readonly name: TextName;
  readonly attempt: number;
  readonly carrier: CarrierName;
  readonly outcome: AttemptOutcome;
  readonly receipt: Receipt['outcome'] | null;
}

/** What a carrier reports of a submit. */
export interface ReportedReceipt {
  readonly carrierMessageId: string;
  readonly outcome: 'delivered' | 'undelivered';
  /** The carrier repeats our id. */
  readonly isNamed: boolean;
}

export function messageIn({ messages }: Tables, name: TextName): MessageRow | undefined {
  return messages.find((row) => row.name === name);
}

export const isUnsent = (status: MessageStatus) => unsentStatuses.includes(status);
export const isUnsettled = (status: MessageStatus) => status === 'sent' || isUnsent(status);

/** Updates the record of a text, if there is one. */
export function withMessage(tables: Tables, name: TextName, changes: Partial<MessageRow>): Tables {
  const messages = tables.messages.map((row) => (row.name === name ? { ...row, ...changes } : row));
  return { ...tables, messages };
}

/** Inserts into `delivery_queue`, on conflict do nothing. */
export function withQueued(tables: Tables, row: QueueRow): Tables {
  const isThere = tables.queue.some(
    ({ carrier, entry }) => carrier === row.carrier && entry.messageId === row.entry.messageId,
  );
  return isThere ? tables : { ...tables, queue: [...tables.queue, row].sort(byName) };
}

/** Inserts into `delivery_schedule`, on conflict do nothing: there a text has one row, whatever its carrier is. */
export function withScheduled(tables: Tables, row: ScheduleRow): Tables {
  const isThere = tables.schedule.some(({ entry }) => entry.messageId === row.entry.messageId);
  return isThere ? tables : { ...tables, schedule: [...tables.schedule, row].sort(byName) };
}

const byName = (one: QueueRow, other: QueueRow) => (placeOf(one) < placeOf(other) ? -1 : 1);
const placeOf = ({ carrier, entry }: QueueRow) => entry.messageId + carrier;

/** Keeps an attempt; a later word on the same one replaces the outcome. */
export function withAttempt(tables: Tables, row: Omit<AttemptRow, 'receipt'>): Tables {
  const isSame = (each: AttemptRow) => each.name === row.name && each.attempt === row.attempt;
  const before = tables.attempts.find(isSame);
  const kept = before === undefined ? { ...row, receipt: null } : { ...before, outcome: row.outcome };
  const attempts = [...tables.attempts.filter((each) => !isSame(each)), kept].sort(byAttempt);
  return { ...tables, attempts };
}

const byAttempt = (one: AttemptRow, other: AttemptRow) =>
  one.name === other.name ? one.attempt - other.attempt : one.name < other.name ? -1 : 1;

export function withSentText(tables: Tables, key: string): Tables {
  return tables.sentTexts.includes(key) ? tables : { ...tables, sentTexts: [...tables.sentTexts, key].sort() };
}

/** Every entry of a text that waits or is claimed. */
export function entriesOf(tables: Tables, name: TextName): QueueEntry[] {
  const entries = [...tables.queue, ...tables.schedule].map(({ entry }) => entry);
  return [...entries, ...tables.claims.flatMap(({ entries: claimed }) => claimed)].filter(
    (entry) => nameOf(entry) === name,
  );
}
