import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { pieceRows } from '../platform/maintenance.ts';

const keptForMs = 3_600_000;

/** Some of the changes that every live node has long applied. Returns how many. */
export async function deleteOldChanges(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from registry_change where seq = any(array(
       select seq from registry_change where changed_at < $1 order by changed_at limit $2))`,
    [toTimestamp(nowMs - keptForMs), pieceRows],
  );
  return count;
}

/** Nodes that ended without saying so. By the database's clock, like everything about which nodes are alive. */
export async function deleteDeadNodes(tx: Tx): Promise<number> {
  const { count } = await tx.query(
    `delete from node where id = any(array(
       select id from node where seen_at < clock_timestamp() - interval '1 minute' limit $1))`,
    [pieceRows],
  );
  return count;
}
