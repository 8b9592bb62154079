import { dayMs, hourMs, minuteMs, toTimestamp } from '../clock.ts';
import { uuidFloor, uuidTimeMs } from '../ids.ts';
import { pieceRows } from '../work/maintenance.ts';
import { msOfId } from '../work/steps.ts';
import type { Database, Tx } from './database.ts';
import { partitionWeekMs } from './partitions.ts';
import { readPosition, readWalk, writeWalk } from './walk.ts';

/**
 * A table of records, and the table of their sums per application, minute and hour. Records are summed up several times,
 * because their status changes: the sums of a later pass replace those of the pass before.
 */
export interface SummedRecords {
  records: string;
  /** Its columns: application_id, by_hour, at, pass, those of `groups`, count, those of `amounts`. */
  sums: string;
  /** The columns by which sums are kept apart, as SQL over a record. `time` is SQL for the current time. */
  groups: (time: string) => Record<string, string>;
  /** What is added up besides the number of records, as SQL over a record. */
  amounts: Readonly<Record<string, string>>;
  /** The age at which each pass counts a record. One pass suffices for records that no longer change at that age. */
  agesMs: readonly number[];
}

/** By this age of its id every insert has committed, even if the nodes' clocks differ by 2 s. */
export const settledAfterMs = 3 * minuteMs;
/** A text may leave after a week, be valid for three days, and have its receipt three days later. */
export const laterAgesMs = [hourMs, dayMs, 4 * dayMs, 15 * dayMs];
/** Older minutes are shown by the hour. They are deleted a day later, so that no reader misses one. */
export const minutesShownMs = 31 * dayMs;
const minutesKeptMs = minutesShownMs + dayMs;

/** Many records add up to few sums, so a batch may be larger than in other chores. */
const summedRows = 5 * pieceRows;

/** The name under which a pass stores its position: every record up to it is in the sums of the pass. */
export const walkOf = ({ sums }: SummedRecords, pass: number) => `${sums}-${pass}`;

/**
 * Sums up some records in the first pass that has any left, so that each pass stays behind the one before it. Returns how
 * many; 0 when all passes have caught up.
 */
export async function sumSome(
  database: Database,
  summed: SummedRecords,
  nowMs: number,
  limit = summedRows,
): Promise<number> {
  for (const pass of summed.agesMs.keys()) {
    const count = await database.transaction((tx) => sumPiece(tx, summed, { pass, nowMs, limit }));
    if (count > 0) return count;
  }
  return 0;
}

interface Piece {
  pass: number;
  nowMs: number;
  limit: number;
}

/**
 * Adds records to the sums of a pass and notes how far it went, in one transaction, so that each counts once. The walk is
 * locked, so nodes take turns. Only closed minutes: else a round would find new records for ever.
 */
async function sumPiece(tx: Tx, summed: SummedRecords, { pass, nowMs, limit }: Piece): Promise<number> {
  const name = walkOf(summed, pass);
  const done = await readWalk(tx, name);
  const until = uuidFloor(floorTo(minuteMs, nowMs - (summed.agesMs[pass] ?? 0)));
  if (until <= done) return 0;
  const values = [done, until, limit, pass, toTimestamp(nowMs)];
  const { rows } = await tx.query<{ read: number; last: string | null }>(sumStatement(summed), values);
  const { read = 0, last = null } = rows[0] ?? {};
  await writeWalk(tx, name, read < limit || last === null ? until : last);
  return read;
}

/** The first part of a `with` that holds the current time. Only some kinds of records need it. */
export const momentOf = (parameter: string) => `moment as materialized (select ${parameter}::timestamptz as time)`;
export const timeOfMoment = '(select time from moment)';

function sumStatement({ records, sums, groups, amounts }: SummedRecords) {
  const grouped = groups(timeOfMoment);
  const key = ['application_id', ...Object.keys(grouped)];
  const added = ['count', ...Object.keys(amounts)];
  const select = (columns: Record<string, string>) => Object.entries(columns).map(([name, sql]) => `${sql} as ${name}`);
  const conflict = ['application_id', 'by_hour', 'at', 'pass', ...Object.keys(grouped)];
  return {
    name: `sum-up-${records}`,
    text: `with ${momentOf('$5')},
      piece as materialized (
        select id, application_id, ${select({ ...grouped, count: '1', ...amounts })}
        from ${records} where id > $1 and id <= $2 order by id limit $3),
      minutes as materialized (
        select ${key}, to_timestamp(${msOfId('id')} / ${minuteMs} * 60) as minute,
          ${added.map((name) => `sum(${name}) as ${name}`)}
        from piece group by ${key}, minute),
      added as (
        insert into ${sums} (${key}, by_hour, at, pass, ${added})
        select ${key}, b.by_hour, b.at, $4, ${added.map((name) => `sum(${name})`)}
        from minutes cross join lateral (values (false, minute), (true, date_trunc('hour', minute))) as b(by_hour, at)
        group by ${key}, b.by_hour, b.at
        order by application_id, b.by_hour, b.at
        on conflict (${conflict}) do update set
          ${added.map((name) => `${name} = ${sums}.${name} + excluded.${name}`)})
      select count(*) as read, (select id from piece order by id desc limit 1) as last from piece`,
  };
}

/**
 * Deletes some sums that no reader needs: those that the next pass has replaced, minutes that are shown by the hour, and
 * sums of weeks whose records are gone. Returns how many.
 */
export async function deleteSums(tx: Tx, summed: SummedRecords, nowMs: number, keptFromMs: number): Promise<number> {
  const oldestMs = floorTo(partitionWeekMs, keptFromMs);
  const oldestMinuteMs = Math.max(oldestMs, floorTo(hourMs, nowMs - minutesKeptMs));
  const needless: { byHour: boolean; pass: number; beforeMs: number }[] = [];
  for (const pass of summed.agesMs.keys()) {
    const replacedMs = floorTo(hourMs, uuidTimeMs(await readPosition(tx, walkOf(summed, pass + 1))));
    needless.push({ byHour: true, pass, beforeMs: Math.max(oldestMs, replacedMs) });
    needless.push({ byHour: false, pass, beforeMs: Math.max(oldestMinuteMs, replacedMs) });
  }
  const { count } = await tx.query(
    `delete from ${summed.sums} where ctid = any(array(
       select found.ctid from unnest($1::boolean[], $2::smallint[], $3::timestamptz[]) as n(by_hour, pass, before)
       cross join lateral (
         select ctid from ${summed.sums} where by_hour = n.by_hour and pass = n.pass and at < n.before limit $4) found
       limit $4))`,
    [
      needless.map(({ byHour }) => byHour),
      needless.map(({ pass }) => pass),
      needless.map(({ beforeMs }) => toTimestamp(beforeMs)),
      pieceRows,
    ],
  );
  return count;
}

export function floorTo(lengthMs: number, ms: number): number {
  return Math.max(0, Math.floor(ms / lengthMs) * lengthMs);
}
