import { positionDays } from '../events/event-store.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import type { PartitionedTable } from '../platform/database/partitions.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import { type Attempt, attemptsKept, type Delivery, type DeliveryStatus, deliveryStatuses } from './webhook.ts';

export const deliveryTable: PartitionedTable = { name: 'webhook_delivery', key: 'position', spans: positionDays };

export function statusCode(status: DeliveryStatus): number {
  return deliveryStatuses.indexOf(status);
}

/** An attempt as it is stored: time, status code, milliseconds, error. */
type StoredAttempt = [timeMs: number, statusCode: number | null, milliseconds: number, error: string | null];

interface DeliveryRow {
  webhookId: string;
  position: number;
  status: number;
  attemptCount: number;
  attempts: StoredAttempt[];
  nextAttemptAtMs: number | null;
}

const columns = `d.webhook_id as "webhookId", d.position, d.status, d.attempt_count as "attemptCount", d.attempts,
  d.next_attempt_at as "nextAttemptAtMs"`;

export function toDelivery({ webhookId, status, attempts, ...row }: DeliveryRow): Delivery {
  return {
    ...row,
    webhookId: fromUuid('whk', webhookId),
    status: deliveryStatuses[status] ?? 'waiting',
    attempts: attempts.map(([timeMs, statusCode, milliseconds, error]) => ({
      timeMs,
      statusCode,
      milliseconds,
      error,
    })),
  };
}

export function storedAttempts(attempts: Attempt[]): string {
  const kept = attempts.slice(-attemptsKept);
  return JSON.stringify(
    kept.map(({ timeMs, statusCode, milliseconds, error }): StoredAttempt => [timeMs, statusCode, milliseconds, error]),
  );
}

/** Maximum rows that a request reads, even if none of them matches its filter. */
const mostRead = 1000;

export interface DeliveryPage {
  deliveries: Delivery[];
  /** The position at which the search stopped before the page was full; undefined at the end. */
  searchedTo: number | undefined;
}

/** Newest event first. */
export async function listDeliveries(
  tx: Tx,
  webhookId: string,
  status: DeliveryStatus | undefined,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<DeliveryPage> {
  const { rows } = await tx.query<DeliveryRow>(
    `select ${columns} from webhook_delivery d where d.webhook_id = $1 and d.position < $2
     order by d.position desc limit $3`,
    [uuidOf(webhookId), before ?? Number.MAX_SAFE_INTEGER, status === undefined ? limit : mostRead],
  );
  const found = status === undefined ? rows : rows.filter((row) => row.status === statusCode(status));
  const isEnd = status === undefined || found.length >= limit || rows.length < mostRead;
  return { deliveries: found.slice(0, limit).map(toDelivery), searchedTo: isEnd ? undefined : rows.at(-1)?.position };
}

/** The deliveries of these events, for each webhook that got them. */
export async function findDeliveries(tx: Tx, webhookIds: string[], positions: number[]): Promise<Delivery[]> {
  if (webhookIds.length === 0 || positions.length === 0) return [];
  const { rows } = await tx.query<DeliveryRow>(
    `select ${columns} from webhook_delivery d
     where d.webhook_id = any($1::uuid[]) and d.position = any($2::bigint[]) order by d.position, d.webhook_id`,
    [webhookIds.map(uuidOf), positions],
  );
  return rows.map(toDelivery);
}

/** Deliveries whose next attempt is due, the longest due first. */
export async function findDue(tx: Tx, webhookId: string, nowMs: number, limit: number): Promise<DueDelivery[]> {
  const { rows } = await tx.query<DeliveryRow & { replayed: boolean }>(dueStatement, [
    uuidOf(webhookId),
    toTimestamp(nowMs),
    limit,
  ]);
  return rows.map(({ replayed, ...row }) => ({ delivery: toDelivery(row), isReplayed: replayed }));
}

export interface DueDelivery {
  delivery: Delivery;
  /** A replay has queued it, whatever the types of the webhook are. */
  isReplayed: boolean;
}

const dueStatement = {
  name: 'find-due-webhook-deliveries',
  text: `select ${columns}, d.replayed from webhook_delivery d where d.webhook_id = $1 and d.next_attempt_at <= $2
    order by d.next_attempt_at limit $3`,
};

/** Ends waiting deliveries of a webhook that was disabled. Returns their number, at most the limit. */
export async function endWaiting(tx: Tx, webhookId: string, nowMs: number, limit: number): Promise<number> {
  const { count } = await tx.query(
    `update webhook_delivery d set status = ${statusCode('failed')}, next_attempt_at = null,
       attempts = case when jsonb_array_length(d.attempts) < ${attemptsKept} then d.attempts else d.attempts - 0 end
         || jsonb_build_array(jsonb_build_array($2::bigint, null, 0, 'The webhook was disabled.'))
     where d.webhook_id = $1 and d.position = any(array(
       select position from webhook_delivery where webhook_id = $1 and next_attempt_at is not null limit $3))`,
    [uuidOf(webhookId), nowMs, limit],
  );
  return count;
}

/** Events of the span that already have a delivery. */
export async function findDelivered(tx: Tx, webhookId: string, after: number, upTo: number): Promise<Set<number>> {
  const { rows } = await tx.query<{ position: number }>(
    'select position from webhook_delivery where webhook_id = $1 and position > $2 and position <= $3',
    [uuidOf(webhookId), after, upTo],
  );
  return new Set(rows.map(({ position }) => position));
}

/** Makes events due now, with a new schedule. Earlier attempts remain listed. */
export async function queueAgain(tx: Tx, webhookId: string, positions: number[], nowMs: number): Promise<void> {
  await tx.query(
    `insert into webhook_delivery as d (webhook_id, position, status, attempt_count, next_attempt_at, replayed)
     select $1, position, ${statusCode('waiting')}, 0, $3, true from unnest($2::bigint[]) position
     on conflict (webhook_id, position) do update
     set status = excluded.status, attempt_count = 0, next_attempt_at = excluded.next_attempt_at, replayed = true`,
    [uuidOf(webhookId), positions, toTimestamp(nowMs)],
  );
}
