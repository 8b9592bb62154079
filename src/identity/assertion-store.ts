import { hourMs, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { pieceRows } from '../platform/work/maintenance.ts';

/** False when it was used before, on any node. */
export async function takeAssertion(tx: Tx, id: Buffer, expiresAtMs: number): Promise<boolean> {
  const { count } = await tx.query(insertAssertion, [id, toTimestamp(expiresAtMs)]);
  return count > 0;
}

const insertAssertion = {
  name: 'insert-client-assertion',
  text: 'insert into client_assertion (id, expires_at) values ($1, $2) on conflict (id) do nothing',
};

/** Deletes one batch of assertions that expired over an hour ago, beyond any clock difference. Returns their number. */
export async function deleteOldAssertions(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from client_assertion where id = any(array(
       select id from client_assertion where expires_at < $1 order by expires_at limit $2))`,
    [toTimestamp(nowMs - hourMs), pieceRows],
  );
  return count;
}
