import type {
  Carrier,
  OutgoingText,
  Receipt,
  ReceiveReceipts,
  SubmitResult,
} from '../../src/delivery/carrier/carrier.ts';
import type { NextCarrier } from '../../src/delivery/routing/next-carrier.ts';
import { everyRight } from '../../src/http/sending-rights.ts';
import { isMessage } from '../../src/messages/acceptance.ts';
import { type Message, unsentStatuses } from '../../src/messages/message.ts';
import { insertMessages } from '../../src/messages/message-insert-store.ts';
import { errorOf, statusCodes, statusOf } from '../../src/messages/message-row.ts';
import { createMessageService } from '../../src/messages/message-service.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { fromUuid, newId, uuidOf } from '../../src/platform/ids.ts';
import { routeTo } from './routes.ts';

/** A carrier that does as the test says, and records every submit. */
export interface RecordingCarrier extends Carrier {
  /** Every text that was ever handed to it, in order. */
  submits: OutgoingText[];
  /** The sizes of the submits. */
  batches: number[];
  /** Texts it holds without having answered. */
  outstanding(): number;
  /** The most texts it takes in one submit from now on. More than before 0 wakes the worker. */
  makeRoom(capacity: number): void;
  /** How it answers from now on. */
  answer: (texts: OutgoingText[]) => SubmitResult[] | Promise<SubmitResult[]>;
  report(receipts: (Partial<Receipt> & { outcome: Receipt['outcome'] })[]): Promise<void>;
}

export interface RecordingCarrierOptions {
  name?: string;
  capacity?: number;
  repeatsMessageId?: boolean;
  submitTimeoutMs?: number;
  onDoubt?: Carrier['onDoubt'];
}

export function createRecordingCarrier(options: RecordingCarrierOptions = {}): RecordingCarrier {
  const { name = 'test', submitTimeoutMs = 5000, repeatsMessageId = false, onDoubt } = options;
  let { capacity = 100 } = options;
  let onCapacity = () => {};
  let receive: ReceiveReceipts = () => Promise.resolve();
  let outstanding = 0;
  const carrier: RecordingCarrier = {
    key: name,
    account: name,
    submitTimeoutMs,
    repeatsMessageId,
    watchesItself: false,
    onDoubt,
    capacity: () => ({ first: capacity, bulk: capacity }),
    makeRoom(room) {
      const wasFull = capacity === 0;
      capacity = room;
      if (wasFull && room > 0) onCapacity();
    },
    submits: [],
    batches: [],
    outstanding: () => outstanding,
    answer: acceptAll,
    submit(texts, answer, progress) {
      for (const index of texts.keys()) progress?.(index, 'written');
      carrier.submits.push(...texts);
      carrier.batches.push(texts.length);
      outstanding += texts.length;
      const done = () => {
        outstanding -= texts.length;
      };
      // Not an async function: a carrier may throw before it returns a promise.
      const answering = carrier.answer(texts);
      const promise = answering instanceof Promise ? answering : Promise.resolve(answering);
      promise.then(done, done);
      return promise.then((answers) => {
        for (const [index, result] of answers.entries()) if (result !== undefined) answer(index, result);
      });
    },
    start(givenReceive, givenOnCapacity) {
      receive = givenReceive;
      onCapacity = givenOnCapacity;
    },
    stop: () => Promise.resolve(),
    report: (receipts) =>
      receive(
        receipts.map((receipt) => ({
          carrierMessageId: '',
          keys: receipt.carrierMessageId === undefined ? [] : [receipt.carrierMessageId],
          numbers: [],
          messageId: null,
          error: null,
          ...receipt,
        })),
      ),
  };
  return carrier;
}

export function acceptAll(texts: OutgoingText[]): SubmitResult[] {
  return texts.map(({ messageId, attempt }) => ({
    outcome: 'accepted',
    carrierMessageId: carrierIdOf(messageId, attempt),
  }));
}

export function carrierIdOf(messageId: string, attempt: number): string {
  return `${messageId}/${attempt}`;
}

export function never(): Promise<SubmitResult[]> {
  return new Promise(() => {});
}

export interface Accepting {
  database: Database;
  clock: Clock;
  carrier?: string;
}

/** The application and the verification that messages of `acceptMessages` belong to, unless a test says otherwise. */
export const testApplicationId = newId('app', systemClock);
export const testVerificationId = newId('ver', systemClock);

/** Puts messages where an accepted request would have put them. */
export async function acceptMessages(
  { database, clock, carrier = 'test' }: Accepting,
  count: number,
  changes: Partial<Message> = {},
): Promise<Message[]> {
  const service = createMessageService({ database, clock, routeText: routeTo(carrier), wake: () => {} });
  const request = {
    to: '+447700900123',
    from: 'ACME',
    message: 'Hello',
    channel: 'sms' as const,
    reference: null,
    validity_seconds: 86_400,
    send_at: null,
    smart_encoding: false,
    priority: changes.api === 'verify' ? ('high' as const) : ('normal' as const),
  };
  const about = { applicationId: testApplicationId, api: 'sms' as const, correlationId: newId('req', clock) };
  const prepared = Array.from({ length: count }, () => service.prepare(request, { ...about, rights: everyRight }));
  const messages = prepared.filter(isMessage).map((message) => ({ ...message, ...changes }));
  await insertMessages(database, messages);
  return messages;
}

/** A message and its entry in the queue, the schedule or the journal, as one row. */
export interface QueueRow {
  id: string;
  status: string;
  /** Where its entry is; null when it needs no further work. */
  location: 'queue' | 'schedule' | 'claim' | null;
  /** Submits so far. */
  attempt: number;
  /** A carrier may have it: it is claimed, or in doubt. */
  onTheWire: boolean;
  /** 0 when it is settled. */
  unanswered: number;
  possibleDuplicates: number;
  /** Only of an entry in the schedule. */
  dueAtMs: number | null;
  errorCode: string | null;
  carrierMessageId: string | null;
  sequence: number;
  updatedAtMs: number;
  sentAtMs: number | null;
  deliveredAtMs: number | null;
}

interface StoredRow extends Omit<QueueRow, 'status' | 'errorCode'> {
  status: number;
  errorCode: number | null;
  unsent: boolean;
}

/** Throws if a message is in two places. */
export async function readQueue(database: Database, ids?: string[]): Promise<QueueRow[]> {
  const { rows } = await database.query<StoredRow>(queueStatement, [ids?.map(uuidOf) ?? null]);
  if (new Set(rows.map(({ id }) => id)).size < rows.length) throw new Error('a message is in two places');
  return rows.map(({ unsent, ...row }) => ({
    ...row,
    id: fromUuid('msg', row.id),
    status: statusOf(row.status),
    errorCode: errorOf(row.errorCode),
    onTheWire: row.onTheWire && unsent,
    unanswered: unsent ? row.unanswered : 0,
  }));
}

const isUnsent = `m.status in (${statusCodes(unsentStatuses)})`;
/** A claimed text counts as submitted: its carrier may have it. A settled one has in `message` what happened to it. */
const queueStatement = `with entry as (
      select message_id, 'queue' as location, attempt, in_doubt, unanswered, possible_duplicates, null::timestamptz as due_at
      from delivery_queue
      union all
      select message_id, 'schedule', attempt, in_doubt, unanswered, possible_duplicates, due_at from delivery_schedule
      union all
      select message_id, 'claim', attempt + 1, true, unanswered, possible_duplicates + in_doubt::integer, null
      from (select unnest(message_ids) as message_id, unnest(attempts) as attempt, unnest(in_doubt) as in_doubt,
        unnest(unanswered) as unanswered, unnest(possible_duplicates) as possible_duplicates from delivery_claim) c)
    select m.id, m.status, e.location, ${isUnsent} as unsent, case when ${isUnsent} then coalesce(e.attempt, m.attempt) else m.attempt end as attempt,
      coalesce(e.in_doubt, false) as "onTheWire", coalesce(e.unanswered, 0) as unanswered,
      case when ${isUnsent} then coalesce(e.possible_duplicates, m.possible_duplicates)
        else m.possible_duplicates end as "possibleDuplicates",
      e.due_at as "dueAtMs", m.error_code as "errorCode", m.carrier_message_id as "carrierMessageId", m.sequence,
      m.updated_at as "updatedAtMs", m.sent_at as "sentAtMs", m.delivered_at as "deliveredAtMs"
    from message m left join entry e on e.message_id = m.id
    where $1::uuid[] is null or m.id = any($1) order by m.id`;

export async function readRow(database: Database, id: string): Promise<QueueRow> {
  const [row] = await readQueue(database, [id]);
  if (row === undefined) throw new Error(`there is no message ${id}`);
  return row;
}

/** Empties the tables of messages and of delivery. */
export async function emptyTables(database: Database): Promise<void> {
  await database.query(
    `truncate message, message_end, delivery_queue, delivery_schedule, delivery_claim, sent_text, text_part, text_attempt,
       unsettled_text, unmatched_receipt, message_sum, verification_sum, walk`,
  );
}

/** Another carrier for a text, as an empty route table gives it. */
export function nextCarrier(carrier: string): NextCarrier {
  return { carrier, rule: null, version: 0 };
}
