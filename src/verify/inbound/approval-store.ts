import { dayMs, minuteMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { uuidFloor, uuidOf } from '../../platform/ids.ts';
import { longestTtlSeconds, type Verification } from '../verification.ts';
import { recordColumns, statusCode, toVerification, type VerificationRow, verificationColumns } from '../verification-row.ts';
import { endings, isPending } from '../verification-store.ts';

/** More than the applications for which one number can wait at once. */
const mostWaiting = 100;

/** The pending verifications that wait for a text from this number. */
export async function findWaiting(tx: Tx, from: string, nowMs: number): Promise<Verification[]> {
  const { rows } = await tx.query<VerificationRow>(waitingStatement, [
    from,
    toTimestamp(nowMs),
    uuidFloor(nowMs - longestTtlSeconds * 1000 - minuteMs),
    uuidFloor(nowMs + dayMs),
    mostWaiting,
  ]);
  return rows.map(toVerification);
}

// The bounds open only the partitions of pending verifications.
const waitingStatement = {
  name: 'find-waiting-for-text',
  text: `select ${verificationColumns('v')} from pending_verification p
    join verification v on v.id = p.verification_id and v.id >= $3 and v.id < $4
    where p.recipient = $1 and p.expires_at > $2 and v.inbound is not null and v.${isPending} limit $5`,
};

/** Approves a verification by its text; false if it has ended. One conditional statement: a second text approves nothing. */
export async function approveByText(tx: Tx, id: string, nowMs: number): Promise<boolean> {
  const { rows } = await tx.query(approveStatement, [uuidOf(id), toTimestamp(nowMs)]);
  return rows.length > 0;
}

const approveStatement = {
  name: 'approve-by-text',
  text: `with changed as (
      update verification v set status = ${statusCode('approved')}, reason = null, approved_at = $2, updated_at = $2
      where id = $1 and ${isPending} and expires_at > $2 and inbound is not null
      returning ${recordColumns('v')}),
    ${endings('changed')}
    select id from changed`,
};
