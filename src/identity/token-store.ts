import { hourMs, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { pieceRows } from '../platform/work/maintenance.ts';

export async function insertRevocation(tx: Tx, jti: string, expiresAtMs: number): Promise<void> {
  await tx.query('insert into token_revocation (jti, expires_at) values ($1, $2) on conflict (jti) do nothing', [
    jti,
    toTimestamp(expiresAtMs),
  ]);
}

export async function isRevoked(tx: Tx, jti: string): Promise<boolean> {
  const { count } = await tx.query(selectRevocation, [jti]);
  return count > 0;
}

const selectRevocation = { name: 'select-revocation', text: 'select 1 from token_revocation where jti = $1' };

/**
 * Deletes one batch of revocations whose tokens expired an hour ago, beyond any clock difference. Returns the number of
 * rows.
 */
export async function deleteOutlivedRevocations(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from token_revocation where jti = any(array(
       select jti from token_revocation where expires_at < $1 order by expires_at limit $2))`,
    [toTimestamp(nowMs - hourMs), pieceRows],
  );
  return count;
}
