import { dayMs, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import type { CountedRow } from '../platform/work/count-book.ts';
import { pieceRows } from '../platform/work/maintenance.ts';
import { addedArrivals, arrivalColumns, sumOfArrivals, toArrivalArray } from './arrival-times.ts';
import { channelOfCounted } from './channel-key.ts';

/** The counts of a day, in the order in which they are kept. */
export const dayColumns = [
  'attempts',
  'copies',
  'throttled',
  'in_doubt',
  'sent',
  'parts',
  'delivered',
  'undelivered',
  'failed',
  'codes',
  'approved',
  'refused',
  'unavailable',
  'expired',
  'code_attempts',
  'code_sent',
  'code_refused',
  'code_delivered',
  'code_failed',
  'reported',
] as const;
export type DayColumn = (typeof dayColumns)[number];
/** The index at which the counts by time begin in a row. */
export const dayTimes = { arrived: dayColumns.length, codeArrived: dayColumns.length + arrivalColumns };
export const dayBookColumns = dayTimes.codeArrived + arrivalColumns;

export interface DayKey {
  dayMs: number;
  carrier: string;
  country: string;
  sender: string;
  /** A uuid, as messages have it. */
  applicationId: string;
}

/** Nodes count texts sent in the last four days; a receipt comes within three. */
export const countedDays = 4;
const foldedAfterMs = (countedDays + 2) * dayMs;
const daysKept = 400;

export function dayOf(atMs: number): string {
  return toTimestamp(atMs).slice(0, 10);
}

/** Writes the absolute counts that one node has under this name. An older write that arrives late changes nothing. */
export async function writeDays(tx: Tx, name: string, rows: CountedRow<DayKey>[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(writeStatement, [
    name,
    ...keyParameters(rows),
    rows.map(({ revision }) => revision),
    // As texts, because unnest flattens arrays of arrays.
    rows.map(({ counts }) => toArrivalArray(counts.subarray(dayTimes.arrived, dayTimes.codeArrived))),
    rows.map(({ counts }) => toArrivalArray(counts.subarray(dayTimes.codeArrived))),
    ...countsOf(rows),
  ]);
}

/** Adds counts to the row without a node, in the caller's transaction. */
export async function addToDays(tx: Tx, rows: Omit<CountedRow<DayKey>, 'revision'>[]): Promise<void> {
  if (rows.length > 0) await tx.query(addStatement, [...keyParameters(rows), ...countsOf(rows)]);
}

function keyParameters(rows: Pick<CountedRow<DayKey>, 'key'>[]): unknown[] {
  return [
    rows.map(({ key }) => dayOf(key.dayMs)),
    rows.map(({ key }) => key.carrier),
    rows.map(({ key }) => key.country),
    rows.map(({ key }) => key.sender),
    rows.map(({ key }) => key.applicationId),
  ];
}

function countsOf(rows: Pick<CountedRow<DayKey>, 'counts'>[]): unknown[] {
  return dayColumns.map((_, column) => rows.map(({ counts }) => counts[column] ?? 0));
}

const keys = 'day, carrier, country, sender, application_id';
const keyTypes = 'date text text text uuid'.split(' ');
const columns = dayColumns.join(', ');
const arrays = (types: string[], first: number) =>
  types.map((type, index) => `$${first + index}::${type}[]`).join(', ');
const sums = (read: (column: string) => string) => dayColumns.map((column) => `${column} = ${read(column)}`).join(', ');
const integers = dayColumns.map(() => 'integer');

const writeStatement = {
  name: 'write-totals',
  text: `insert into total_day (node, ${keys}, revision, arrived, code_arrived, ${columns})
    select $1, ${keys}, revision, arrived::integer[], code_arrived::integer[], ${columns}
    from unnest(${arrays([...keyTypes, 'integer', 'text', 'text', ...integers], 2)})
      as t(${keys}, revision, arrived, code_arrived, ${columns})
    on conflict (${keys}, node) do update set revision = excluded.revision, arrived = excluded.arrived,
      code_arrived = excluded.code_arrived, ${sums((column) => `excluded.${column}`)}
    where total_day.revision < excluded.revision`,
};

const addStatement = `insert into total_day (node, revision, ${keys}, ${columns})
    select '', 0, t.* from unnest(${arrays([...keyTypes, ...integers], 1)}) as t(${keys}, ${columns})
    order by ${keys}
    on conflict (${keys}, node) do update set ${sums((column) => `total_day.${column} + excluded.${column}`)}`;

/** Adds up the nodes' rows of some old days. One statement deletes and adds, so nothing is lost or counted twice. */
export async function foldDays(tx: Tx, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ taken: number }>(foldStatement, [dayOf(nowMs - foldedAfterMs), pieceRows]);
  return rows[0]?.taken ?? 0;
}

const foldedArrivals = (column: string) => `case when count(${column}) > 0 then ${sumOfArrivals(column)} end`;
const foldStatement = `with old as (
      delete from total_day where ctid = any(array(
        select ctid from total_day where day < $1 and node <> '' order by day limit $2 for update skip locked))
      returning ${keys}, arrived, code_arrived, ${columns}),
    added as (
      insert into total_day (node, revision, ${keys}, arrived, code_arrived, ${columns})
      select '', 0, ${keys}, ${foldedArrivals('arrived')}, ${foldedArrivals('code_arrived')},
        ${dayColumns.map((column) => `sum(${column})`).join(', ')}
      from old group by ${keys} order by ${keys}
      on conflict (${keys}, node) do update set
        arrived = ${addedArrivals('total_day.arrived', 'excluded.arrived')},
        code_arrived = ${addedArrivals('total_day.code_arrived', 'excluded.code_arrived')},
        ${sums((column) => `total_day.${column} + excluded.${column}`)})
    select count(*) as taken from old`;

export async function deleteOldDays(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    'delete from total_day where ctid = any(array(select ctid from total_day where day < $1 order by day limit $2))',
    [dayOf(nowMs - daysKept * dayMs), pieceRows],
  );
  return count;
}

/** The columns that totals can be grouped by. Carriers with the same name count as one here. */
const groups = {
  day: `to_char(day, 'YYYY-MM-DD')`,
  carrier: `split_part(carrier, '#', 1)`,
  country: 'country',
  sender: 'sender',
  application: 'application_id::text',
  channel: channelOfCounted,
} as const;
export type TotalGroup = keyof typeof groups;
export const totalGroups = Object.keys(groups) as TotalGroup[];

export type TotalRow = Record<DayColumn, number> & Partial<Record<TotalGroup, string>>;

export interface TotalQuery {
  /** The first and the last day, like 2026-01-31. */
  from: string;
  to: string;
  by: readonly TotalGroup[];
  limit: number;
  /** Only the texts of this application (`app_…`). */
  applicationId?: string | undefined;
}

const isInSpan = 'day >= $1 and day <= $2 and ($4::uuid is null or application_id = $4)';

function spanParameters({ from, to, limit, applicationId }: TotalQuery): unknown[] {
  return [from, to, limit, applicationId === undefined ? null : uuidOf(applicationId)];
}

/** The totals of some days, grouped and ordered by the requested columns. */
export async function readTotals(tx: Tx, query: TotalQuery): Promise<TotalRow[]> {
  const { by } = query;
  const named = by.map((group) => `${groups[group]} as "${group}"`);
  const positions = by.map((_, index) => index + 1).join(', ');
  const counted = dayColumns.map((column) => `coalesce(sum(${column}), 0) as ${column}`);
  const { rows } = await tx.query<TotalRow>(
    `select ${[...named, ...counted].join(', ')} from total_day where ${isInSpan}
     ${by.length === 0 ? '' : `group by ${positions} order by ${positions}`} limit $3`,
    spanParameters(query),
  );
  return rows;
}

export type ArrivalRow = Partial<Record<TotalGroup, string>> & {
  /** Delivered texts by the bounds of `arrival-times.ts`, and the codes among them. */
  arrived: number[];
  codeArrived: number[];
};

/** How long the texts of some days took to the phone, grouped and ordered by the requested columns. */
export async function readDayArrivals(tx: Tx, query: TotalQuery): Promise<ArrivalRow[]> {
  const { by } = query;
  const named = by.map((group) => `${groups[group]} as "${group}"`);
  const positions = by.map((_, index) => index + 1).join(', ');
  const counted = [`${sumOfArrivals('arrived')} as arrived`, `${sumOfArrivals('code_arrived')} as "codeArrived"`];
  const { rows } = await tx.query<ArrivalRow>(
    `select ${[...named, ...counted].join(', ')} from total_day where ${isInSpan} and arrived is not null
     ${by.length === 0 ? '' : `group by ${positions} order by ${positions}`} limit $3`,
    spanParameters(query),
  );
  return rows;
}

/** Outcomes of an application's texts on a day. */
export interface TextsOfDay {
  applicationId: string;
  sent: number;
  delivered: number;
  failed: number;
}

export async function readTextsOf(tx: Tx, day: string, applicationIds: string[]): Promise<TextsOfDay[]> {
  const { rows } = await tx.query<TextsOfDay>(
    `select application_id as "applicationId", sum(sent) as sent, sum(delivered) as delivered,
       sum(failed) + sum(undelivered) + sum(expired) as failed
     from total_day where day = $1 and application_id = any($2::uuid[]) group by 1`,
    [day, applicationIds.map(uuidOf)],
  );
  return rows.map((row) => ({ ...row, applicationId: fromUuid('app', row.applicationId) }));
}
