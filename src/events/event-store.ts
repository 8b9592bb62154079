// Tests: test/contract/event-feed.test.ts, test/contract/portal-events.test.ts
import { type Api, apiNames } from '../http/route.ts';
import { dayMs, toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import type { PartitionedTable, PartitionSpans } from '../platform/database/partitions.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import { pieceRows } from '../platform/work/maintenance.ts';
import { type EventType, eventTypes, type StoredEvent, subjectPrefix, typeCode } from './event.ts';
import { dayOf, firstOfDay } from './position.ts';

/** For tables whose key is a position. */
export const positionDays: PartitionSpans = {
  letter: 'd',
  lengthMs: dayMs,
  ahead: 3,
  firstKey: (ms) => String(firstOfDay(dayOf(ms))),
};

export const eventTable: PartitionedTable = { name: 'event', key: 'position', spans: positionDays };

/** Events of one application between two positions. */
export interface EventSpan {
  applicationId: string;
  /** The last position that was read. */
  after: number;
  /** The horizon: after it, events may still be missing. */
  upTo: number;
}

export interface EventFilter {
  api?: Api | undefined;
  /** Undefined: all. */
  types?: readonly EventType[] | undefined;
  /** The id of a record. */
  subject?: string | undefined;
}

export interface EventPage {
  events: StoredEvent[];
  /** The position up to which the span was read. Less than its end if there is more. */
  readTo: number;
}

/** Maximum events that a request reads, even if none of them matches its filter. */
const mostRead = 2000;

/** The first events of the span that match, oldest first, and the position up to which it was read. */
export async function readEvents(tx: Tx, span: EventSpan, filter: EventFilter, limit: number): Promise<EventPage> {
  const { applicationId, after, upTo } = span;
  if (after >= upTo) return { events: [], readTo: after };
  const { api, types, subject } = filter;
  const values = [
    uuidOf(applicationId),
    after,
    upTo,
    mostRead,
    api === undefined ? null : apiNames.indexOf(api),
    types === undefined ? null : types.map(typeCode),
    limit,
  ];
  const { rows } = await (subject === undefined
    ? tx.query<EventRow & { readTo: string }>(readStatement, values)
    : tx.query<EventRow & { readTo: string }>(readSubjectStatement, [...values, uuidOf(subject)]));
  return { events: rows.flatMap(toEvents), readTo: Number(rows[0]?.readTo ?? after) };
}

/** The last events of the span that match, oldest first. It reads a bounded number from `readTo` on. */
export async function readLastEvents(tx: Tx, span: EventSpan, filter: EventFilter, limit: number): Promise<EventPage> {
  const { applicationId, after, upTo } = span;
  if (after >= upTo) return { events: [], readTo: after };
  const { api, types, subject } = filter;
  const { rows } = await tx.query<EventRow & { readTo: string }>(lastStatement, [
    uuidOf(applicationId),
    after,
    upTo,
    mostRead,
    api === undefined ? null : apiNames.indexOf(api),
    types === undefined ? null : types.map(typeCode),
    limit,
    subject === undefined ? null : uuidOf(subject),
  ]);
  return { events: rows.flatMap(toEvents), readTo: Number(rows[0]?.readTo ?? after) };
}

/** The next events of several applications together, oldest first, at most `limit`. */
export async function readNewEvents(
  tx: Tx,
  applicationIds: string[],
  { after, upTo }: Omit<EventSpan, 'applicationId'>,
  limit: number,
): Promise<EventPage> {
  if (after >= upTo || applicationIds.length === 0) return { events: [], readTo: Math.max(after, upTo) };
  const { rows } = await tx.query<EventRow>(newStatement, [applicationIds.map(uuidOf), after, upTo, limit]);
  const events = rows.flatMap(toEvents);
  return { events, readTo: events.length < limit ? upTo : (events.at(-1)?.position ?? upTo) };
}

export function matchesFilter(filter: EventFilter, event: Pick<StoredEvent, 'api' | 'type' | 'subject'>): boolean {
  const { api, types, subject } = filter;
  return (
    (api === undefined || api === event.api) &&
    (types === undefined || types.includes(event.type)) &&
    (subject === undefined || subject === event.subject)
  );
}

/** The events at these positions, oldest first. */
export async function findEvents(tx: Tx, applicationId: string, positions: number[]): Promise<StoredEvent[]> {
  if (positions.length === 0) return [];
  const { rows } = await tx.query<EventRow>(findStatement, [uuidOf(applicationId), positions]);
  return rows.flatMap(toEvents);
}

/** The applications (uuids) that have events between two positions. */
export async function findWithEvents(database: Database, span: Pick<EventSpan, 'after' | 'upTo'>): Promise<string[]> {
  const { after, upTo } = span;
  if (after >= upTo) return [];
  return database.transaction(async (tx) => {
    await tx.query(byOrder);
    const { rows } = await tx.query<{ id: string }>(withEventsStatement, [after, upTo]);
    return rows.map(({ id }) => id);
  });
}

/** The index `event_order` is a BRIN index: Postgres reads the few pages that can hold new events. */
const byOrder = `set local enable_bitmapscan = on; set local enable_indexscan = off; set local enable_indexonlyscan = off`;
const withEventsStatement = 'select distinct application_id as id from event where position > $1 and position <= $2';

interface HeldNumber {
  applicationId: string;
  position: string;
  number: string;
}

/**
 * Masks numbers that events hold themselves, one batch at a time: one number, or all in events before a time. Returns
 * the count of masked numbers; 0 when done.
 */
export async function maskInEvents(
  tx: Tx,
  which: { number: string } | { beforeMs: number },
  mask: (number: string) => string,
): Promise<number> {
  const { rows } =
    'number' in which
      ? await tx.query<HeldNumber>(heldNumbers(`data ->> 'number' = $1`), [which.number, pieceRows])
      : await tx.query<HeldNumber>(heldNumbers(`time < $1 and ${isUnmasked} order by time`), [
          toTimestamp(which.beforeMs),
          pieceRows,
        ]);
  if (rows.length === 0) return 0;
  const { count } = await tx.query(maskStatement, [
    rows.map(({ applicationId }) => applicationId),
    rows.map(({ position }) => position),
    rows.map(({ number }) => mask(number)),
  ]);
  return count;
}

const isUnmasked = `data ->> 'number' !~ '•'`;
const heldNumbers = (condition: string) => `select application_id as "applicationId", position::text,
      data ->> 'number' as number
    from event where data is not null and ${condition} limit $2`;
const maskStatement = `update event e set data = jsonb_set(e.data, '{number}', to_jsonb(m.masked))
    from unnest($1::uuid[], $2::bigint[], $3::text[]) as m(application_id, position, masked)
    where e.application_id = m.application_id and e.position = m.position and e.data ->> 'number' <> m.masked`;

interface EventRow {
  /** Null in a row that only reports how far the statement has read. */
  position: string | null;
  applicationId: string;
  subject: string;
  timeMs: number;
  sequence: number;
  type: number;
  api: number;
  errorCode: number | null;
  data: object | null;
}

function toEvents({ position, applicationId, subject, type, api, ...row }: EventRow): StoredEvent[] {
  if (position === null) return [];
  const name = eventTypes[type];
  const apiName = apiNames[api];
  if (name === undefined || apiName === undefined) throw new Error(`the store has an unknown event ${type} of ${api}`);
  return [
    {
      position: Number(position),
      applicationId: fromUuid('app', applicationId),
      subject: fromUuid(subjectPrefix(name), subject),
      type: name,
      api: apiName,
      sequence: row.sequence,
      timeMs: row.timeMs,
      errorCode: row.errorCode,
      data: row.data,
    },
  ];
}

const columns = `e.position::text, e.application_id as "applicationId", e.subject, e.time as "timeMs", e.sequence, e.type,
    e.api, e.error_code as "errorCode", e.data`;

/** Filters a bounded batch, and returns how far it read: a full page to its last event, a full batch to its end. */
const pageOf = (piece: string) => `with piece as materialized (${piece}),
    page as materialized (
      select * from piece where ($5::smallint is null or api = $5) and ($6::smallint[] is null or type = any($6))
      order by position limit $7),
    reached as (
      select case when (select count(*) from page) = $7 then (select max(position) from page)
        when (select count(*) from piece) = $4 then (select max(position) from piece) else $3 end as position)
    select ${columns}, r.position::text as "readTo" from reached r left join page e on true order by e.position`;

const readStatement = {
  name: 'read-events',
  text: pageOf(
    'select * from event where application_id = $1 and position > $2 and position <= $3 order by position limit $4',
  ),
};

/** A record has few events. Without `offset 0` Postgres may read all events of the application to get them in order. */
const readSubjectStatement = {
  name: 'read-events-of-subject',
  text: pageOf(`select * from (select * from event where subject = $8 and position > $2 and position <= $3 offset 0) s
      where application_id = $1 order by position limit $4`),
};

/** `readTo` is the start of the span after a full page or a short batch, else the position before the batch. */
const lastStatement = {
  name: 'read-last-events',
  text: `with piece as materialized (
      select * from event where application_id = $1 and position > $2 and position <= $3 order by position desc limit $4),
    page as materialized (
      select * from piece where ($5::smallint is null or api = $5) and ($6::smallint[] is null or type = any($6))
        and ($8::uuid is null or subject = $8) order by position desc limit $7),
    reached as (
      select case when (select count(*) from page) = $7 or (select count(*) from piece) < $4 then $2
        else (select min(position) - 1 from piece) end as position)
    select ${columns}, r.position::text as "readTo" from reached r left join page e on true order by e.position`,
};

const newStatement = {
  name: 'read-new-events',
  text: `select ${columns} from unnest($1::uuid[]) as a (id) cross join lateral (
      select * from event where application_id = a.id and position > $2 and position <= $3 order by position limit $4) e
    order by e.position limit $4`,
};

const findStatement = {
  name: 'find-events',
  text: `select ${columns} from event e
    where e.application_id = $1 and e.position = any($2::bigint[]) order by e.position`,
};
