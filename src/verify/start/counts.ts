// Tests: test/races/verification-guard.test.ts, test/contract/verification-cost.test.ts
import { dayMs, hourMs } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromTextRows, toTextRows } from '../../platform/database/text-rows.ts';
import { fromUuid, uuidFloor, uuidOf } from '../../platform/ids.ts';
import { type Destination, ofNumber } from '../pending-store.ts';
import { mostFailuresADay } from '../verification.ts';
import { statusCode } from '../verification-row.ts';

export interface StartCounts extends Destination {
  startsForNumber: number;
  startsForPrefix: number;
  failuresToday: number;
}

/** Counting stops at these numbers, because the decision is then known. */
export interface CountLimits {
  perNumber: number;
  perPrefix: number;
}

/** A number with the prefix by which the guard counts neighbours. */
export interface CountedDestination extends Destination {
  prefix: string;
}

/** The guard's counts, read from the database: they survive restarts and cover all nodes. */
export async function countStarts(
  tx: Tx,
  counted: CountedDestination[],
  limits: CountLimits,
  nowMs: number,
): Promise<StartCounts[]> {
  const { rows } = await tx.query<StartCounts>(countStatement, [
    ...toTextRows(counted.map(({ applicationId, to, prefix }) => [uuidOf(applicationId), to, prefix])),
    uuidFloor(nowMs - dayMs),
    uuidFloor(nowMs - hourMs),
    limits.perNumber,
    limits.perPrefix,
    uuidFloor(nowMs + dayMs),
  ]);
  return rows.map((row) => ({ ...row, applicationId: fromUuid('app', row.applicationId) }));
}

const endsOfStarted = (['approved', 'failed', 'expired', 'canceled'] as const).map(statusCode).join();
const endedOfNumber = ofNumber('ended_verification', 'd.application_id', 'd.recipient');
/** An ended verification with wrong codes has at least one, so fifteen rows suffice for the daily limit of fifteen. */
const mostRowsWithFailures = mostFailuresADay;
// The upper bound excludes partitions made ahead. Wrong codes count from the start of their verification, so a pending
// one older than a day no longer counts.
const countStatement = {
  name: 'count-verification-starts',
  text: `select d.application_id as "applicationId", d.recipient as "to",
      least($8, case when open.id is null then 0 else 1 end + (select count(*) from (
        select from ${ofNumber('counted_send', 'd.application_id', 'd.recipient')} and message_id >= $6 limit $8) s)
        + (select count(*) from (
        select from unnest('{${endsOfStarted}}'::smallint[]) as s(status) cross join lateral (
          select from ${endedOfNumber} and status = s.status and verification_id >= $6 and verification_id < $10
          limit $8) e
        limit $8) n)) as "startsForNumber",
      (select count(*) from (
        select from counted_start
        where application_id = d.application_id and prefix = d.prefix and verification_id >= $7 limit $9) p
      ) as "startsForPrefix",
      coalesce(open.attempts, 0) + (select coalesce(sum(attempts), 0) from (
        select attempts from ${ofNumber('recent_failure', 'd.application_id', 'd.recipient')} and verification_id >= $6
        limit ${mostRowsWithFailures}) f) as "failuresToday"
    from (select c[1]::uuid as application_id, c[2] as recipient, c[3] as prefix from ${fromTextRows()} t) d
    left join lateral (
      select v.id, v.attempts
      from (select verification_id from ${ofNumber('pending_verification', 'd.application_id', 'd.recipient')} limit 1) p
      cross join lateral (
        select id, attempts from verification where id = p.verification_id and id >= $6 and id < $10 limit 1) v
    ) open on true`,
};

/** A prefix of an application, by which neighbours are counted. */
export type CountedPrefix = Pick<CountedDestination, 'applicationId' | 'prefix'>;

/**
 * Counts the starts for each prefix in the last hour, for explanations where no rule does. One count per prefix, in
 * order.
 */
export async function countNeighbours(
  tx: Tx,
  prefixes: CountedPrefix[],
  limit: number,
  nowMs: number,
): Promise<number[]> {
  const { rows } = await tx.query<{ starts: number }>(neighboursStatement, [
    prefixes.map(({ applicationId }) => uuidOf(applicationId)),
    prefixes.map(({ prefix }) => prefix),
    uuidFloor(nowMs - hourMs),
    limit,
    uuidFloor(nowMs + dayMs),
  ]);
  return rows.map(({ starts }) => starts);
}

/** Maximum rows of a prefix, of all applications, that an explanation reads. */
const mostNeighbours = 1000;
// A colon sorts after the digits.
const neighbours = (table: string, more: string) => `select application_id, recipient from ${table}
  where recipient >= p.prefix and recipient < p.prefix || ':' and verification_id >= $3 and verification_id < $5 ${more}
  limit ${mostNeighbours}`;
const neighboursStatement = {
  name: 'count-neighbours',
  text: `select (select count(*) from (select from (
      (${neighbours('pending_verification', '')}) union all
      (${neighbours('ended_verification', `and status in (${endsOfStarted})`)})) n
    where application_id = p.application_id and length(recipient) = length(p.prefix) + 4 limit $4) s) as starts
    from unnest($1::uuid[], $2::text[]) with ordinality as p(application_id, prefix, index) order by p.index`,
};

/** Facts about a person that an application sent are kept for at most a day. */
export const deleteStartClients = (tx: Tx, nowMs: number) => deleteBefore(tx, 'start_client', nowMs - 23 * hourMs);

/** Deletes starts and failures that no rule counts any longer. */
export const deleteCountedStarts = (tx: Tx, nowMs: number) => deleteBefore(tx, 'counted_start', nowMs - hourMs);
export const deleteRecentFailures = (tx: Tx, nowMs: number) => deleteBefore(tx, 'recent_failure', nowMs - dayMs);
export const deleteCountedSends = (tx: Tx, nowMs: number) =>
  deleteBefore(tx, 'counted_send', nowMs - dayMs, 'message_id');

async function deleteBefore(tx: Tx, table: string, beforeMs: number, id = 'verification_id'): Promise<number> {
  const { count } = await tx.query(
    `delete from ${table} where ctid = any(array(
       select ctid from ${table} where ${id} < $1 order by ${id} limit 1000))`,
    [uuidFloor(beforeMs)],
  );
  return count;
}
