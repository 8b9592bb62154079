import type { Tx } from '../../platform/database/database.ts';
import { positionOf } from '../../platform/database/walk.ts';
import { uuidFloor, uuidTimeMs } from '../../platform/ids.ts';
import { unreportedWalk } from './unreported.ts';

/**
 * The time of the oldest text that still waits to be sent, for an answer or for a receipt; `beforeMs` if there is none from
 * before. Records of texts are needed from this time on.
 */
export async function neededTextsFrom(tx: Tx, beforeMs: number): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(oldestStatement, [uuidFloor(beforeMs)]);
  return rows[0] === undefined ? beforeMs : uuidTimeMs(rows[0].id);
}

/**
 * Finds the oldest message of each `group` by one index lookup. An index must begin with `group` and end with the message.
 */
const oldestOfEach = (table: string, group: string) => `(
      (select ${group}, message_id from ${table} order by ${group}, message_id limit 1)
      union all
      select n.* from ${table}_turn t cross join lateral (
        select ${group}, message_id from ${table}
        where (${group}) > (${group.replaceAll(/\w+/g, 't.$&')}) order by ${group}, message_id limit 1) n)`;

/**
 * One statement, so that a text which moves from table to table is in one of them. The walk over old texts writes to
 * `unsettled_text` the texts that wait; those that it has not reached yet may wait, too.
 */
const oldestStatement = {
  name: 'oldest-needed-text',
  text: `with recursive delivery_queue_turn as ${oldestOfEach('delivery_queue', 'carrier, lane, application_id')},
    delivery_schedule_turn as ${oldestOfEach('delivery_schedule', 'application_id')},
    waiting(id) as (
      select message_id from delivery_queue_turn
      union all select message_id from delivery_schedule_turn
      union all select unnest(message_ids) from delivery_claim
      union all (select message_id from unsettled_text order by message_id limit 1)
      union all (select id from message where id > ${positionOf(unreportedWalk)} and id < $1 order by id limit 1))
    select id from waiting where id < $1 order by id limit 1`,
};
