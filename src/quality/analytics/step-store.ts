// Tests: test/parts/analytics.test.ts
import { hourMs, minuteMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { CountedRow } from '../../platform/work/count-book.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';
import { addedArrivals, arrivalColumns, sumOfArrivals, toArrivalArray } from '../arrival-times.ts';

/** The counts of a step, in the order in which they are kept; the times to the phone follow them. */
export const stepColumns = ['sent', 'reported', 'delivered', 'undelivered', 'refused', 'failed', 'expired'] as const;
export type StepColumn = (typeof stepColumns)[number];
export const stepTimes = { arrived: stepColumns.length, codeArrived: stepColumns.length + arrivalColumns };
export const stepBookColumns = stepTimes.codeArrived + arrivalColumns;

export interface StepKey {
  /** The begin of the step in which the text was sent. */
  atMs: number;
  carrier: string;
  country: string;
  sender: string;
  /** A uuid, as messages have it. */
  applicationId: string;
}

export const stepMs = 5 * minuteMs;
/** Nodes count reports on texts sent within this time. Later ones count in the totals of days alone. */
export const countedStepsMs = 3 * hourMs;
/** Older steps are added up by the hour: no node still writes them. */
export const foldedAfterMs = countedStepsMs + hourMs;
/** A chart of 24 hours begins at most 25 hours ago. */
const stepsKeptMs = 26 * hourMs;

/** Writes the absolute counts that one node has under this name. An older write that arrives late changes nothing. */
export async function writeSteps(tx: Tx, name: string, rows: CountedRow<StepKey>[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(writeStatement, [
    name,
    rows.map(({ key }) => key.applicationId),
    rows.map(({ key }) => toTimestamp(key.atMs)),
    rows.map(({ key }) => key.carrier),
    rows.map(({ key }) => key.country),
    rows.map(({ key }) => key.sender),
    rows.map(({ revision }) => revision),
    // As texts, because unnest flattens arrays of arrays.
    rows.map(({ counts }) => toArrivalArray(counts.subarray(stepTimes.arrived, stepTimes.codeArrived))),
    rows.map(({ counts }) => toArrivalArray(counts.subarray(stepTimes.codeArrived))),
    ...stepColumns.map((_, column) => rows.map(({ counts }) => counts[column] ?? 0)),
  ]);
}

const keys = 'application_id, at, minutes, carrier, country, sender';
const columns = stepColumns.join(', ');
const written = ['revision', 'arrived', 'code_arrived', ...stepColumns];

const writeStatement = {
  name: 'write-total-steps',
  text: `insert into total_step (node, ${keys}, revision, arrived, code_arrived, ${columns})
    select $1, application_id, at, 5, carrier, country, sender, revision, arrived::integer[], code_arrived::integer[], ${columns}
    from unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::integer[], $8::text[], $9::text[],
      ${stepColumns.map((_, index) => `$${10 + index}::integer[]`).join(', ')})
      as t(application_id, at, carrier, country, sender, revision, arrived, code_arrived, ${columns})
    on conflict (${keys}, node) do update set ${written.map((column) => `${column} = excluded.${column}`).join(', ')}
    where total_step.revision < excluded.revision`,
};

/** Adds up some old steps by the hour. One statement deletes and adds, so nothing is lost or counted twice. */
export async function foldSteps(tx: Tx, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ taken: number }>(foldStatement, [toTimestamp(nowMs - foldedAfterMs), pieceRows]);
  return rows[0]?.taken ?? 0;
}

const folded = (column: string) => `case when count(${column}) > 0 then ${sumOfArrivals(column)} end`;
const added = (column: string) => `${column} = ${addedArrivals(`total_step.${column}`, `excluded.${column}`)}`;
const foldStatement = `with old as (
      delete from total_step where ctid = any(array(
        select ctid from total_step where minutes = 5 and at < $1 order by at limit $2 for update skip locked))
      returning application_id, date_bin('1 hour', at, '2000-01-01Z') as at, 60 as minutes, carrier, country, sender,
        arrived, code_arrived, ${columns}),
    added as (
      insert into total_step (node, revision, ${keys}, arrived, code_arrived, ${columns})
      select '', 0, ${keys}, ${folded('arrived')}, ${folded('code_arrived')},
        ${stepColumns.map((column) => `sum(${column})`).join(', ')}
      from old group by ${keys} order by ${keys}
      on conflict (${keys}, node) do update set ${added('arrived')}, ${added('code_arrived')},
        ${stepColumns.map((column) => `${column} = total_step.${column} + excluded.${column}`).join(', ')})
    select count(*) as taken from old`;

export async function deleteOldSteps(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from total_step where ctid = any(array(
       select ctid from total_step where minutes = 60 and at < $1 order by at limit $2))`,
    [toTimestamp(nowMs - stepsKeptMs), pieceRows],
  );
  return count;
}
