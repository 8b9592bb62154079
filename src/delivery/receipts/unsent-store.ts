import { changedColumns } from '../../messages/message-events.ts';
import { statusCode } from '../../messages/message-row.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { Carrier } from '../carrier/carrier.ts';
import {
  changeOf,
  countedColumns,
  countedFields,
  ended,
  isDelivered,
  isOfCarrier,
  isUnsent,
  keptWords,
  type MatchedReceipt,
  parameters,
  report,
  type SettledRow,
  settled,
  wordColumns,
} from './changed-text.ts';
import type { KnownMessage } from './sent-store.ts';

const [delivered, unknown] = [statusCode('delivered'), statusCode('unknown')];

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
