import { unsentStatuses } from '../../messages/message.ts';
import { changedColumns, reportChanges } from '../../messages/message-events.ts';
import { statusCode, statusCodes } from '../../messages/message-row.ts';
import { insertEnds } from '../../messages/message-store.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';

/**
 * Ends the texts that waited or were under way when the backup was made: they may have been sent or canceled since, and
 * the backup does not say. Their callers get an event and decide. Returns how many there were.
 */
export async function endWaitingTexts(tx: Tx, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ ended: number }>(endStatement, [toTimestamp(nowMs)]);
  await tx.query('truncate delivery_queue, delivery_schedule, delivery_claim');
  // A worker would send the text of a test that waits.
  await tx.query('delete from carrier_test where finished_at is null');
  return rows[0]?.ended ?? 0;
}

const endStatement = `with waiting as materialized (
      select message_id from delivery_queue union select message_id from delivery_schedule
      union select unnest(message_ids) from delivery_claim),
    ended as (
      update message m set status = ${statusCode('unknown')}, updated_at = $1, sequence = sequence + 1
      from waiting w where m.id = w.message_id and m.status in (${statusCodes(unsentStatuses)})
      returning ${changedColumns('m.')}),
    bad_end as (${insertEnds('ended')}),
    ${reportChanges('ended')}
    select count(*) as ended from ended`;
