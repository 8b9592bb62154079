import { apiNames } from '../../http/route.ts';
import { type MessageStatus, type ReceiptOutcome, unsentStatuses } from '../../messages/message.ts';
import { reportChanges } from '../../messages/message-events.ts';
import { errorCodeOf, statusCode, statusCodes, statusOf } from '../../messages/message-row.ts';
import { insertEnds } from '../../messages/message-store.ts';
import { toTimestamp } from '../../platform/clock.ts';
import { attemptOutcomes } from '../attempts/attempt.ts';
import type { Receipt } from '../carrier/carrier.ts';

/** A receipt for a message of ours. */
export interface MatchedReceipt {
  receipt: Receipt;
  /** The message's uuid. */
  id: string;
  /** The carrier's id of the copy that the receipt is for. If the message has that id, in the message's spelling. */
  reportedId: string;
}

/** A text whose state a receipt has changed. */
export interface ChangedText {
  /** Uuids. */
  id: string;
  applicationId: string;
  sender: string;
  to: string;
  sentAtMs: number | null;
  was: MessageStatus;
  now: MessageStatus;
  /** The answer to its submit was not recorded. */
  wasUnsent: boolean;
  isCode: boolean;
  /** Its index in `channelNames`; absent for `sms`. */
  channel?: number | null;
  /** When it should be sent, if later than it was accepted. */
  dueAtMs: number | null;
  /** Its trace id and span id, if it is in a sampled trace. */
  trace?: string | null | undefined;
  /** The failure in the carrier's own words, or our code for it. */
  reported?: string | null | undefined;
}

export type ChangedRow = Pick<
  ChangedText,
  'id' | 'applicationId' | 'sender' | 'to' | 'sentAtMs' | 'isCode' | 'channel' | 'dueAtMs' | 'trace'
>;
export const countedColumns = (of = '') => `${of}sender, ${of}recipient as "to", ${of}sent_at as "sentAtMs",
      ${of}api = ${apiNames.indexOf('verify')} as "isCode", ${of}channel, greatest(${of}send_at, ${of}deferred_until) as "dueAtMs", ${of}trace`;
export const countedFields = (of = '') =>
  ['applicationId', 'sender', 'to', 'sentAtMs', 'isCode', 'channel', 'dueAtMs', 'trace']
    .map((field) => `${of}"${field}"`)
    .join(', ');

/** Columns that the statements below return for a changed text; statuses are numbers. */
export interface SettledRow extends Omit<ChangedRow, 'id'> {
  was: number;
  now: number | null;
}

export function changeOf(id: string, row: SettledRow, wasUnsent: boolean): ChangedText | undefined {
  const { was, now, ...text } = row;
  if (now === null) return undefined;
  return { id, ...text, was: statusOf(was), now: statusOf(now), wasUnsent };
}

const delivered = statusCode('delivered');
export const isUnsent = `in (${statusCodes(unsentStatuses)})`;

export function parameters(carrier: string, receipts: MatchedReceipt[], nowMs: number): unknown[] {
  return [
    carrier,
    toTimestamp(nowMs),
    receipts.map(({ id }) => id),
    receipts.map(({ receipt }) => statusCode(receipt.outcome satisfies ReceiptOutcome)),
    receipts.map(({ receipt }) => errorCodeOf(errorOf(receipt))),
    receipts.map(({ reportedId }) => reportedId),
    receipts.map(({ receipt }) => receipt.reported ?? null),
  ];
}

function errorOf({ outcome, error }: Receipt): Receipt['error'] {
  if (outcome === 'delivered') return null;
  if (outcome === 'unknown') return error;
  return error ?? (outcome === 'expired' ? 'expired' : 'unknown');
}

export const report = `report as (
    select * from unnest($3::uuid[], $4::smallint[], $5::smallint[], $6::text[], $7::text[])
      as r(id, outcome, error, reported_id, words))`;

export const settled = `status = outcome, updated_at = $2::timestamptz, error_code = error, sequence = sequence + 1,
    sent_at = coalesce(sent_at, $2::timestamptz), carrier_message_id = coalesce(carrier_message_id, reported_id),
    delivered_at = case when outcome = ${delivered} then $2::timestamptz end`;
export const isDelivered = (id: string) =>
  `exists (select from applied a where a.id = ${id} and a.status = ${delivered})`;
export const ended = `bad_end as (${insertEnds(`(select * from applied where status <> ${delivered}) e`)}),
    ${reportChanges('applied')}`;

export const wordColumns = 'words, m.attempt, m.carrier_message_id, m.carrier';
/** Keeps the carrier's own words of a failure; `applied` has `wordColumns`. A delivery has none. */
export const keptWords = `kept_words as (
      insert into text_attempt (message_id, attempt, carrier, submitted_at, outcome, carrier_message_id, receipt_reported)
      select id, attempt, carrier, "sentAtMs", ${attemptOutcomes.indexOf('accepted')}, carrier_message_id, words
      from applied where words is not null
      on conflict (message_id, attempt) do update set receipt_reported = excluded.receipt_reported)`;

/** The carrier of the receipt has or had the text. */
export const isOfCarrier = `(m.carrier = $1 or exists (select from text_attempt t where t.message_id = m.id and t.carrier = $1))`;
