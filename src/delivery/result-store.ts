import { unsentStatuses } from '../messages/message.ts';
import { laneSql } from '../messages/message-queue.ts';
import { errorCodeOf, statusCode, statusCodes } from '../messages/message-row.ts';
import { insertEnds } from '../messages/message-store.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { entryParameters, queueColumns } from './claim-store.ts';
import type { EndedText, QueueEntry, ScheduledText } from './queue-entry.ts';

export interface ClaimResults {
  carrier: string;
  ended: EndedText[];
  again: ScheduledText[];
  /** True if receipts name the texts by the carrier's ids only. */
  keepCarrierIds: boolean;
  nowMs: number;
}

/**
 * Records the results of a claim and closes it, in one statement. It changes nothing if the claim was released because
 * its lease had run out, and no text that a receipt has settled meanwhile.
 */
export async function recordClaim(tx: Tx, claimId: number, results: ClaimResults): Promise<void> {
  const { ended, again } = results;
  const open = 'open as (delete from delivery_claim where id = $1 returning id)';
  if (ended.length === 0 && again.length === 0) {
    await tx.query(`with ${open} select`, [claimId]);
    return;
  }
  const parts = [open];
  const values: unknown[] = [claimId, toTimestamp(results.nowMs), ...rangeOf([...ended, ...again])];
  if (ended.length > 0) parts.push(...recordParts(results, values, 'cross join open'));
  if (again.length > 0) parts.push(...scheduleParts(results, values));
  await tx.query(`with ${parts.join(',\n')} select`, values);
}

/** Records answers that came after the claim was closed, for texts that have not been sent again. */
export async function recordLateAnswers(tx: Tx, results: ClaimResults): Promise<void> {
  const { ended, again, carrier } = results;
  if (ended.length > 0) {
    const values: unknown[] = [carrier, toTimestamp(results.nowMs), ...rangeOf(ended)];
    const parts = recordParts(results, values, 'join removed on removed.message_id = r.id');
    const [result = ''] = parts;
    await tx.query(`with ${[result, removedParts, ...parts.slice(1)].join(',\n')} select`, values);
  }
  if (again.length > 0) {
    await tx.query(settleDoubtStatement, [
      again.map(({ entry }) => entry.applicationId),
      again.map(({ entry }) => entry.messageId),
      again.map(({ entry }) => entry.attempt),
    ]);
  }
}

/** An answer in doubt is in the queue or the schedule, under the attempt that it answers. */
const removedParts = `unqueued as (
    delete from delivery_queue q using result r, message m
    where m.id = r.id and m.id >= $3 and m.id <= $4 and q.carrier = $1 and q.lane = ${laneSql('m.api')}
      and q.application_id = m.application_id and q.message_id = r.id and q.attempt = r.attempt and q.in_doubt
    returning q.message_id),
  unscheduled as (
    delete from delivery_schedule s using result r, message m
    where m.id = r.id and m.id >= $3 and m.id <= $4 and s.application_id = m.application_id and s.message_id = r.id
      and s.attempt = r.attempt and s.in_doubt
    returning s.message_id),
  removed as (select message_id from unqueued union all select message_id from unscheduled)`;

/** The carrier did not take the text, so it is no longer in doubt. */
const settleDoubtStatement = `update delivery_schedule s set in_doubt = false
    from unnest($1::uuid[], $2::uuid[], $3::integer[]) as a(application_id, message_id, attempt)
    where s.application_id = a.application_id and s.message_id = a.message_id and s.attempt = a.attempt and s.in_doubt`;

/** Updates the records. `$2` is the time, `$3` and `$4` are the lowest and the highest id. */
function recordParts({ ended, keepCarrierIds }: ClaimResults, values: unknown[], condition: string): string[] {
  const bind = (value: unknown) => `$${values.push(value)}`;
  const sent = statusCode('sent');
  const parts = [
    `result as (select * from unnest(${bind(ended.map(({ entry }) => entry.messageId))}::uuid[],
      ${bind(ended.map(({ status }) => statusCode(status)))}::smallint[],
      ${bind(ended.map(({ error }) => errorCodeOf(error)))}::smallint[],
      ${bind(ended.map(({ entry }) => entry.attempt))}::integer[],
      ${bind(ended.map(({ entry }) => entry.possibleDuplicates))}::smallint[],
      ${bind(ended.map(({ carrierMessageId }) => carrierMessageId))}::text[])
      as r(id, status, error_code, attempt, possible_duplicates, carrier_message_id))`,
    `recorded as (
      update message m set status = r.status, error_code = r.error_code, attempt = r.attempt,
        possible_duplicates = r.possible_duplicates, carrier_message_id = r.carrier_message_id, updated_at = $2,
        sequence = sequence + 1, sent_at = case when r.status = ${sent} then $2::timestamptz end
      from result r ${condition}
      where m.id = r.id and m.id >= $3 and m.id <= $4 and m.status in (${statusCodes(unsentStatuses)})
      returning m.id, m.application_id as "applicationId", m.api, m.status, m.carrier, m.carrier_message_id)`,
  ];
  if (ended.some(({ status }) => status !== 'sent'))
    parts.push(`bad_end as (${insertEnds(`(select * from recorded where status <> ${sent}) e`)})`);
  if (keepCarrierIds)
    parts.push(`known as (
      insert into sent_text (carrier, carrier_message_id, message_id, sent_at)
      select carrier, carrier_message_id, id, $2 from recorded where status = ${sent} on conflict do nothing)`);
  return parts;
}

function scheduleParts({ again, carrier }: ClaimResults, values: unknown[]): string[] {
  const first = values.length + 1;
  values.push(carrier, ...entryParameters(again));
  const types = ['smallint', 'uuid', 'uuid', 'integer', 'smallint', 'smallint', 'boolean', 'timestamptz'];
  const columns = types.map((type, index) => `$${first + 1 + index}::${type}[]`).join(', ');
  return [
    `again as (select $${first}::text as carrier, a.* from unnest(${columns}) as a(lane, application_id, message_id,
      attempt, unanswered, possible_duplicates, in_doubt, due_at))`,
    // A text that a receipt has settled meanwhile is not sent again.
    `noted as (
      update message m set attempt = a.attempt, possible_duplicates = a.possible_duplicates
      from again a cross join open
      where m.id = a.message_id and m.id >= $3 and m.id <= $4 and m.status in (${statusCodes(unsentStatuses)})
      returning m.id)`,
    `scheduled as (
      insert into delivery_schedule (${queueColumns}, due_at)
      select ${queueColumns}, due_at from again join noted on noted.id = message_id
      on conflict do nothing)`,
  ];
}

function rangeOf(texts: { entry: QueueEntry }[]): [lowest: string, highest: string] {
  let lowest = texts[0]?.entry.messageId ?? '';
  let highest = lowest;
  for (const { entry } of texts) {
    if (entry.messageId < lowest) lowest = entry.messageId;
    if (entry.messageId > highest) highest = entry.messageId;
  }
  return [lowest, highest];
}
