// Tests: test/parts/delivery-worker.test.ts, test/model/delivery.test.ts
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { attemptOutcomes } from '../attempts/attempt.ts';
import type { EndedText, QueueEntry, ScheduledText } from '../attempts/queued-text.ts';
import { attemptInserts } from '../attempts/store.ts';
import { entryColumnsOf, queueColumns } from './columns.ts';
import { attemptsIn, type ClaimResults, idsOf, recordParts } from './result-statement.ts';
import { entryParameters, entryRows } from './schedule-store.ts';

/**
 * Records answers that came after the claim was closed. They settle texts that were not sent again; for the others the
 * carrier's id is kept, since its receipt may come first. Returns the new carrier of each moved text, and the settled
 * texts.
 */
export async function recordLateAnswers(
  tx: Tx,
  results: ClaimResults,
): Promise<{ moved: string[]; settled: EndedText[] }> {
  const { ended, carrier } = results;
  // A text without a usable answer stays as it is.
  const again = await goOn(
    tx,
    results.again.filter(({ entry }) => !entry.inDoubt),
  );
  const settled = ended.length === 0 ? [] : await removeDoubt(tx, ended);
  const values: unknown[] = [];
  const parts = recordParts({ ...results, ended: settled, again }, values, 'true', carrier);
  parts.push(...attemptInserts(attemptsIn({ ended, again }), values, 'true'));
  parts.push(...lateKeys(results, settled, values));
  if (parts.length > 0) await tx.query(`with ${parts.join(',\n')} select`, values);
  return { moved: again.filter(({ isMoved }) => isMoved).map((text) => text.carrier), settled };
}

/**
 * Settles or moves texts that the carrier did not take. For a text that was sent again already, only its attempt is
 * recorded.
 */
async function goOn(tx: Tx, again: ScheduledText[]): Promise<ScheduledText[]> {
  const moving = again.filter(({ isMoved }) => isMoved);
  const staying = again.filter(({ isMoved }) => !isMoved);
  if (staying.length > 0) await tx.query(settleDoubtStatement, settledParameters(staying));
  if (moving.length === 0) return again;
  const { rows } = await tx.query<{ id: string }>(moveDoubtStatement, settledParameters(moving));
  const moved = new Set(rows.map(({ id }) => id));
  const stays = ({ isMoved, attempt, ...text }: ScheduledText) => ({
    ...text,
    attempt: attempt && { ...attempt, next: undefined },
  });
  return again.map((text) => (text.isMoved && !moved.has(text.entry.messageId) ? stays(text) : text));
}

/** The ids that receipts will use for texts that moved before this answer came: a delivery counts from any carrier. */
function lateKeys({ ended, account, nowMs }: ClaimResults, settled: EndedText[], values: unknown[]): string[] {
  const accepted = ended.filter(({ status }) => status === 'sent');
  if (accepted.length === 0) return [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  // `attemptInserts` writes the others: one statement cannot change a row twice.
  const unkept = accepted.filter(({ attempt }) => attempt === undefined);
  const noted = `noted_late as (
      update text_attempt t set outcome = ${attemptOutcomes.indexOf('accepted')}, carrier_message_id = l.carrier_message_id
      from unnest(${bind(idsOf(unkept))}::uuid[], ${bind(unkept.map(({ entry }) => entry.attempt))}::integer[],
        ${bind(unkept.map(({ carrierMessageId }) => carrierMessageId))}::text[]) as l(message_id, attempt, carrier_message_id)
      where t.message_id = l.message_id and t.attempt = l.attempt)`;
  const gone = accepted.filter((text) => !settled.includes(text) && text.long === undefined);
  if (account === undefined || gone.length === 0) return [noted];
  const known = `known_late as (
      insert into sent_text (account, receipt_key, message_id, sent_at)
      select ${bind(account)}, receipt_key, message_id, ${bind(toTimestamp(nowMs))}::timestamptz
      from unnest(${bind(gone.map(({ receiptKey }) => receiptKey))}::text[], ${bind(idsOf(gone))}::uuid[])
        as l(receipt_key, message_id)
      on conflict do nothing)`;
  return [noted, known];
}

/** Returns the texts that were still in doubt. */
async function removeDoubt(tx: Tx, ended: EndedText[]): Promise<EndedText[]> {
  // A refusal does not concern a text that another carrier has now. An acceptance makes that copy unnecessary.
  const moves = ended.map(({ status, entry }) => (status === 'sent' ? null : entry.moves));
  const { rows } = await tx.query<{ id: string }>(removeDoubtStatement, [...attemptsOf(ended), moves]);
  const removed = new Set(rows.map(({ id }) => id));
  return ended.filter(({ entry }) => removed.has(entry.messageId));
}

function attemptsOf(texts: { entry: QueueEntry }[]): unknown[] {
  return [
    texts.map(({ entry }) => entry.applicationId),
    texts.map(({ entry }) => entry.messageId),
    texts.map(({ entry }) => entry.attempt),
  ];
}

const attempts = `unnest($1::uuid[], $2::uuid[], $3::integer[], $4::smallint[])
        as a(application_id, message_id, attempt, moves)`;
const isDoubt = (table: string) => `${table}.application_id = a.application_id and ${table}.message_id = a.message_id
      and ${table}.attempt = a.attempt and ${table}.in_doubt`;
const isRemovable = (table: string) => `${isDoubt(table)} and (a.moves is null or ${table}.moves = a.moves)`;

/** A text in doubt is in the queue or the schedule, under the attempt that is answered. */
const removeDoubtStatement = `with unqueued as (
      delete from delivery_queue q using ${attempts} where ${isRemovable('q')} returning q.message_id),
    unscheduled as (
      delete from delivery_schedule s using ${attempts} where ${isRemovable('s')} returning s.message_id)
    select message_id as id from unqueued union all select message_id from unscheduled`;

/** For each text: its new entry, the number of the submit that left it in doubt, and its number of moves at that time. */
function settledParameters(texts: ScheduledText[]): unknown[] {
  const submits = texts.map(({ entry, submit }) => submit ?? entry.attempt);
  const moves = texts.map(({ entry, isMoved }) => entry.moves - (isMoved ? 1 : 0));
  return [...entryParameters(texts), submits, moves];
}

const givenSql = `a as (select * from ${entryRows(1)}),
    answered as (
      select application_id, message_id, submit as attempt, moves_before as moves
      from a join unnest($4::uuid[], $11::integer[], $12::smallint[]) as d(id, submit, moves_before) on d.id = message_id)`;
/** The text is as the submit left it: in doubt, and neither sent again nor moved. */
const isAnswered = (table: string) => `(${table}.application_id, ${table}.message_id, ${table}.attempt, ${table}.moves)
      = (d.application_id, d.message_id, d.attempt, d.moves) and ${table}.in_doubt`;
const noteSql = `update message m set attempt = a.attempt, possible_duplicates = a.possible_duplicates, carrier = a.carrier
    from a join settled using (message_id) where m.id = a.message_id and m.id = any($4::uuid[])`;

const settledColumns =
  'in_doubt = false, attempt = a.attempt, unanswered = a.unanswered, possible_duplicates = a.possible_duplicates';

/** The carrier did not take the text, so it is no longer in doubt, and waits for the pause that the carrier asked for. */
const settleDoubtStatement = `with ${givenSql},
    unqueued as (
      update delivery_queue q set ${settledColumns} from a join answered d using (message_id)
      where ${isAnswered('q')} returning q.message_id),
    unscheduled as (
      update delivery_schedule s set ${settledColumns}, due_at = a.due_at from a join answered d using (message_id)
      where ${isAnswered('s')} returning s.message_id),
    settled as (select message_id from unqueued union all select message_id from unscheduled)
    ${noteSql}`;

/** The carrier refused a text that another one may take: it moves at once, with all its parts. */
const moveDoubtStatement = `with ${givenSql},
    unqueued as (
      delete from delivery_queue q using answered d where ${isAnswered('q')} returning q.message_id, q.expires_at),
    unscheduled as (
      delete from delivery_schedule s using answered d where ${isAnswered('s')} returning s.message_id, s.expires_at),
    settled as (select * from unqueued union all select * from unscheduled),
    moved as (
      insert into delivery_queue (${queueColumns}) select a.carrier, ${entryColumnsOf('a')}, settled.expires_at
      from a join settled using (message_id) on conflict do nothing),
    forgotten as (delete from text_part t using settled where t.message_id = settled.message_id)
    ${noteSql} returning m.id`;
