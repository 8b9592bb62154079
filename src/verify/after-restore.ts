import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { reasonCode, recordColumns, statusCode } from './verification-row.ts';
import { endings, isPending } from './verification-store.ts';

/** Ends pending verifications: their codes may have been used since the backup. Returns their number. */
export async function endPendingVerifications(tx: Tx, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ ended: number }>(endStatement, [toTimestamp(nowMs)]);
  return rows[0]?.ended ?? 0;
}

/** Lapsed verifications are left to the usual chore. */
const endStatement = `with changed as (
      update verification v set status = ${statusCode('canceled')}, reason = ${reasonCode('restored')}, updated_at = $1
      from pending_verification p where v.id = p.verification_id and v.${isPending} and v.expires_at > $1
      returning ${recordColumns('v')}),
    ${endings('changed')}
    select count(*) as ended from changed`;
