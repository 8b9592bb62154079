import type { CountedRequest } from '../http/admission.ts';
import type { Api } from '../http/route.ts';
import { type Clock, dayMs, minuteMs, toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { fromTextRows, toTextRows } from '../platform/database/text-rows.ts';
import type { FieldProblem } from '../platform/errors.ts';
import { idFloor, idTimeMs } from '../platform/ids.ts';
import type { CountedRow } from '../platform/work/count-book.ts';
import { pieceRows } from '../platform/work/maintenance.ts';
import { traceRow } from './trace-row.ts';

export interface UsageKey {
  registrationId: string;
  applicationId: string;
  api: Api;
  minuteMs: number;
}

/** Where each count stands in the counts of a minute. `perMinute` is the highest limit that applied. */
export const usageColumns = { admitted: 0, refused: 1, perMinute: 2 } as const;

/** The key is registration, minute and book (`boot`); values are absolute: a batch that runs twice counts once. */
export async function insertUsage(tx: Tx, book: string, rows: CountedRow<UsageKey>[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(insertUsageStatement, [
    book,
    rows.map(({ key }) => key.registrationId),
    rows.map(({ key }) => toTimestamp(key.minuteMs)),
    rows.map(({ key }) => key.applicationId),
    rows.map(({ key }) => key.api),
    ...Object.values(usageColumns).map((index) => rows.map(({ counts }) => counts[index] ?? 0)),
  ]);
}

const insertUsageStatement = {
  name: 'insert-usage',
  text: `insert into usage_minute (boot, registration_id, minute, application_id, api, admitted, refused, per_minute)
    select $1, * from unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::integer[], $7::integer[],
      $8::integer[])
    on conflict (registration_id, minute, boot) do update set
      admitted = greatest(usage_minute.admitted, excluded.admitted),
      refused = greatest(usage_minute.refused, excluded.refused),
      per_minute = greatest(usage_minute.per_minute, excluded.per_minute)`,
};

const minutesKeptMs = 8 * dayMs;

/**
 * Sums some of the oldest minutes into hours. One statement deletes and inserts, so no minute is lost or counted twice.
 * Returns the number of minute rows.
 */
export async function rollUpUsage(tx: Tx, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ taken: number }>(
    `with old as (
       delete from usage_minute where ctid = any(array(
         select ctid from usage_minute where minute < $1 and boot <> '' order by minute limit $2))
       returning registration_id, date_bin('1 hour', minute, '2000-01-01Z') as hour, application_id, api, admitted, refused,
         per_minute)
     , added as (insert into usage_minute
       (boot, registration_id, minute, application_id, api, admitted, refused, per_minute)
     select '', registration_id, hour, application_id, api, sum(admitted), sum(refused), max(per_minute) from old
     group by registration_id, hour, application_id, api order by registration_id, hour
     on conflict (registration_id, minute, boot) do update set
       admitted = usage_minute.admitted + excluded.admitted, refused = usage_minute.refused + excluded.refused,
       per_minute = greatest(usage_minute.per_minute, excluded.per_minute))
     select count(*) as taken from old`,
    [toTimestamp(nowMs - minutesKeptMs), pieceRows],
  );
  return rows[0]?.taken ?? 0;
}

/** A request of an application and its response. `id` is the correlation id, which contains the time of the request. */
export interface RequestTrace {
  id: string;
  applicationId: string;
  api: Api;
  method: string;
  /** Null if no route matched: the path that the caller wrote is not kept. */
  path: string | null;
  status: number;
  code: string | null;
  /** Why it was refused, or else its outcome. */
  message: string | null;
  details: FieldProblem[];
  durationMs: number;
  admitted: boolean;
  limitPerMinute: number;
  remaining: number;
  retryAfterSeconds: number | null;
  refusedBy: string | null;
  recordId: string | null;
  /** Null unless it was sampled. */
  traceId: string | null;
}

export const newestPerApplication = 1000;
export const tracesKeptMs = dayMs;

export async function insertTraces(tx: Tx, requests: CountedRequest[]): Promise<void> {
  await tx.query(insertTracesStatement, toTextRows(requests.map(traceRow)));
}

const insertTracesStatement = {
  name: 'insert-traces',
  text: `insert into request_trace (id, application_id, api, method, path, status, code, message, details, duration_ms,
      admitted, limit_per_minute, remaining, retry_after_seconds, refused_by, record_id, trace_id)
    select c[1], c[2], c[3], c[4], c[5], c[6]::smallint, c[7], c[8], c[9]::jsonb, c[10]::real,
      c[11]::boolean, c[12]::integer, c[13]::integer, c[14]::integer, c[15], c[16], c[17]
    from ${fromTextRows()} t
    on conflict (application_id, id) do nothing`,
};

/** Deletes all but the newest traces of these applications. */
export async function pruneTraces(tx: Tx, applicationIds: string[]): Promise<void> {
  await tx.query(pruneStatement, [applicationIds, newestPerApplication]);
}

const pruneStatement = {
  name: 'prune-traces',
  text: `delete from request_trace t using unnest($1::text[]) as a(id)
    where t.application_id = a.id and t.id <= (
      select id from request_trace where application_id = a.id order by id desc offset $2 limit 1)`,
};

/**
 * Deletes traces older than a day, in batches: each checks some applications, in turn. Returns more than 0 until it has
 * seen all.
 */
export function createTraceDeletion(database: Database, clock: Clock): () => Promise<number> {
  let after = '';
  return async () => {
    const before = idFloor('req', clock.nowMs() - tracesKeptMs);
    const { rows } = await database.query<{ deleted: number; last: string | null; seen: number }>(deleteOldStatement, [
      after,
      before,
      pieceApplications,
      pieceRows,
    ]);
    const { deleted = 0, last = null, seen = 0 } = rows[0] ?? {};
    // After a full batch, check these applications again: some may have old traces left.
    if (deleted < pieceRows) after = seen < pieceApplications ? '' : (last ?? '');
    return after === '' ? deleted : Math.max(1, deleted);
  };
}

/** Checking this many takes some ten milliseconds. */
const pieceApplications = 1000;

/** The first entry of an application in the primary key says whether it has old ones. */
const deleteOldStatement = {
  name: 'delete-old-traces',
  text: `with recursive first as (
      (select application_id, id from request_trace where application_id > $1 order by application_id, id limit 1)
      union all
      select next.application_id, next.id from first, lateral (
        select application_id, id from request_trace where application_id > first.application_id
        order by application_id, id limit 1) next
    ), looked_at as materialized (select application_id, id from first limit $3)
    , old as materialized (
      select l.application_id, t.id from looked_at l, lateral (
        select id from request_trace where application_id = l.application_id and id < $2 order by id limit $4) t
      where l.id < $2 limit $4)
    , deleted as (
      delete from request_trace t using old where t.application_id = old.application_id and t.id = old.id returning 1)
    select (select count(*) from deleted) as deleted, (select count(*) from looked_at) as seen,
      (select max(application_id) from looked_at) as last`,
};

const traceColumns = `t.id, t.application_id as "applicationId", t.api, t.method, t.path, t.status, t.code, t.message,
  t.details, t.duration_ms as "durationMs", t.admitted, t.limit_per_minute as "limitPerMinute", t.remaining,
  t.retry_after_seconds as "retryAfterSeconds", t.refused_by as "refusedBy", t.record_id as "recordId",
  t.trace_id as "traceId"`;

/** Finds a request of one of these applications. */
export async function findTrace(
  tx: Tx,
  applicationIds: string[],
  id: string,
  nowMs: number,
): Promise<RequestTrace | undefined> {
  const { rows } = await tx.query<RequestTrace>(
    `select ${traceColumns} from request_trace t
     where t.id = $1 and t.id >= $2 and t.application_id = any($3)`,
    [id, idFloor('req', nowMs - tracesKeptMs), applicationIds],
  );
  return rows[0];
}

/** Maximum number of applications whose traces are searched for a request. */
const mostAsked = 20_000;

/** Finds the application of a request: tries those that had requests in its minute, or in the minute before or after. */
export async function findApplicationOfTrace(tx: Tx, id: string, nowMs: number): Promise<string | undefined> {
  const madeMs = idTimeMs(id);
  if (madeMs < nowMs - tracesKeptMs) return undefined;
  const minute = Math.floor(madeMs / minuteMs) * minuteMs;
  const { rows } = await tx.query<{ id: string }>(
    `select t.application_id as id from (
       select distinct application_id from (
         select application_id from usage_minute where boot <> '' and minute >= $2 and minute <= $3 limit $4) u) a
     cross join lateral (select application_id from request_trace where application_id = a.application_id and id = $1) t
     limit 1`,
    [id, toTimestamp(minute - minuteMs), toTimestamp(minute + minuteMs), mostAsked],
  );
  return rows[0]?.id ?? findUncounted(tx, id);
}

/** A 503 is not counted as usage, so this tries all applications that have traces. */
async function findUncounted(tx: Tx, id: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ id: string }>(
    `with recursive traced(id) as (
       (select application_id from request_trace order by application_id limit 1)
       union all
       select (select application_id from request_trace where application_id > traced.id order by application_id limit 1)
       from traced where traced.id is not null)
     select t.application_id as id from (select id from traced where id is not null limit $2) a
     cross join lateral (select application_id from request_trace where application_id = a.id and id = $1) t limit 1`,
    [id, mostAsked],
  );
  return rows[0]?.id;
}

export interface TraceFilter {
  api?: Api | undefined;
  /** The lowest and highest status, both included. */
  status?: { lowest: number; highest: number } | undefined;
}

export async function listTraces(
  tx: Tx,
  applicationId: string,
  page: { limit: number; after: string | undefined },
  nowMs: number,
  { api, status }: TraceFilter = {},
): Promise<RequestTrace[]> {
  const { rows } = await tx.query<RequestTrace>(
    `select ${traceColumns} from request_trace t
     where application_id = $1 and id >= $2 and ($3::text is null or id < $3)
       and ($5::text is null or api = $5) and ($6::integer is null or status between $6 and $7)
     order by id desc limit $4`,
    [
      applicationId,
      idFloor('req', nowMs - tracesKeptMs),
      page.after ?? null,
      page.limit,
      api ?? null,
      status?.lowest ?? null,
      status?.highest ?? null,
    ],
  );
  return rows;
}
