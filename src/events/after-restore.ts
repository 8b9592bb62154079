import type { Tx } from '../platform/database/database.ts';
import { dayOf, firstOfDay } from './position.ts';

/** More events than a service writes between a backup and its restore on the same day. */
const leap = 2 ** 32;

/**
 * Skips the positions that were assigned since the backup, so that no two events have the same id. Cursors from before
 * the restore then lie before a gap and are refused.
 */
export async function leapOverLostEvents(tx: Tx, nowMs: number): Promise<void> {
  await tx.query(`select setval('event_position', greatest(last_value, $1::bigint) + $2::bigint) from event_position`, [
    firstOfDay(dayOf(nowMs)),
    leap,
  ]);
  await tx.query(`update event_listener set since = nextval('event_position')`);
}
