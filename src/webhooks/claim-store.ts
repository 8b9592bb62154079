import { toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import { type ClaimedLease, isFree, newClaim } from './lease-store.ts';
import { laneOf, quickWithinMs } from './pace.ts';
import type { Seeker } from './shares.ts';
import { callable } from './store.ts';

/** A webhook with undelivered events that no worker holds. */
export interface ReadyWebhook extends Seeker {
  /** The webhook. */
  endpoint: string;
  /** Its application (uuid). */
  listenerId: string;
}

export interface ReadyOptions {
  nowMs: number;
  /** The position up to which events can be read. */
  horizon: number;
  /** Applications (uuids) that may have new events. */
  withEvents: readonly string[];
  /** The ids of more webhooks to check (uuids). */
  others: readonly string[];
}

/** The next webhooks (uuids) in the order of their ids. */
export async function findInTurn(tx: Tx, after: string | undefined, limit: number): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select webhook_id as id from webhook_course where $1::uuid is null or webhook_id > $1 order by webhook_id limit $2`,
    [after, limit],
  );
  return rows.map(({ id }) => id);
}

/** Maximum webhooks that one poll finds. */
export const mostReady = 1000;

/**
 * Finds webhooks with undelivered events: by applications with new events, by due time, and among the others given. The
 * order takes one webhook of each account, longest unserved first, then the second of each, and so on.
 */
export async function findReady(database: Database, options: ReadyOptions): Promise<ReadyWebhook[]> {
  const { nowMs, horizon, withEvents, others } = options;
  const { rows } = await database.query<ReadyRow>(readyStatement, [toTimestamp(nowMs), horizon, withEvents, others]);
  return rows.map(({ webhookId, failures, latencyMs, ...row }) => ({
    ...row,
    endpoint: fromUuid('whk', webhookId),
    lane: laneOf({ failures, latencyMs }),
  }));
}

interface ReadyRow {
  webhookId: string;
  listenerId: string;
  account: string;
  failures: number;
  latencyMs: number | null;
}

const readyStatement = {
  name: 'find-ready-webhooks',
  text: `with candidate as materialized (
      select webhook_id from webhook_course where listener_id = any($3::uuid[])
      union (select webhook_id from webhook_course c where due_at <= $1 and ${isFree} order by due_at limit ${mostReady})
      union select unnest($4::uuid[])),
    ready as materialized (
      select c.webhook_id, c.listener_id, a.account_id, c.failures, c.latency_ms, c.claimed_at from candidate l
      join webhook_course c on c.webhook_id = l.webhook_id
      join ${callable} on w.id = c.webhook_id
      where w.status = 'active' and ${isFree}
        and (c.due_at <= $1 or ((c.rests_until is null or c.rests_until <= $1)
          and exists (select from event e
            where e.application_id = c.listener_id and e.position > c.position and e.position <= $2)))),
    in_line as (
      select *, row_number() over (partition by account_id, failures > 0 or latency_ms > ${quickWithinMs}
        order by claimed_at nulls first, webhook_id) as rank from ready)
    select webhook_id as "webhookId", listener_id as "listenerId", account_id as account, failures, latency_ms as "latencyMs"
    from in_line order by rank, claimed_at nulls first, webhook_id limit ${mostReady}`,
};

/** Claims the webhooks that no other worker has claimed meanwhile. */
export async function claimLeases(database: Database, webhookIds: string[]): Promise<ClaimedLease[]> {
  if (webhookIds.length === 0) return [];
  const { rows } = await database.query<ClaimedLease>(claimStatement, [webhookIds.map(uuidOf)]);
  return rows.map(({ webhookId, ...row }) => ({ ...row, webhookId: fromUuid('whk', webhookId) }));
}

const claimStatement = {
  name: 'claim-webhooks',
  text: `with free as materialized (
      select c.webhook_id from webhook_course c where c.webhook_id = any($1::uuid[]) and ${isFree}
      for update of c skip locked)
    update webhook_course c set ${newClaim}
    from free f where c.webhook_id = f.webhook_id
    returning c.webhook_id as "webhookId", c.claim, c.position,
      (select max(d.position) from webhook_delivery d where d.webhook_id = c.webhook_id and d.position > c.position)
        as "deliveredTo",
      c.calls, c.failures, c.failing_since as "failingSinceMs", c.last_success_at as "lastSuccessAtMs",
      c.rests_until as "restsUntilMs", c.latency_ms as "latencyMs"`,
};
