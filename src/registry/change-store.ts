import { hourMs, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { pieceRows } from '../platform/work/maintenance.ts';

const keptForMs = hourMs;

/**
 * Makes every node drop its cache of an application. Call it last in a transaction, because all changes take turns by one
 * lock.
 */
export async function recordChange(tx: Tx, applicationId: string, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ seq: number }>(recordStatement, [applicationId, toTimestamp(nowMs)]);
  return rows[0]?.seq ?? 0;
}

const recordStatement = { name: 'record-registry-change', text: 'select record_registry_change($1, $2) as seq' };

/** Deletes one batch of old changes, which every live node has applied. Returns the number of rows. */
export async function deleteOldChanges(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from registry_change where seq = any(array(
       select seq from registry_change where changed_at < $1 order by changed_at limit $2))`,
    [toTimestamp(nowMs - keptForMs), pieceRows],
  );
  return count;
}

/** Deletes nodes that ended without removing their row. Uses the database's clock, as all liveness checks do. */
export async function deleteDeadNodes(tx: Tx): Promise<number> {
  const { count } = await tx.query(
    `delete from node where id = any(array(
       select id from node where seen_at < clock_timestamp() - interval '1 minute' limit $1))`,
    [pieceRows],
  );
  return count;
}
