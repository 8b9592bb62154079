import { dayMs } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid } from '../platform/ids.ts';
import { pieceRows } from '../platform/work/maintenance.ts';
import { dayOf } from './total-store.ts';

const daysKept = 30;

/** Counts starts that the guard blocked, in the caller's transaction. */
export async function addBlockedStarts(
  tx: Tx,
  starts: readonly { applicationId: string; rule: string; startedAtMs: number }[],
): Promise<void> {
  if (starts.length === 0) return;
  await tx.query(addStatement, [
    starts.map(({ startedAtMs }) => dayOf(startedAtMs)),
    starts.map(({ rule }) => rule),
    starts.map(({ applicationId }) => applicationId),
  ]);
}

/** In the order of the keys, so that two transactions never wait for each other in a circle. */
const addStatement = {
  name: 'count-blocked-by-rule',
  text: `insert into blocked_start as b (day, rule, application_id, blocked)
    select day, rule, application_id, count(*) from unnest($1::date[], $2::text[], $3::uuid[]) as s(day, rule, application_id)
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (day, rule, application_id) do update set blocked = b.blocked + excluded.blocked`,
};

export interface BlockedByRule {
  rule: string;
  today: number;
  sevenDays: number;
  thirtyDays: number;
}

export async function readBlockedByRule(tx: Tx, nowMs: number): Promise<BlockedByRule[]> {
  const { rows } = await tx.query<BlockedByRule>(
    `select rule, sum(blocked) as "thirtyDays", coalesce(sum(blocked) filter (where day > $2), 0) as "sevenDays",
       coalesce(sum(blocked) filter (where day = $3), 0) as today
     from blocked_start where day > $1 group by rule order by rule limit 100`,
    [dayOf(nowMs - daysKept * dayMs), dayOf(nowMs - 7 * dayMs), dayOf(nowMs)],
  );
  return rows;
}

export interface BlockedOfApplication {
  applicationId: string;
  rule: string;
  blocked: number;
}

/** The applications with the most blocked starts of 7 days, by rule. */
export async function readMostBlocked(tx: Tx, nowMs: number, limit: number): Promise<BlockedOfApplication[]> {
  const { rows } = await tx.query<BlockedOfApplication>(
    `select application_id as "applicationId", rule, sum(blocked) as blocked from blocked_start
     where day > $1 group by 1, 2 order by blocked desc, 1, 2 limit $2`,
    [dayOf(nowMs - 7 * dayMs), limit],
  );
  return rows.map((row) => ({ ...row, applicationId: fromUuid('app', row.applicationId) }));
}

export async function deleteOldBlockedStarts(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    'delete from blocked_start where ctid = any(array(select ctid from blocked_start where day < $1 order by day limit $2))',
    [dayOf(nowMs - daysKept * dayMs), pieceRows],
  );
  return count;
}
