import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';

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

/** An expired token needs no revocation any more. An hour later no clock disagrees about that. */
export async function deleteOutlived(tx: Tx, nowMs: number): Promise<void> {
  await tx.query('delete from token_revocation where expires_at < $1', [toTimestamp(nowMs - 3_600_000)]);
}
