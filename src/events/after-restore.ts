import type { Tx } from '../platform/database/database.ts';
import { dayOf, firstOfDay } from './position.ts';

/** More events than a service writes between a backup and its restore on the same day. */
const leap = 2 ** 32;

/**
 * Positions that were given out since the backup are not used again: else an event would have the id of another one. Every
 * cursor of before lies behind a gap now, and is refused.
 */
export async function leapOverLostEvents(tx: Tx, nowMs: number): Promise<void> {
  await tx.query(`select setval('event_position', greatest(last_value, $1::bigint) + $2::bigint) from event_position`, [
    firstOfDay(dayOf(nowMs)),
    leap,
  ]);
  await tx.query(`update event_listener set since = nextval('event_position')`);
}
