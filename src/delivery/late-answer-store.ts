import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import type { EndedText, QueueEntry } from './queue-entry.ts';
import { attemptsIn, type ClaimResults, idsOf, recordParts } from './result-statement.ts';
import { attemptOutcomes } from './text-attempt.ts';
import { attemptInserts } from './text-attempt-store.ts';

/**
 * Records answers that came after the claim was closed. They settle texts that have not been sent again; the id of one
 * that has been is kept, since its receipt may be the first to come. The caller's transaction keeps a text from leaving
 * the queue without its record.
 */
export async function recordLateAnswers(tx: Tx, results: ClaimResults): Promise<void> {
  const { ended, carrier } = results;
  // A text without a usable answer stays as it is.
  const again = results.again.filter(({ entry }) => !entry.inDoubt);
  const settled = ended.length === 0 ? [] : await removeDoubt(tx, ended);
  const values: unknown[] = [];
  const parts = recordParts({ ...results, ended: settled, again }, values, 'true', carrier);
  parts.push(...attemptInserts(attemptsIn({ ended, again }), values, 'true'));
  parts.push(...lateKeys(results, settled, values));
  if (parts.length > 0) await tx.query(`with ${parts.join(',\n')} select`, values);
  if (again.length > 0) {
    const dueAt = again.map(({ dueAtMs }) => toTimestamp(dueAtMs));
    await tx.query(settleDoubtStatement, [...attemptsOf(again), dueAt]);
  }
}

/** What receipts will call texts that went on before this answer came: a delivery counts, whichever carrier tells it. */
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
  // A refusal says nothing of a text that another carrier has now; an acceptance makes that copy needless.
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

/** The carrier did not take the text, so it is no longer in doubt, and waits as long as the carrier wants. */
const settleDoubtStatement = `with settled as (
      update delivery_schedule s set in_doubt = false, due_at = a.due_at
      from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::timestamptz[])
        as a(application_id, message_id, attempt, due_at)
      where ${isDoubt('s')} returning s.message_id, s.attempt, s.possible_duplicates)
    update message m set attempt = settled.attempt, possible_duplicates = settled.possible_duplicates
    from settled where m.id = settled.message_id and m.id = any($2::uuid[])`;
