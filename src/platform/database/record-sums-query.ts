import { hourMs, toTimestamp } from '../clock.ts';
import { uuidFloor, uuidOf } from '../ids.ts';
import { msOfId, type Span, stepOf } from '../work/steps.ts';
import type { Tx } from './database.ts';
import { floorTo, minutesShownMs, momentOf, type SummedRecords, timeOfMoment, walkOf } from './record-sums.ts';
import { positionOf } from './walk.ts';

/**
 * Counts an application's records per step, in one statement: sums, plus the records that no sum covers yet. `reading` is a
 * condition that selects an index; steps are read as ranges of ids, because computing each row's step is slower.
 */
export async function readSums<Row>(
  tx: Tx,
  summed: SummedRecords,
  { applicationId, fromMs, toMs, stepMs }: Span,
  nowMs: number,
  reading = 'true',
): Promise<(Row & { step: number; count: number })[]> {
  const ranges = rangesOf({ fromMs, toMs, stepMs }, nowMs);
  const steps = Array.from({ length: (toMs - fromMs) / stepMs }, (_, index) => fromMs / stepMs + index);
  const { rows } = await tx.query<Row & { step: number; count: number }>(statementFor(summed, reading), [
    uuidOf(applicationId),
    stepMs,
    toTimestamp(nowMs),
    ranges.map(({ byHour }) => byHour),
    ranges.map((range) => toTimestamp(range.fromMs)),
    ranges.map((range) => toTimestamp(range.toMs)),
    steps,
    steps.map((step) => uuidFloor(step * stepMs)),
    steps.map((step) => uuidFloor((step + 1) * stepMs)),
  ]);
  return rows;
}

interface Range {
  byHour: boolean;
  fromMs: number;
  toMs: number;
}

/** Which sums hold a span. Steps of an hour or a day are whole hours. Old minutes are kept by the hour only. */
function rangesOf({ fromMs, toMs, stepMs }: Omit<Span, 'applicationId'>, nowMs: number): Range[] {
  if (stepMs % hourMs === 0) return [{ byHour: true, fromMs, toMs }];
  const minutesFromMs = floorTo(hourMs, nowMs - minutesShownMs);
  return [
    { byHour: true, fromMs, toMs: Math.min(toMs, minutesFromMs) },
    { byHour: false, fromMs: Math.max(fromMs, minutesFromMs), toMs },
  ];
}

function statementFor(summed: SummedRecords, reading: string) {
  const { records, sums, groups, amounts } = summed;
  const grouped = groups(timeOfMoment);
  const key = Object.keys(grouped);
  const added = ['count', ...Object.keys(amounts)];
  const ofRecords = [
    ...Object.entries(grouped).map(([name, sql]) => `${sql} as ${name}`),
    'count(*)::integer as count',
    ...Object.entries(amounts).map(([name, sql]) => `sum(${sql})::integer as ${name}`),
  ];
  return {
    name: `count-${records}-by-steps`,
    text: `with ${momentOf('$3')}, summed as materialized (select ${positionOf(walkOf(summed, 0))} as until)
      select ${key}, step, ${added.map((name) => `sum(${name}) as ${name}`)} from (
        select ${key.map((name) => `s.${name}`)}, ${stepOf('s.at')} as step, ${added.map((name) => `s.${name}`)}
        from (select ${positionsOf(summed)}) p
        cross join unnest($4::boolean[], $5::timestamptz[], $6::timestamptz[]) as r(by_hour, from_at, to_at)
        cross join lateral (
          select * from ${sums}
          where application_id = $1 and by_hour = r.by_hour and at >= r.from_at and at < r.to_at) s
        where s.pass = ${newestPass(summed)}
        union all
        select ${key}, step, ${added}
        from unnest($7::bigint[], $8::uuid[], $9::uuid[]) as b(step, from_id, to_id)
        cross join lateral (
          select ${ofRecords} from ${records}
          where application_id = $1 and ${reading} and id >= b.from_id and id < b.to_id and id > (select until from summed)
          group by ${key.map((_, index) => index + 1)}) unsummed
        where b.to_id > (select until from summed)) counted
      group by ${key}, step`,
  };
}

/** The times that the later passes have reached, as columns `reached_1` and so on. */
function positionsOf(summed: SummedRecords): string {
  const columns = laterPasses(summed).map((pass) => {
    const position = positionOf(walkOf(summed, pass));
    return `to_timestamp(${msOfId(position)} / 1000.0) as reached_${pass}`;
  });
  return columns.join(', ');
}

/** SQL: the newest pass that has counted all of a sum's minute or hour. The first pass also counts while incomplete. */
function newestPass(summed: SummedRecords): string {
  const end = `s.at + case when s.by_hour then interval '1 hour' else interval '1 minute' end`;
  const cases = laterPasses(summed).map((pass) => `when ${end} <= p.reached_${pass} then ${pass}`);
  return `case ${cases.reverse().join(' ')} else 0 end`;
}

function laterPasses({ agesMs }: SummedRecords): number[] {
  return [...agesMs.keys()].slice(1);
}
