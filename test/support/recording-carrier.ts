import type { Carrier, OutgoingText, Receipt, ReceiveReceipts, SubmitResult } from '../../src/delivery/carrier.ts';
import type { Message } from '../../src/messages/message.ts';
import { createMessageService } from '../../src/messages/message-service.ts';
import { insertMessages } from '../../src/messages/message-store.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database.ts';
import { newId } from '../../src/platform/ids.ts';

/** A carrier that does as it is told, and writes down every submit. */
export interface RecordingCarrier extends Carrier {
  /** Every text that was ever handed to it, in order. */
  submits: OutgoingText[];
  /** The sizes of the submits. */
  batches: number[];
  /** Texts it holds without having answered. */
  outstanding(): number;
  /** How it answers from now on. */
  answer: (texts: OutgoingText[]) => SubmitResult[] | Promise<SubmitResult[]>;
  report(receipts: (Partial<Receipt> & { outcome: Receipt['outcome'] })[]): Promise<void>;
}

export interface RecordingCarrierOptions {
  name?: string;
  maxBatch?: number;
  submitTimeoutMs?: number;
}

export function createRecordingCarrier(options: RecordingCarrierOptions = {}): RecordingCarrier {
  const { name = 'test', maxBatch = 100, submitTimeoutMs = 5000 } = options;
  let receive: ReceiveReceipts = () => Promise.resolve();
  let outstanding = 0;
  const carrier: RecordingCarrier = {
    name,
    submitTimeoutMs,
    repeatsMessageId: false,
    capacity: () => maxBatch,
    submits: [],
    batches: [],
    outstanding: () => outstanding,
    answer: acceptAll,
    submit(texts) {
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
      return promise;
    },
    start(given) {
      receive = given;
    },
    stop: () => Promise.resolve(),
    report: (receipts) =>
      receive(receipts.map((receipt) => ({ carrierMessageId: '', messageId: null, error: null, ...receipt }))),
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

export const testApplication = newId('app', systemClock);

/** Puts messages where an accepted request would have put them. */
export async function acceptMessages(
  { database, clock, carrier = 'test' }: Accepting,
  count: number,
  changes: Partial<Message> = {},
): Promise<Message[]> {
  const service = createMessageService({ database, clock, carrierFor: () => carrier, wake: () => {} });
  const request = {
    to: '+447700900123',
    from: 'ACME',
    message: 'Hello',
    channel: 'sms',
    reference: null,
    validity_seconds: 86_400,
    send_at: null,
    smart_encoding: false,
  };
  const context = { applicationId: testApplication, api: 'sms' as const, correlationId: newId('req', clock) };
  const messages = Array.from({ length: count }, () => ({ ...service.prepare(request, context), ...changes }));
  await insertMessages(database, messages);
  return messages;
}

/** The row as delivery sees it. */
export interface QueueRow {
  id: string;
  status: string;
  attempt: number;
  onTheWire: boolean;
  unanswered: number;
  possibleDuplicates: number;
  dueAtMs: number | null;
  errorCode: string | null;
  carrierMessageId: string | null;
  sequence: number;
  updatedAtMs: number;
  sentAtMs: number | null;
  deliveredAtMs: number | null;
}

export async function readQueue(database: Database, ids?: string[]): Promise<QueueRow[]> {
  const { rows } = await database.query<QueueRow>(
    `select id, status, attempt, on_the_wire as "onTheWire", unanswered, possible_duplicates as "possibleDuplicates",
       due_at as "dueAtMs", error_code as "errorCode", carrier_message_id as "carrierMessageId", sequence,
       updated_at as "updatedAtMs", sent_at as "sentAtMs", delivered_at as "deliveredAtMs"
     from message where $1::text[] is null or id = any($1) order by id`,
    [ids ?? null],
  );
  return rows;
}

export async function readRow(database: Database, id: string): Promise<QueueRow> {
  const [row] = await readQueue(database, [id]);
  if (row === undefined) throw new Error(`there is no message ${id}`);
  return row;
}
