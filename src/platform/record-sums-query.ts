import { hourMs, toTimestamp } from './clock.ts';
import type { Tx } from './database.ts';
import { uuidFloor, uuidOf } from './ids.ts';
import { floorTo, minutesShownMs, momentOf, type SummedRecords, timeOfMoment, walkOf } from './record-sums.ts';
import { msOfId, type Span, stepOf, stepOfId } from './steps.ts';
import { positionOf } from './walk.ts';

/**
 * Counts an application's records by steps: from the sums, and from the records after those that are summed up. One
 * statement sees both at one moment. `reading` is a condition by which an index finds the records.
 */
export async function readSums<Row>(
  tx: Tx,
  summed: SummedRecords,
  { applicationId, fromMs, toMs, stepMs }: Span,
  nowMs: number,
  reading = 'true',
): Promise<(Row & { step: number; count: number })[]> {
  const ranges = rangesOf({ fromMs, toMs, stepMs }, nowMs);
  const { rows } = await tx.query<Row & { step: number; count: number }>(statementFor(summed, reading), [
    uuidOf(applicationId),
    stepMs,
    uuidFloor(fromMs),
    uuidFloor(toMs),
    toTimestamp(nowMs),
    ranges.map(({ byHour }) => byHour),
    ranges.map((range) => toTimestamp(range.fromMs)),
    ranges.map((range) => toTimestamp(range.toMs)),
  ]);
  return rows;
}

interface Range {
  byHour: boolean;
  fromMs: number;
  toMs: number;
}

/** Which sums hold a span. Steps of an hour or a day are whole hours. Of old minutes only the hours are left. */
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
  const ofRecord = [...Object.entries(grouped), ...Object.entries(amounts)].map(([name, sql]) => `${sql} as ${name}`);
  return {
    name: `count-${records}-by-steps`,
    text: `with ${momentOf('$5')}
      select ${key}, step, ${added.map((name) => `sum(${name}) as ${name}`)} from (
        select ${key.map((name) => `s.${name}`)}, ${stepOf('s.at')} as step, ${added.map((name) => `s.${name}`)}
        from (select ${positionsOf(summed)}) p
        cross join unnest($6::boolean[], $7::timestamptz[], $8::timestamptz[]) as r(by_hour, from_at, to_at)
        cross join lateral (
          select * from ${sums}
          where application_id = $1 and by_hour = r.by_hour and at >= r.from_at and at < r.to_at) s
        where s.pass = ${newestPass(summed)}
        union all
        select ${key}, step, ${added} from (
          select ${ofRecord}, 1 as count, ${stepOfId('id')} as step from ${records}
          where application_id = $1 and ${reading} and id >= $3 and id < $4
            and id > ${positionOf(walkOf(summed, 0))}) unsummed) counted
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

/** The newest pass that has gone through all of a minute or an hour. The first pass counts while it is under way, too. */
function newestPass(summed: SummedRecords): string {
  const end = `s.at + case when s.by_hour then interval '1 hour' else interval '1 minute' end`;
  const cases = laterPasses(summed).map((pass) => `when ${end} <= p.reached_${pass} then ${pass}`);
  return `case ${cases.reverse().join(' ')} else 0 end`;
}

function laterPasses({ agesMs }: SummedRecords): number[] {
  return [...agesMs.keys()].slice(1);
}
