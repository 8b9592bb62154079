import { toTimestamp } from '../platform/clock.ts';
import type { Statement, Tx } from '../platform/database/database.ts';
import { fromTextRows } from '../platform/database/text-rows.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import { pieceRows } from '../platform/work/maintenance.ts';
import type { Message } from './message.ts';
import { messageInserts, messageRows } from './message-insert-store.ts';
import { segmentsOfDay } from './message-usage-store.ts';

/** An application's segments to count for today, and its maximum; both are whole numbers. */
export interface Spending {
  applicationId: string;
  segments: number;
  most: number;
}

/** Spend is counted by days of UTC. */
export function dayOf(nowMs: number): string {
  return toTimestamp(nowMs).slice(0, 10);
}

/** SQL for the alert that a count has reached. */
const alertOf = (segments: string, most: string) => `(case when ${segments} >= ${most} then 100
    when ${segments}::bigint * 100 >= ${most}::bigint * 80 then 80
    when ${segments}::bigint * 100 >= ${most}::bigint * 50 then 50 else 0 end)::smallint`;

/** SQL for the alert that was raised before; none if the limit has changed since. */
const alertedBefore = 'case when d.most = excluded.most then d.alerted else 0 end';

/**
 * Inserts the messages of all applications that have room for theirs today, and counts them, in one statement. Returns
 * the applications without room: none of their messages is inserted.
 */
export async function insertWithinSpend(
  tx: Tx,
  messages: Message[],
  spendings: Spending[],
  nowMs: number,
): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(insertWithinStatement, [
    ...messageRows(messages),
    ...columnsOf(spendings),
    dayOf(nowMs),
  ]);
  const spent = new Set(rows.map(({ id }) => fromUuid('app', id)));
  return new Set(spendings.map(({ applicationId }) => applicationId).filter((id) => !spent.has(id)));
}

/** Applications in the order of their ids, so that two batches never wait for each other in a circle. */
const insertWithinStatement: Statement = {
  name: 'insert-messages-within-spend',
  planOnce: true,
  text: `with spending as materialized (
      select * from unnest($6::uuid[], $7::integer[], $8::integer[]) as s(application_id, segments, most)
      order by application_id),
    spent as (
      insert into spend_day as d (application_id, day, segments, most, alerted)
      select application_id, $9::date, segments, most, ${alertOf('segments', 'most')} from spending
      where greatest(1, segments) <= most
      on conflict (application_id, day) do update set segments = d.segments + excluded.segments, most = excluded.most,
        alerted = greatest(${alertedBefore}, ${alertOf('(d.segments + excluded.segments)', 'excluded.most')})
        where d.segments + greatest(1, excluded.segments) <= excluded.most
      returning application_id),
    allowed as materialized (
      select place from ${fromTextRows(1)} m
      where c[2]::uuid in (select application_id from spent) or c[2]::uuid not in (select application_id from spending)),
    ${messageInserts(1, { only: 'allowed', mayExist: true })}
    select application_id as id from spent`,
};

/** Locks the segments that applications have spent today until the transaction ends, and returns them. */
export async function lockSpend(tx: Tx, limits: Omit<Spending, 'segments'>[], nowMs: number) {
  const { rows } = await tx.query<{ id: string; segments: number }>(lockStatement, [
    limits.map(({ applicationId }) => uuidOf(applicationId)),
    limits.map(({ most }) => most),
    dayOf(nowMs),
  ]);
  return new Map(rows.map(({ id, segments }) => [fromUuid('app', id), segments]));
}

const lockStatement = {
  name: 'lock-spend',
  text: `insert into spend_day as d (application_id, day, segments, most)
    select application_id, $3::date, 0, most from unnest($1::uuid[], $2::integer[]) as l(application_id, most)
    order by application_id
    on conflict (application_id, day) do update set most = excluded.most,
      alerted = greatest(${alertedBefore}, ${alertOf('d.segments', 'excluded.most')})
    returning application_id as id, segments`,
};

/** Counts segments of applications that have counted before today. `isFull` says that a text found no room. */
export async function addSpend(
  tx: Tx,
  added: { applicationId: string; segments: number; isFull?: boolean }[],
  nowMs: number,
): Promise<void> {
  if (added.length === 0) return;
  await tx.query(addStatement, [
    added.map(({ applicationId }) => uuidOf(applicationId)),
    added.map(({ segments }) => segments),
    added.map(({ isFull = false }) => isFull),
    dayOf(nowMs),
  ]);
}

const addStatement = {
  name: 'add-spend',
  text: `with added as materialized (
      select * from unnest($1::uuid[], $2::integer[], $3::boolean[]) as a(application_id, segments, is_full)),
    held as materialized (
      select application_id from spend_day where day = $4::date and application_id = any($1::uuid[])
      order by application_id for update)
    update spend_day d set segments = d.segments + a.segments,
      alerted = greatest(d.alerted, case when a.is_full then 100 else ${alertOf('(d.segments + a.segments)', 'd.most')} end)
    from added a join held using (application_id)
    where d.application_id = a.application_id and d.day = $4::date`,
};

/** Records that an operator has changed the limit of an application, so that its alert uses the new one. */
export async function noteLimit(tx: Tx, applicationId: string, most: number, nowMs: number): Promise<void> {
  await tx.query(
    `update spend_day set most = $3, alerted = ${alertOf('segments', '$3::integer')}
     where application_id = $1 and day = $2::date`,
    [uuidOf(applicationId), dayOf(nowMs), most],
  );
}

/**
 * Counts the segments that an application has sent today, when it gets a limit. Concurrent texts lock the same row, so
 * each counts once. A second call adds texts that nodes accepted before they knew the limit.
 */
export async function beginSpend(tx: Tx, applicationId: string, most: number, nowMs: number): Promise<void> {
  await lockSpend(tx, [{ applicationId, most }], nowMs);
  const segments = Math.min(mostSegments, await segmentsOfDay(tx, applicationId, nowMs));
  await tx.query(
    'update spend_day set segments = greatest(segments, $3) where application_id = $1 and day = $2::date',
    [uuidOf(applicationId), dayOf(nowMs), segments],
  );
  await noteLimit(tx, applicationId, most, nowMs);
}

/** Less than its column can hold, so that there is room for more texts. */
const mostSegments = 2_000_000_000;

/** The segments of today: counted in a row if there is a limit, else summed up from the texts. */
export function readSegmentsToday(tx: Tx, applicationId: string, limit: number | null, nowMs: number): Promise<number> {
  return limit === null ? segmentsOfDay(tx, applicationId, nowMs) : readSpend(tx, applicationId, nowMs);
}

/** The segments that an application with a limit has spent today. */
export async function readSpend(tx: Tx, applicationId: string, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ segments: number }>(readStatement, [uuidOf(applicationId), dayOf(nowMs)]);
  return rows[0]?.segments ?? 0;
}

const readStatement = {
  name: 'read-spend',
  text: 'select segments from spend_day where application_id = $1 and day = $2::date',
};

/** Applications that have used at least 50 % of their segments of today, highest first. */
export async function readSpendAlerts(tx: Tx, nowMs: number, limit: number): Promise<SpendAlert[]> {
  const { rows } = await tx.query<SpendAlert>(
    `select application_id as "applicationId", alerted as percent, segments, most from spend_day
     where day = $1::date and alerted > 0 order by alerted desc, application_id limit $2`,
    [dayOf(nowMs), limit],
  );
  return rows.map((row) => ({ ...row, applicationId: fromUuid('app', row.applicationId) }));
}

export interface SpendAlert {
  applicationId: string;
  /** 50, 80 or 100. */
  percent: number;
  segments: number;
  most: number;
}

/** Deletes a batch of rows of earlier days. */
export async function deleteOldSpend(tx: Tx, beforeMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from spend_day where ctid = any(array(
       select ctid from spend_day where day < $1::date order by day limit $2))`,
    [dayOf(beforeMs), pieceRows],
  );
  return count;
}

function columnsOf(spendings: Spending[]): unknown[] {
  return [
    spendings.map(({ applicationId }) => uuidOf(applicationId)),
    spendings.map(({ segments }) => segments),
    spendings.map(({ most }) => most),
  ];
}
