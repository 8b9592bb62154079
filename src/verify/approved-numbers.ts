// Tests: test/contract/guard-conversion.test.ts
import { dayMs } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidFloor, uuidOf } from '../platform/ids.ts';
import { type Destination, ofNumber } from './pending-store.ts';
import type { VerificationStatus } from './verification.ts';
import { statusCode } from './verification-row.ts';

/** A number that its application approved within this time passes every hold. */
const approvedLatelyMs = 28 * dayMs;

/** The recently approved ones of these numbers. Only called for numbers that are held back. */
export async function findApproved(tx: Tx, held: readonly Destination[], nowMs: number): Promise<Destination[]> {
  const { rows } = await tx.query<Destination>(approvedStatement, [
    held.map(({ applicationId }) => uuidOf(applicationId)),
    held.map(({ to }) => to),
    uuidFloor(nowMs - approvedLatelyMs),
    uuidFloor(nowMs + dayMs),
  ]);
  return rows.map(({ applicationId, to }) => ({ applicationId: fromUuid('app', applicationId), to }));
}

/** Reads the outcome of at most this many expired verifications of a number. */
const mostExpired = 50;

// The upper bound excludes partitions made ahead.
const endedAs = (status: VerificationStatus) =>
  `${ofNumber('ended_verification', 'd.application_id', 'd.recipient')}
        and status = ${statusCode(status)} and verification_id >= $3 and verification_id < $4`;
const approvedStatement = {
  name: 'find-approved-numbers',
  text: `select d.application_id as "applicationId", d.recipient as "to"
    from unnest($1::uuid[], $2::text[]) as d(application_id, recipient) cross join lateral (
      (select from ${endedAs('approved')} limit 1)
      union all
      (select from (select verification_id from ${endedAs('expired')} order by verification_id desc limit ${mostExpired}) e
       where exists (select from verification v where v.id = e.verification_id and v.id >= $3 and v.id < $4
         and v.outcome = ${statusCode('approved')}) limit 1)
      limit 1) found`,
};
