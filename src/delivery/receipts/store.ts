import { apiNames } from '../../http/route.ts';
import {
  correctedEnds,
  correctedWithinMs,
  type MessageStatus,
  type ReceiptOutcome,
  unsentStatuses,
} from '../../messages/message.ts';
import { changedColumns, reportChanges, reportStatus } from '../../messages/message-events.ts';
import { errorCodeOf, statusCode, statusCodes, statusOf, toUuidRange } from '../../messages/message-row.ts';
import { insertEnds, isInRange } from '../../messages/message-store.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { attemptOutcomes } from '../attempts/attempt.ts';
import type { Carrier, Receipt } from '../carrier/carrier.ts';

/** A receipt for a message of ours. */
export interface MatchedReceipt {
  receipt: Receipt;
  /** The message's uuid. */
  id: string;
  /** The carrier's id of the copy that the receipt is for. If the message has that id, in the message's spelling. */
  reportedId: string;
}

const [sent, delivered, unknown] = [statusCode('sent'), statusCode('delivered'), statusCode('unknown')];
/** Ends that a late `delivered` may replace: carriers correct themselves. */
const corrected = statusCodes(correctedEnds);
const isUnsent = `in (${statusCodes(unsentStatuses)})`;

const reached = (['accepted', 'in_doubt'] as const).map((outcome) => attemptOutcomes.indexOf(outcome)).join(', ');

/** The state of a message that a receipt is for. */
export interface KnownMessage {
  id: string;
  unsent: boolean;
  /** This receipt made it delivered. */
  delivered: boolean;
  /** The change by the receipt, for counting. */
  changed: ChangedText | undefined;
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

type ChangedRow = Pick<
  ChangedText,
  'id' | 'applicationId' | 'sender' | 'to' | 'sentAtMs' | 'isCode' | 'channel' | 'dueAtMs' | 'trace'
>;
const countedColumns = (of = '') => `${of}sender, ${of}recipient as "to", ${of}sent_at as "sentAtMs",
      ${of}api = ${apiNames.indexOf('verify')} as "isCode", ${of}channel, greatest(${of}send_at, ${of}deferred_until) as "dueAtMs", ${of}trace`;
const countedFields = (of = '') =>
  ['applicationId', 'sender', 'to', 'sentAtMs', 'isCode', 'channel', 'dueAtMs', 'trace']
    .map((field) => `${of}"${field}"`)
    .join(', ');

/** Columns that the statements below return for a changed text; statuses are numbers. */
interface SettledRow extends Omit<ChangedRow, 'id'> {
  was: number;
  now: number | null;
}

function changeOf(id: string, row: SettledRow, wasUnsent: boolean): ChangedText | undefined {
  const { was, now, ...text } = row;
  if (now === null) return undefined;
  return { id, ...text, was: statusOf(was), now: statusOf(now), wasUnsent };
}

/**
 * Applies receipts to texts that were sent, and returns the state of each message. Most receipts report the same, and
 * one update without a join applies them; a second statement handles the others.
 */
export async function applyToSent(
  tx: Tx,
  carrier: string,
  receipts: MatchedReceipt[],
  nowMs: number,
): Promise<Map<string, KnownMessage>> {
  const known = new Map<string, KnownMessage>();
  const delivered = receipts.filter(({ receipt }) => receipt.outcome === 'delivered');
  if (delivered.length > 0) {
    const values = [carrier, toTimestamp(nowMs), ...toUuidRange(delivered.map(({ id }) => id))];
    const { rows } = await tx.query<ChangedRow & { isReported: boolean }>(deliveredStatement, values);
    const reported = rows.filter(({ isReported }) => isReported).map(({ id }) => id);
    if (reported.length > 0) await tx.query(reportStatement, toUuidRange(reported));
    for (const { isReported: _, ...row } of rows) {
      const changed = { ...row, was: 'sent', now: 'delivered', wasUnsent: false } as const;
      known.set(row.id, { id: row.id, unsent: false, delivered: true, changed });
    }
  }
  const others = receipts.filter(({ id }) => !known.has(id));
  if (others.length > 0) {
    const { rows } = await tx.query<Omit<KnownMessage, 'changed'> & SettledRow>(
      sentStatement,
      parameters(carrier, others, nowMs),
    );
    for (const { id, unsent, delivered, ...row } of rows)
      known.set(id, { id, unsent, delivered, changed: changeOf(id, row, false) });
  }
  return known;
}

/**
 * Applies receipts that came before the answer to the submit was written, or instead of it. Returns the texts that wait
 * in the queue or the schedule, or are claimed, and what changed.
 */
export async function applyToUnsent(
  tx: Tx,
  { key, account }: Pick<Carrier, 'key' | 'account'>,
  receipts: MatchedReceipt[],
  nowMs: number,
): Promise<Map<string, Omit<KnownMessage, 'unsent'>>> {
  const values = [...parameters(key, receipts, nowMs), account];
  const { rows } = await tx.query<{ id: string; delivered: boolean } & SettledRow>(unsentStatement, values);
  return new Map(rows.map(({ id, delivered, ...row }) => [id, { id, delivered, changed: changeOf(id, row, true) }]));
}

function parameters(carrier: string, receipts: MatchedReceipt[], nowMs: number): unknown[] {
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

/** The usual case: a sent text was delivered. Few texts have a status callback, so another statement writes those. */
const deliveredStatement = `with applied as (
      update message set status = ${delivered}, updated_at = $2, delivered_at = $2, error_code = null, sequence = sequence + 1
      where ${isInRange(3)} and carrier = $1 and status = ${sent}
      returning ${changedColumns()}, ${countedColumns()}),
    ${reportChanges('applied', '', false)}
    select id, ${countedFields()}, status_callback is not null as "isReported" from applied`;

const reportStatement = `with changed as (select ${changedColumns()} from message where ${isInRange(1)}),
    ${reportStatus('changed')} select`;

const report = `report as (
    select * from unnest($3::uuid[], $4::smallint[], $5::smallint[], $6::text[], $7::text[])
      as r(id, outcome, error, reported_id, words))`;

const settled = `status = outcome, updated_at = $2::timestamptz, error_code = error, sequence = sequence + 1,
    sent_at = coalesce(sent_at, $2::timestamptz), carrier_message_id = coalesce(carrier_message_id, reported_id),
    delivered_at = case when outcome = ${delivered} then $2::timestamptz end`;
const isDelivered = (id: string) => `exists (select from applied a where a.id = ${id} and a.status = ${delivered})`;
const ended = `bad_end as (${insertEnds(`(select * from applied where status <> ${delivered}) e`)}),
    ${reportChanges('applied')}`;

const wordColumns = 'words, m.attempt, m.carrier_message_id, m.carrier';
/** Keeps the carrier's own words of a failure; `applied` has `wordColumns`. A delivery has none. */
const keptWords = `kept_words as (
      insert into text_attempt (message_id, attempt, carrier, submitted_at, outcome, carrier_message_id, receipt_reported)
      select id, attempt, carrier, "sentAtMs", ${attemptOutcomes.indexOf('accepted')}, carrier_message_id, words
      from applied where words is not null
      on conflict (message_id, attempt) do update set receipt_reported = excluded.receipt_reported)`;

/** The carrier of the receipt has or had the text. */
const isOfCarrier = `(m.carrier = $1 or exists (select from text_attempt t where t.message_id = m.id and t.carrier = $1))`;

/** It has been sent, as far as we know, and not too long ago. */
const mayArrive = `coalesce(m.sent_at, m.updated_at) > $2::timestamptz - interval '${correctedWithinMs} milliseconds'
          and (m.sent_at is not null or m.possible_duplicates > 0 or exists (
            select from text_attempt t where t.message_id = m.id and t.outcome in (${reached})))`;

/**
 * States never go backwards, but any `delivered` wins, even over a bad end for a while. Other reports count only from
 * the carrier that has the text now, and if the text may have been sent twice, only for the copy whose carrier id we
 * know. A late receipt may still replace `unknown`. A replaced end leaves the list of bad ends.
 */
const sentStatement = `with ${report},
    known as (
      select m.id as known_id, m.status as was, m.carrier = $1 as is_current, r.* from report r join message m on m.id = r.id
      where ${isOfCarrier} and m.id = any($3::uuid[])),
    applied as (
      update message m set ${settled}
      from known where m.id = known_id and m.id = any($3::uuid[]) and case
        when outcome = ${delivered} then m.status in (${sent}, ${unknown}) or m.status in (${corrected}) and ${mayArrive}
        when not is_current then false
        when m.status = ${unknown} then outcome <> ${unknown}
        else m.status = ${sent} and (m.possible_duplicates = 0 or m.carrier_message_id = reported_id) end
      returning ${changedColumns('m.')}, ${countedColumns('m.')}, was, ${wordColumns}),
    ${ended},
    ${keptWords},
    replaced_end as (
      delete from message_end e using applied a where a.was in (${unknown}, ${corrected})
        and e.application_id = a."applicationId" and e.api = a.api and e.status = a.was and e.message_id = a.id),
    earlier_attempt as (
      update text_attempt t set receipt = known.outcome, receipt_reported = coalesce(known.words, t.receipt_reported) from known
      where not is_current and t.message_id = known_id and t.carrier = $1
        and (t.receipt is null or known.outcome = ${delivered}))
    select known_id as id, known.was ${isUnsent} as unsent, ${isDelivered('known_id')} as delivered, known.was,
      a.status as now, ${countedFields('a.')} from known left join applied a on a.id = known_id`;

/**
 * Only a text that was submitted can be delivered; a failure counts only if there is one copy. A worker may take the
 * text at the same moment: the receipt applies only if it removes the text from the queue or the schedule, or holds its
 * claim.
 */
const unsentStatement = `with ${report},
    record as (
      select r.*, m.application_id, m.lane, m.carrier from report r join message m on m.id = r.id
      where (m.carrier = $1 or r.outcome = ${delivered} and ${isOfCarrier}) and m.id = any($3::uuid[])
        and m.status ${isUnsent}),
    claimed as (
      select r.*, c.attempt + 1 as attempt, c.possible_duplicates + c.in_doubt::integer as possible_duplicates,
        true as in_doubt
      from record r join (delivery_claim d cross join lateral unnest(d.message_ids, d.attempts, d.possible_duplicates,
        d.in_doubt) as c(message_id, attempt, possible_duplicates, in_doubt)) on d.carrier = r.carrier and c.message_id = r.id
      for share of d),
    waiting as (
      select *, case when outcome = ${delivered} then attempt > 0 else in_doubt and possible_duplicates = 0 end as fits
      from (
        select r.*, q.attempt, q.possible_duplicates, q.in_doubt from record r join delivery_queue q
          on q.carrier = r.carrier and q.lane = r.lane and q.application_id = r.application_id and q.message_id = r.id
        union all
        select r.*, s.attempt, s.possible_duplicates, s.in_doubt from record r join delivery_schedule s
          on s.application_id = r.application_id and s.message_id = r.id
        union all
        select * from claimed) w),
    unqueued as (
      delete from delivery_queue q using waiting w
      where w.fits and q.carrier = w.carrier and q.lane = w.lane and q.application_id = w.application_id and q.message_id = w.id
      returning w.id),
    unscheduled as (
      delete from delivery_schedule s using waiting w
      where w.fits and s.application_id = w.application_id and s.message_id = w.id
      returning w.id),
    held as (select id from unqueued union all select id from unscheduled union all select id from claimed),
    applied as (
      update message m set ${settled}, attempt = w.attempt, possible_duplicates = w.possible_duplicates
      from waiting w where w.fits and w.id in (select id from held) and m.id = w.id and m.id = any($3::uuid[])
        and m.status ${isUnsent}
      returning ${changedColumns('m.')}, ${countedColumns('m.')}, ${wordColumns}),
    ${ended},
    ${keptWords},
    named_later as (
      insert into sent_text (account, receipt_key, message_id, sent_at)
      select $8, carrier_message_id, id, $2 from applied where status = ${unknown} on conflict do nothing)
    select waiting.id, ${isDelivered('waiting.id')} as delivered, ${statusCode('queued')} as was, a.status as now,
      ${countedFields('a.')}
    from waiting left join applied a on a.id = waiting.id where not fits or waiting.id in (select id from held)`;
