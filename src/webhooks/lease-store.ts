import { timestampOrNull, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import { statusCode, storedAttempts } from './delivery-store.ts';
import type { Health } from './pace.ts';
import type { Delivery } from './webhook.ts';

/** By the clock of the database, which all nodes share. A worker renews its lease every two seconds. */
export const leaseMs = 5000;
const leasedFromNow = `now() + interval '${leaseMs} milliseconds'`;
/** SQL: no worker holds the lease `c`. */
export const isFree = '(c.leased_until is null or c.leased_until <= now())';
/** SQL: a worker holds the lease `c` and was asked to give it back. */
export const isAskedBack = '(c.asked_back and c.leased_until > now())';
/**
 * SQL: asks the worker that holds the lease `c` to give it back. If none holds it, raises the fence, so that a late record
 * of an earlier claim is refused.
 */
export const backToUs = `asked_back = c.leased_until is not null, claim = c.claim + case when ${isFree} then 1 else 0 end`;
/** SQL: forgets the failures of the lease `c`. */
export const withoutFailures = 'failures = 0, failing_since = null, rests_until = null';
/** SQL: a worker claims the lease `c`. */
export const newClaim = `claim = c.claim + 1, leased_until = ${leasedFromNow}, asked_back = false, claimed_at = now()`;

/** A webhook that a worker has claimed. Its settings are read after the claim, so that they are current. */
export interface ClaimedLease extends Health {
  webhookId: string;
  /** The fence: each claim has a higher number, and records with an older one are refused. */
  claim: number;
  position: number;
  /** The newest event beyond `position` that has a delivery already; null if there is none. */
  deliveredTo: number | null;
  calls: number;
}

/** The work of a lease since its last record. */
export interface LeaseProgress extends Health {
  webhookId: string;
  claim: number;
  /** Every event up to here has a delivery, including these. */
  position: number;
  deliveries: Delivery[];
  /** How many requests to make the webhook due the worker has handled. */
  calls: number;
  /** Ends the lease, so that the next worker can claim it. */
  giveBack: boolean;
  nowMs: number;
}

export interface Recorded {
  askedBack: boolean;
  calls: number;
}

/** SQL: a change that asks the lease back may reset the failures, and the worker must not bring back older ones. */
const unlessReset = (column: string, value: string) =>
  `${column} = case when c.asked_back and c.failing_since is null then c.${column} else ${value} end`;

/** Records deliveries and renews the lease. Returns undefined, and records nothing, if another worker has the claim. */
export async function recordProgress(tx: Tx, progress: LeaseProgress): Promise<Recorded | undefined> {
  const { webhookId, claim, position, deliveries, calls, giveBack, nowMs } = progress;
  const waiting = deliveries.flatMap(({ nextAttemptAtMs }) => nextAttemptAtMs ?? []);
  const { rows } = await tx.query<Recorded>(recordStatement, [
    uuidOf(webhookId),
    claim,
    position,
    giveBack,
    calls,
    toTimestamp(nowMs),
    waiting.length === 0 ? null : toTimestamp(Math.min(...waiting)),
    progress.failures,
    timestampOrNull(progress.restsUntilMs),
    timestampOrNull(progress.failingSinceMs),
    timestampOrNull(progress.lastSuccessAtMs),
    deliveries.map((each) => each.position),
    deliveries.map(({ status }) => statusCode(status)),
    deliveries.map(({ attemptCount }) => attemptCount),
    deliveries.map(({ attempts }) => storedAttempts(attempts)),
    deliveries.map(({ nextAttemptAtMs }) => timestampOrNull(nextAttemptAtMs)),
    progress.latencyMs,
  ]);
  return rows[0];
}

/**
 * A lease that is given back gets its next due time. The statement cannot see its own rows, so `$7` is the earliest of
 * them. If a request made the webhook due meanwhile, it is due now.
 */
const recordStatement = {
  name: 'record-webhook-progress',
  text: `with mine as (
      update webhook_course c set position = greatest(c.position, $3),
        leased_until = case when $4::boolean then null when c.asked_back then c.leased_until else ${leasedFromNow} end,
        due_at = case when not $4::boolean then least(c.due_at, $7)
          when c.calls <> $5 or exists (select from webhook_replay r where r.webhook_id = $1) then $6::timestamptz
          else least($7, (select min(d.next_attempt_at) from webhook_delivery d
            where d.webhook_id = $1 and d.next_attempt_at is not null)) end,
        ${unlessReset('failures', '$8')}, ${unlessReset('rests_until', '$9')}, ${unlessReset('failing_since', '$10')},
        last_success_at = $11, latency_ms = $17
      where c.webhook_id = $1 and c.claim = $2
      returning c.asked_back, c.calls),
    written as (
      insert into webhook_delivery (webhook_id, position, status, attempt_count, attempts, next_attempt_at)
      select $1, r.position, r.status, r.attempt_count, r.attempts::jsonb, r.next_attempt_at
      from mine cross join unnest($12::bigint[], $13::smallint[], $14::smallint[], $15::text[], $16::timestamptz[])
        as r(position, status, attempt_count, attempts, next_attempt_at)
      on conflict (webhook_id, position) do update set status = excluded.status, attempt_count = excluded.attempt_count,
        attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at)
    select asked_back as "askedBack", calls from mine`,
};

/** Claims that the worker must give up: the webhook was changed, or another worker has the claim. */
export async function findAskedBack(tx: Tx, held: Pick<ClaimedLease, 'webhookId' | 'claim'>[]): Promise<Set<string>> {
  if (held.length === 0) return new Set();
  const { rows } = await tx.query<{ webhookId: string }>(
    `select h.webhook_id as "webhookId" from unnest($1::uuid[], $2::bigint[]) as h(webhook_id, claim)
     left join webhook_course c on c.webhook_id = h.webhook_id
     where c.webhook_id is null or c.asked_back or c.claim <> h.claim`,
    [held.map(({ webhookId }) => uuidOf(webhookId)), held.map(({ claim }) => claim)],
  );
  return new Set(rows.map(({ webhookId }) => fromUuid('whk', webhookId)));
}

/**
 * In the transaction of a change: the worker that holds the webhook must give it back, and later claims read the new
 * settings. Locks the row in any case, so that a claim comes before or after the change.
 */
export async function askBack(tx: Tx, webhookId: string): Promise<void> {
  await tx.query(`update webhook_course c set ${backToUs} where c.webhook_id = $1`, [uuidOf(webhookId)]);
}

/** In the transaction of a change. Returns false if there were no failures. */
export async function forgetFailures(tx: Tx, webhookId: string): Promise<boolean> {
  const { count } = await tx.query(
    `update webhook_course c set ${withoutFailures}, ${backToUs} where c.webhook_id = $1 and c.failing_since is not null`,
    [uuidOf(webhookId)],
  );
  return count > 0;
}

/** Whether a worker still holds a lease that it was asked to give back. */
export async function isHeld(tx: Tx, webhookId: string): Promise<boolean> {
  const values = [uuidOf(webhookId)];
  const { count } = await tx.query(`select from webhook_course c where c.webhook_id = $1 and ${isAskedBack}`, values);
  return count > 0;
}

/** Keeps the claim until the transaction ends. Returns false if another worker has it. */
export async function lockClaim(
  tx: Tx,
  { webhookId, claim }: Pick<ClaimedLease, 'webhookId' | 'claim'>,
): Promise<boolean> {
  const values = [uuidOf(webhookId), claim];
  const found = await tx.query('select from webhook_course where webhook_id = $1 and claim = $2 for update', values);
  return found.count > 0;
}

/** Makes the webhook due, because a request has queued a delivery. */
export async function makeDue(tx: Tx, webhookId: string, nowMs: number): Promise<void> {
  await tx.query(
    'update webhook_course set calls = (calls + 1) % 1000000000, due_at = least(due_at, $2) where webhook_id = $1',
    [uuidOf(webhookId), toTimestamp(nowMs)],
  );
}

export async function hasActive(tx: Tx): Promise<boolean> {
  const { count } = await tx.query(`select from webhook where status = 'active' limit 1`);
  return count > 0;
}

/** Wakes the workers of all nodes when the transaction commits. */
export async function notifyWorkers(tx: Tx): Promise<void> {
  await tx.query('select pg_notify($1, $2)', [webhookChannel, '']);
}

/** Postgres NOTIFY channel: webhooks were changed, or have undelivered events. */
export const webhookChannel = 'heliograph_webhooks';
