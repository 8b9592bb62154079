// Tests: test/contract/number-checks.test.ts, test/contract/verification-cost.test.ts
import { dayMs, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidFloor, uuidOf } from '../platform/ids.ts';
import { type Destination, ofNumber } from './pending-store.ts';
import { verificationStatuses } from './verification.ts';
import { statusCode } from './verification-row.ts';

/** A check by number finds no verification that started earlier. */
const newestMs = dayMs;

/** The id of each number's pending verification, else of the newest that started within a day; undefined if none. */
export async function findNewestOf(
  tx: Tx,
  destinations: readonly Destination[],
  nowMs: number,
): Promise<(string | undefined)[]> {
  const { rows } = await tx.query<{ id: string | null }>(newestStatement, [
    destinations.map(({ applicationId }) => uuidOf(applicationId)),
    destinations.map(({ to }) => to),
    toTimestamp(nowMs),
    uuidFloor(nowMs - newestMs),
    uuidFloor(nowMs + dayMs),
  ]);
  return rows.map(({ id }) => (id === null ? undefined : fromUuid('ver', id)));
}

const ends = verificationStatuses
  .filter((status) => status !== 'pending')
  .map(statusCode)
  .join();
// One row of each status by the index of the number. The upper bound excludes partitions made ahead.
const newestStatement = {
  name: 'find-newest-of-numbers',
  text: `select case when p.expires_at > $3 then p.id
      else greatest(case when p.id >= $4 then p.id end, n.id) end as id
    from unnest($1::uuid[], $2::text[]) with ordinality as d(application_id, recipient, place)
    left join lateral (
      select verification_id as id, expires_at
      from ${ofNumber('pending_verification', 'd.application_id', 'd.recipient')} limit 1) p on true
    left join lateral (
      select e.id from unnest('{${ends}}'::smallint[]) as s(status) cross join lateral (
        select verification_id as id from ${ofNumber('ended_verification', 'd.application_id', 'd.recipient')}
          and status = s.status and verification_id >= $4 and verification_id < $5
        order by verification_id desc limit 1) e
      order by e.id desc limit 1) n on p.expires_at is null or p.expires_at <= $3
    order by d.place`,
};
