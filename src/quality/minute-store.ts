import { hourMs, minuteMs, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import type { CountedRow } from '../platform/work/count-book.ts';
import { pieceRows } from '../platform/work/maintenance.ts';
import { type Span, stepOf } from '../platform/work/steps.ts';
import { answerBounds } from './answer-times.ts';
import { arrivalColumns, sumOfArrivals, toArrivalArray } from './arrival-times.ts';

/** The counts of a minute, in the order in which they are kept; the times of answers and arrivals follow them. */
export const minuteColumns = [
  ...(['attempts', 'throttled', 'in_doubt', 'sent', 'reported'] as const),
  ...(['refused', 'unavailable', 'delivered', 'undelivered', 'failed', 'expired'] as const),
  ...(['code_attempts', 'code_sent', 'code_refused', 'code_delivered', 'code_failed'] as const),
] as const;
export type MinuteColumn = (typeof minuteColumns)[number];
const tookColumns = answerBounds.length + 1;
/** The index at which the counts by time begin in a row. */
export const minuteTimes = {
  took: minuteColumns.length,
  arrived: minuteColumns.length + tookColumns,
  codeArrived: minuteColumns.length + tookColumns + arrivalColumns,
};
export const minuteBookColumns = minuteTimes.codeArrived + arrivalColumns;

export interface MinuteKey {
  minuteMs: number;
  carrier: string;
  country: string;
}

/** Nodes count texts that were accepted within this time. */
export const countedMinutesMs = 2 * hourMs;
const minutesKeptMs = 6 * hourMs;

/** Writes the absolute counts that one node has under this name. An older write that arrives late changes nothing. */
export async function writeMinutes(tx: Tx, name: string, rows: CountedRow<MinuteKey>[]): Promise<void> {
  if (rows.length === 0) return;
  const ofColumns = minuteColumns.map((_, column) => rows.map(({ counts }) => counts[column] ?? 0));
  await tx.query(writeStatement, [
    name,
    rows.map(({ key }) => toTimestamp(key.minuteMs)),
    rows.map(({ key }) => key.carrier),
    rows.map(({ key }) => key.country),
    rows.map(({ revision }) => revision),
    // As texts, because unnest flattens arrays of arrays.
    rows.map(({ counts }) => `{${counts.subarray(minuteTimes.took, minuteTimes.arrived).join()}}`),
    rows.map(({ counts }) => toArrivalArray(counts.subarray(minuteTimes.arrived, minuteTimes.codeArrived))),
    rows.map(({ counts }) => toArrivalArray(counts.subarray(minuteTimes.codeArrived))),
    ...ofColumns,
  ]);
}

const columns = minuteColumns.join(', ');
const timeColumns = ['took', 'arrived', 'code_arrived'];
const writtenColumns = ['revision', ...timeColumns, ...minuteColumns];
const writeStatement = {
  name: 'write-carrier-minutes',
  text: `insert into carrier_minute (node, minute, carrier, country, ${writtenColumns.join(', ')})
    select $1, minute, carrier, country, revision, ${timeColumns.map((column) => `${column}::integer[]`).join(', ')}, ${columns}
    from unnest($2::timestamptz[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::text[],
      ${minuteColumns.map((_, index) => `$${9 + index}::integer[]`).join(', ')})
      as t(minute, carrier, country, ${writtenColumns.join(', ')})
    on conflict (minute, carrier, country, node) do update set
      ${writtenColumns.map((column) => `${column} = excluded.${column}`).join(', ')}
    where carrier_minute.revision < excluded.revision`,
};

export async function deleteOldMinutes(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from carrier_minute where ctid = any(array(
       select ctid from carrier_minute where minute < $1 order by minute limit $2))`,
    [toTimestamp(nowMs - minutesKeptMs), pieceRows],
  );
  return count;
}

const sums = minuteColumns.map((column) => `sum(${column}) as ${column}`).join(', ');

export type MinuteTotals = Record<MinuteColumn, number> & { carrier: string; country: string };

/** Counts of texts that were accepted between two times, by carrier and country. */
export async function readMinutes(tx: Tx, fromMs: number, toMs: number): Promise<MinuteTotals[]> {
  const { rows } = await tx.query<MinuteTotals>(
    `select carrier, country, ${sums} from carrier_minute where minute >= $1 and minute < $2
     group by carrier, country order by carrier, country limit $3`,
    [toTimestamp(fromMs), toTimestamp(toMs), mostGroups],
  );
  return rows;
}

const mostGroups = 10_000;

export type SubmitsOfStep = Record<MinuteColumn, number> & { step: number };

/** Counts of texts that were accepted between two times, by step. */
export async function readSubmitsBySteps(
  tx: Tx,
  { fromMs, toMs, stepMs }: Omit<Span, 'applicationId'>,
): Promise<SubmitsOfStep[]> {
  const { rows } = await tx.query<SubmitsOfStep>(
    `select ${stepOf('minute')} as step, ${sums} from carrier_minute where minute >= $1 and minute < $3 group by 1`,
    [toTimestamp(fromMs), stepMs, toTimestamp(toMs)],
  );
  return rows;
}

/** Answer times by carrier: counts by the bounds of `answer-times.ts`. */
export async function readAnswerTimes(
  tx: Tx,
  fromMs: number,
  toMs: number,
): Promise<{ carrier: string; took: number[] }[]> {
  const { rows } = await tx.query<{ carrier: string; took: number[] }>(
    `select carrier, array_agg(total order by bucket) as took from (
       select carrier, bucket, sum(count) as total from carrier_minute cross join lateral
         unnest(took) with ordinality as t(count, bucket)
       where minute >= $1 and minute < $2 group by carrier, bucket) as buckets
     group by carrier limit $3`,
    [toTimestamp(fromMs), toTimestamp(toMs), mostGroups],
  );
  return rows;
}

export interface Arrivals {
  carrier: string;
  country: string;
  /** Delivered texts by the bounds of `arrival-times.ts`, and the codes among them. */
  arrived: number[];
  codeArrived: number[];
}

/** How long texts took that were accepted between two times, by carrier and country. */
export async function readArrivals(tx: Tx, fromMs: number, toMs: number): Promise<Arrivals[]> {
  const { rows } = await tx.query<Arrivals>(
    `select carrier, country, ${sumOfArrivals('arrived')} as arrived, ${sumOfArrivals('code_arrived')} as "codeArrived"
     from carrier_minute where minute >= $1 and minute < $2 and arrived is not null
     group by carrier, country order by carrier, country limit $3`,
    [toTimestamp(fromMs), toTimestamp(toMs), mostGroups],
  );
  return rows;
}

export function minuteOf(atMs: number): number {
  return atMs - (atMs % minuteMs);
}
