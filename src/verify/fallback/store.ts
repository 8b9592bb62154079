import { failedText } from '../../messages/text/failed-text.ts';
import { dayMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid, uuidFloor, uuidOf } from '../../platform/ids.ts';
import { isPending } from '../verification-store.ts';
import type { FallbackPlan, TakenStep } from './plan.ts';

/** A verification that waits for its next step. */
export interface WaitingPlan {
  verificationId: string;
  applicationId: string;
  to: string;
  correlationId: string;
  codeLength: number;
  index: number;
  /** The newest text: its failure makes the next step due early. */
  awaited: string | null;
  plan: FallbackPlan;
  hasFailed: boolean;
}

/** Maximum verifications of one poll: those with the earliest times. */
const mostWaiting = 5000;
const mostDue = 100;

interface DueRow extends Omit<WaitingPlan, 'verificationId' | 'applicationId' | 'correlationId'> {
  id: string;
  owner: string;
  request: string;
  isOpen: boolean;
}

/**
 * Finds the plans whose next step is due, by time or because the previous send failed for good. Closes those whose
 * verification has ended. `waiting`: whether any plan is open.
 */
export async function findDue(tx: Tx, nowMs: number): Promise<{ due: WaitingPlan[]; waiting: boolean }> {
  const { rows } = await tx.query<DueRow & { waiting: boolean }>(dueStatement, [
    toTimestamp(nowMs),
    uuidFloor(nowMs - dayMs),
    uuidFloor(nowMs + dayMs),
  ]);
  const over = rows.filter(({ id, isOpen }) => id !== null && !isOpen);
  if (over.length > 0)
    await tx.query('update verification_fallback set due_at = null where verification_id = any($1)', [
      over.map(({ id }) => id),
    ]);
  const due = rows.filter(({ id, isOpen }) => id !== null && isOpen);
  return { due: due.map(toWaiting), waiting: rows[0]?.waiting ?? false };
}

function toWaiting({ id, owner, request, to, codeLength, index, awaited, plan, hasFailed }: DueRow): WaitingPlan {
  const about = { to, codeLength, index, plan, hasFailed };
  return {
    ...about,
    awaited: awaited === null ? null : fromUuid('msg', awaited),
    verificationId: fromUuid('ver', id),
    applicationId: fromUuid('app', owner),
    correlationId: fromUuid('req', request),
  };
}

// The bounds exclude partitions of other weeks.
const dueStatement = {
  name: 'find-due-fallbacks',
  text: `with waiting as materialized (
      select verification_id, awaited, due_at, next_step, plan from verification_fallback
      where due_at is not null order by due_at limit ${mostWaiting}),
    due as (
      select w.*, coalesce(m.failed, false) as failed from waiting w left join lateral
        ${failedText('w.awaited', ['$2', '$3'])} m on true
      where w.due_at <= $1 or m.failed order by w.due_at limit ${mostDue})
    select exists (select from waiting) as waiting, d.verification_id as id, v.application_id as owner,
      v.recipient as "to", v.correlation_id as request, v.code_length as "codeLength", d.next_step as index, d.awaited, d.plan,
      d.failed as "hasFailed", coalesce(v.${isPending} and v.expires_at > $1, false) as "isOpen"
    from (select true) one left join due d on true left join lateral (
      select * from verification where id = d.verification_id and id >= $2 and id < $3 limit 1) v on true`,
};

/**
 * Locks these plans, and returns the verifications that still wait for the given step. The caller has locked the
 * verifications.
 */
export async function lockSteps(
  tx: Tx,
  steps: Pick<WaitingPlan, 'verificationId' | 'index' | 'awaited'>[],
): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string; index: number; awaited: string | null }>(
    `select verification_id as id, next_step as index, awaited from verification_fallback
     where verification_id = any($1) and due_at is not null order by verification_id for update`,
    [steps.map(({ verificationId }) => uuidOf(verificationId))],
  );
  const waiting = new Map(rows.map((row) => [fromUuid('ver', row.id), row]));
  const isWaiting = ({ verificationId, index, awaited }: (typeof steps)[number]) => {
    const row = waiting.get(verificationId);
    return row?.index === index && row.awaited === (awaited === null ? null : uuidOf(awaited));
  };
  return new Set(steps.filter(isWaiting).map(({ verificationId }) => verificationId));
}

/** What a transaction changes in a plan. */
export interface PlanChange {
  verificationId: string;
  /** The newest text, as in `WaitingPlan`. */
  awaited: string | null;
  /** Null if no step follows. */
  dueAtMs: number | null;
  index: number;
  /** Undefined if the plan does not change. */
  plan: FallbackPlan | undefined;
  taken: TakenStep | undefined;
}

/** Writes new plans, and the next step of others. */
export async function putPlans(tx: Tx, changes: readonly PlanChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(putStatement, [
    changes.map(({ verificationId }) => uuidOf(verificationId)),
    changes.map(({ awaited }) => (awaited === null ? null : uuidOf(awaited))),
    changes.map(({ dueAtMs }) => (dueAtMs === null ? null : toTimestamp(dueAtMs))),
    changes.map(({ index }) => index),
    changes.map(({ plan }) => (plan === undefined ? null : JSON.stringify(plan))),
    changes.map(({ taken }) => (taken === undefined ? null : JSON.stringify([taken]))),
  ]);
}

const putStatement = {
  name: 'put-fallbacks',
  text: `insert into verification_fallback as f (verification_id, awaited, due_at, next_step, plan, taken)
    select id, awaited, due_at, next_step, coalesce(plan, '{}'), coalesce(taken, '[]')
    from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::smallint[], $5::jsonb[], $6::jsonb[])
      as c(id, awaited, due_at, next_step, plan, taken)
    on conflict (verification_id) do update set awaited = coalesce(excluded.awaited, f.awaited),
      due_at = excluded.due_at, next_step = excluded.next_step,
      plan = case when excluded.plan = '{}' then f.plan else excluded.plan end, taken = f.taken || excluded.taken`,
};

/** A start that sends again without a fallback ends the plan of an earlier one. */
export async function endPlans(tx: Tx, verificationIds: readonly string[]): Promise<void> {
  if (verificationIds.length === 0) return;
  await tx.query(
    `update verification_fallback set due_at = null where verification_id = any($1) and due_at is not null`,
    [verificationIds.map(uuidOf)],
  );
}

/** The steps of a verification, oldest first. */
export async function findTaken(tx: Tx, verificationId: string): Promise<TakenStep[]> {
  const { rows } = await tx.query<{ taken: TakenStep[] }>(
    'select taken from verification_fallback where verification_id = $1',
    [uuidOf(verificationId)],
  );
  return rows[0]?.taken ?? [];
}

/** Deletes some plans of verifications that began before a time. */
export async function deleteOldPlans(tx: Tx, beforeMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from verification_fallback where ctid = any(array(
       select ctid from verification_fallback where verification_id < $1 order by verification_id limit 1000))`,
    [uuidFloor(beforeMs)],
  );
  return count;
}
