import { type EventType, eventTypes, typeCode } from '../events/event.ts';
import { newestPosition } from '../events/position.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import { hopelessAfterMs } from './pace.ts';
import { mostWebhooks, type Webhook, type WebhookStatus } from './webhook.ts';

interface WebhookRow extends Omit<Webhook, 'id' | 'types'> {
  id: string;
  types: number[];
}

const columns = `w.id, w.application_id as "applicationId", w.url, w.types, w.description, w.status,
  w.disabled_reason as "disabledReason", w.disabled_at as "disabledAtMs", w.created_at as "createdAtMs",
  w.updated_at as "updatedAtMs", c.failing_since as "failingSinceMs", c.last_success_at as "lastSuccessAtMs"`;
const withLease = 'webhook w join webhook_course c on c.webhook_id = w.id';
/** Webhooks that may be called: those of a disabled account wait until it is enabled. */
export const callable = `(webhook w join application a on a.id = w.application_id
      join account o on o.id = a.account_id and o.disabled_at is null)`;

export function toTypes(codes: number[]): EventType[] {
  return codes.flatMap((code) => eventTypes[code] ?? []);
}

function toWebhook({ id, types, ...row }: WebhookRow): Webhook {
  return { ...row, id: fromUuid('whk', id), types: toTypes(types) };
}

/** Oldest first, without those being deleted. */
export async function listWebhooks(tx: Tx, applicationId: string, limit: number): Promise<Webhook[]> {
  const { rows } = await tx.query<WebhookRow>(
    `select ${columns} from ${withLease} where w.application_id = $1 and w.status <> 'deleting' order by w.id limit $2`,
    [applicationId, limit],
  );
  return rows.map(toWebhook);
}

/** Those of several applications, oldest first. */
export async function listWebhooksOf(tx: Tx, applicationIds: readonly string[]): Promise<Webhook[]> {
  const { rows } = await tx.query<WebhookRow>(
    `select ${columns} from ${withLease} where w.application_id = any($1::text[]) and w.status <> 'deleting'
     order by w.id limit $2`,
    [applicationIds, applicationIds.length * mostWebhooks],
  );
  return rows.map(toWebhook);
}

export async function findWebhook(tx: Tx, applicationId: string, id: string): Promise<Webhook | undefined> {
  const { rows } = await tx.query<WebhookRow>(
    `select ${columns} from ${withLease} where w.id = $2 and w.application_id = $1 and w.status <> 'deleting'`,
    [applicationId, uuidOf(id)],
  );
  return rows.map(toWebhook)[0];
}

/**
 * Changes of one webhook run one at a time. `share`: no change of the webhook can commit before the transaction ends.
 */
export async function lockWebhook(
  tx: Tx,
  applicationId: string,
  id: string,
  strength: 'update' | 'share' = 'update',
): Promise<boolean> {
  const { count } = await tx.query(
    `select from webhook where id = $2 and application_id = $1 and status <> 'deleting' for ${strength}`,
    [applicationId, uuidOf(id)],
  );
  return count > 0;
}

export type InsertedWebhook = Pick<Webhook, 'id' | 'applicationId' | 'url' | 'types' | 'description' | 'createdAtMs'>;

/** The webhook gets events from the next one on. */
export async function insertWebhook(tx: Tx, webhook: InsertedWebhook): Promise<void> {
  const { id, applicationId, url, types, description, createdAtMs } = webhook;
  await tx.query(
    `with made as (
       insert into webhook (id, application_id, listener_id, url, types, description, status, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, 'active', $7, $7) returning id, listener_id)
     insert into webhook_course (webhook_id, listener_id, position)
     select id, listener_id, ${newestPosition} from made`,
    [uuidOf(id), applicationId, uuidOf(applicationId), url, types.map(typeCode), description, toTimestamp(createdAtMs)],
  );
}

export interface StoredChange {
  url: string | undefined;
  types: EventType[] | undefined;
  /** Undefined: unchanged. Null: none. */
  description: string | null | undefined;
  status: WebhookStatus | undefined;
}

export async function updateWebhook(tx: Tx, id: string, change: StoredChange, nowMs: number): Promise<void> {
  const { url, types, description, status } = change;
  await tx.query(
    `update webhook set url = coalesce($2, url), types = coalesce($3, types),
       description = case when $4 then $5 else description end, status = coalesce($6, status),
       disabled_reason = case when $6 is null then disabled_reason end,
       disabled_at = case when $6 is null then disabled_at end, updated_at = $7
     where id = $1`,
    [
      uuidOf(id),
      url ?? null,
      types?.map(typeCode) ?? null,
      description !== undefined,
      description ?? null,
      status ?? null,
      toTimestamp(nowMs),
    ],
  );
}

/**
 * Restarts with the next event, without failures and replays. A worker that still has the claim can record nothing more, so
 * it revives no delivery.
 */
export async function restartFromNewest(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `update webhook_course set position = greatest(position, ${newestPosition}), claim = claim + 1, failures = 0,
       failing_since = null, rests_until = null where webhook_id = $1`,
    [uuidOf(id)],
  );
  await tx.query('delete from webhook_replay where webhook_id = $1', [uuidOf(id)]);
}

/** From now on no list shows it, and no worker claims it. */
export async function markDeleting(tx: Tx, id: string, nowMs: number): Promise<void> {
  await tx.query(`update webhook set status = 'deleting', updated_at = $2 where id = $1`, [
    uuidOf(id),
    toTimestamp(nowMs),
  ]);
}

export async function deleteWebhook(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from webhook where id = $1', [uuidOf(id)]);
}

/** Deletes webhooks whose deletion was interrupted by a crash. Returns their number. */
export async function deleteLeftOver(tx: Tx, beforeMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from webhook where id = any(array(
       select id from webhook where status = 'deleting' and updated_at < $1 limit 100))`,
    [toTimestamp(beforeMs)],
  );
  return count;
}

export async function findApplicationOf(tx: Tx, id: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ applicationId: string }>(
    'select application_id as "applicationId" from webhook where id = $1',
    [uuidOf(id)],
  );
  return rows[0]?.applicationId;
}

/** Locks the webhook, and returns its application; undefined if there is none. */
export async function lockForDisabling(tx: Tx, id: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ applicationId: string }>(
    'select application_id as "applicationId" from webhook where id = $1 for update',
    [uuidOf(id)],
  );
  return rows[0]?.applicationId;
}

/** `url`: the address that answered 410. If the webhook has another address by now, it is not disabled. */
export type Disabling = { reason: 'gone'; url: string } | { reason: 'no_success' };

/** Returns false if it is no longer active, or if a change has removed the reason. */
export async function disableWebhook(tx: Tx, id: string, disabling: Disabling, nowMs: number): Promise<boolean> {
  const { reason } = disabling;
  const url = disabling.reason === 'gone' ? disabling.url : null;
  const { count } = await tx.query(
    `update webhook w set status = 'disabled', disabled_reason = $2, disabled_at = $3, updated_at = $3
     where w.id = $1 and w.status = 'active' and case when $4::text is not null then w.url = $4
       else exists (select from ${callable} join webhook_course c on c.webhook_id = w.id
         where w.id = $1 and c.failing_since <= $5) end`,
    [uuidOf(id), reason, toTimestamp(nowMs), url, toTimestamp(nowMs - hopelessAfterMs)],
  );
  return count > 0;
}

/** Active webhooks that have failed for too long and have undelivered events. */
export async function findHopeless(tx: Tx, nowMs: number): Promise<{ id: string }[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select w.id from ${callable} join webhook_course c on c.webhook_id = w.id
     where w.status = 'active' and c.failing_since <= $1 and c.due_at is not null limit 100`,
    [toTimestamp(nowMs - hopelessAfterMs)],
  );
  return rows.map(({ id }) => ({ id: fromUuid('whk', id) }));
}

/** Where a worker sends events. */
export interface WebhookTarget {
  id: string;
  applicationId: string;
  url: string;
  types: EventType[];
}

/** The active ones of these webhooks, unless their account is disabled. */
export async function findTargets(tx: Tx, ids: string[]): Promise<WebhookTarget[]> {
  const { rows } = await tx.query<Omit<WebhookTarget, 'types'> & { types: number[] }>(targetStatement, [
    ids.map(uuidOf),
  ]);
  return rows.map(({ id, types, ...row }) => ({ ...row, id: fromUuid('whk', id), types: toTypes(types) }));
}

const targetStatement = {
  name: 'find-webhook-targets',
  text: `select w.id, w.application_id as "applicationId", w.url, w.types from ${callable}
    where w.id = any($1::uuid[]) and w.status = 'active'`,
};
