import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import type { PlanLimits, PlanName } from '../settings/settings.ts';

/** The numbers of a plan. */
export interface PlanNumbers extends PlanLimits {
  /** Null for no limit. */
  segmentsPerDay: number | null;
}

/** A version that an operator has written. */
export interface PlanVersion extends PlanNumbers {
  version: number;
  createdAtMs: number;
  /** The e-mail of the operator, as it was at that time. */
  createdBy: string;
}

/** The newest version of each plan that an operator has changed. The others have the numbers of the settings. */
export type ChangedPlans = Partial<Record<PlanName, PlanNumbers & { version: number }>>;

/** SQL for `ChangedPlans`, as JSON. */
export const changedPlansColumn = `coalesce((select json_object_agg(n.name, json_build_object('version', p.version,
    'perMinute', p.per_minute, 'burst', p.burst, 'segmentsPerDay', p.segments_per_day))
  from unnest(array['free', 'pro', 'enterprise']) as n (name)
  cross join lateral (select * from plan where plan.name = n.name order by plan.version desc limit 1) p), '{}')
  as "changedPlans"`;

export async function readChangedPlans(tx: Tx): Promise<ChangedPlans> {
  const { rows } = await tx.query<{ changedPlans: ChangedPlans }>(`select ${changedPlansColumn}`);
  return rows[0]?.changedPlans ?? {};
}

/** Newest first. */
export async function listVersions(tx: Tx, plan: PlanName, limit: number): Promise<PlanVersion[]> {
  const { rows } = await tx.query<PlanVersion>(
    `select version, per_minute as "perMinute", burst, segments_per_day as "segmentsPerDay",
       created_at as "createdAtMs", created_by as "createdBy"
     from plan where name = $1 order by version desc limit $2`,
    [plan, limit],
  );
  return rows;
}

/** False when there is such a version: another operator was first. */
export async function insertVersion(tx: Tx, plan: PlanName, given: PlanVersion): Promise<boolean> {
  const { count } = await tx.query(
    `insert into plan (name, version, per_minute, burst, segments_per_day, created_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (name, version) do nothing`,
    [
      plan,
      given.version,
      given.perMinute,
      given.burst,
      given.segmentsPerDay,
      toTimestamp(given.createdAtMs),
      given.createdBy,
    ],
  );
  return count > 0;
}
