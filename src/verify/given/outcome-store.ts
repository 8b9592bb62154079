import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { uuidFloor, uuidOf } from '../../platform/ids.ts';
import { longestTtlSeconds, type Outcome } from '../verification.ts';
import { reasonCode, recordColumns, statusCode } from '../verification-row.ts';
import { endings, isPending, type VerificationKey } from '../verification-store.ts';

/** By its clock another node's walk may count a row this much earlier, so an outcome from then on is noted as late. */
const countedEarlyMs = 60_000;

/**
 * Writes the outcome of a caller's code that is pending or expired and has none, and ends a pending one. One statement;
 * of two outcomes at once the first is written.
 */
export async function putOutcome(
  tx: Tx,
  { applicationId, id }: VerificationKey,
  outcome: Outcome,
  nowMs: number,
): Promise<void> {
  await tx.query(outcomeStatement, [
    uuidOf(id),
    uuidOf(applicationId),
    statusCode(outcome),
    toTimestamp(nowMs),
    uuidFloor(nowMs - longestTtlSeconds * 1000 + countedEarlyMs),
  ]);
}

const isLive = `v.${isPending} and v.expires_at > $4`;
const outcomeStatement = {
  name: 'put-outcome',
  text: `with k as materialized (
      select id, status from verification
      where id = $1 and application_id = $2 and code_hash is not null and outcome is null
        and status in (${statusCode('pending')}, ${statusCode('expired')}) limit 1 for update),
    written as (
      update verification v set outcome = $3::smallint,
        status = case when ${isLive} then $3::smallint else ${statusCode('expired')} end,
        reason = case when not (${isLive}) then ${reasonCode('ttl_elapsed')}
          when $3::smallint = ${statusCode('failed')} then ${reasonCode('reported_by_client')} end,
        approved_at = case when ${isLive} and $3::smallint = ${statusCode('approved')} then $4::timestamptz end,
        updated_at = case when v.${isPending} then least(v.expires_at, $4) else v.updated_at end
      from k where v.id = k.id and v.id = $1
      returning ${recordColumns('v')}, k.${isPending} as was_pending),
    changed as (select * from written where was_pending),
    ${endings('changed')},
    late as (insert into late_outcome (verification_id) select id from written where id < $5 on conflict do nothing)
    select from written`,
};
