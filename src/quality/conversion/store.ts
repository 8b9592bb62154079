import { dayMs, hourMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromTextRows, toTextRows } from '../../platform/database/text-rows.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';
import { type HourCounts, historyDays, hourOf, hoursReadMs } from './conversion.ts';
import { type KnownNumber, numberLastsMs, type SumChange } from './count.ts';

/** A group of numbers of an application (a uuid). */
export interface Scope {
  applicationId: string;
  scope: string;
}

/** Reads the rows of these numbers, and locks them. */
export async function lockNumbers(tx: Tx, wanted: Pick<KnownNumber, 'applicationId' | 'number'>[]) {
  if (wanted.length === 0) return [];
  const { rows } = await tx.query<KnownNumber>(lockStatement, [
    wanted.map(({ applicationId }) => applicationId),
    wanted.map(({ number }) => number),
  ]);
  return rows;
}

const numberColumns = `n.application_id as "applicationId", encode(n.number, 'hex') as number, n.hour as "hourMs", n.approved,
    n.held, n.prefix, coalesce(n.clients, '{}') as clients, n.apart`;
const lockStatement = {
  name: 'lock-conversion-numbers',
  text: `select ${numberColumns}
    from unnest($1::uuid[], $2::text[]) as w(application_id, number) cross join lateral (
      select * from conversion_number where application_id = w.application_id and number = decode(w.number, 'hex')
      limit 1 for update) n`,
};

/** Maximum number of numbers that are set apart when their client is held. */
const mostApart = 5000;

/** The numbers of these clients that are not set apart yet. The rows stay locked. */
export async function lockNumbersOf(tx: Tx, applicationId: string, clients: readonly string[]): Promise<KnownNumber[]> {
  const { rows } = await tx.query<KnownNumber>(
    `select ${numberColumns} from conversion_number n
     where n.clients && $2::text[] and n.application_id = $1 and n.apart is null order by n.number limit $3 for update`,
    [applicationId, clients, mostApart],
  );
  return rows;
}

export async function writeNumbers(tx: Tx, numbers: readonly KnownNumber[]): Promise<void> {
  if (numbers.length === 0) return;
  const rows = numbers.map((each) => [
    ...[each.applicationId, each.number, toTimestamp(each.hourMs), each.approved, each.held, each.prefix],
    ...[each.clients.length === 0 ? null : `{${each.clients.join()}}`, each.apart],
  ]);
  await tx.query(writeStatement, [...toTextRows(rows)]);
}

const writeStatement = {
  name: 'write-conversion-numbers',
  text: `insert into conversion_number (application_id, number, hour, approved, held, prefix, clients, apart)
    select c[1]::uuid, decode(c[2], 'hex'), c[3]::timestamptz, c[4]::boolean, c[5]::boolean, c[6], c[7]::text[], c[8]
    from ${fromTextRows()} t order by c[1]::uuid, c[2]
    on conflict (application_id, number) do update set hour = excluded.hour, approved = excluded.approved,
      held = excluded.held, prefix = excluded.prefix, clients = excluded.clients, apart = excluded.apart`,
};

/** In the order of their keys, so that two transactions never wait for each other in a circle. */
export async function addToSums(tx: Tx, changes: readonly SumChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(addStatement, [
    changes.map(({ applicationId }) => applicationId),
    changes.map(({ scope }) => scope),
    changes.map(({ hourMs: at }) => toTimestamp(at)),
    changes.map(({ numbers }) => numbers),
    changes.map(({ approved }) => approved),
    changes.map(({ held }) => held),
  ]);
}

const addUp = `on conflict (application_id, scope, by_day, at) do update set numbers = s.numbers + excluded.numbers,
      approved = s.approved + excluded.approved, held = s.held + excluded.held`;
const addStatement = {
  name: 'add-to-conversion-sums',
  text: `insert into conversion_sum as s (application_id, scope, by_day, at, numbers, approved, held)
    select application_id, scope, false, at, numbers, approved, held
    from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::integer[], $5::integer[], $6::integer[])
      as c(application_id, scope, at, numbers, approved, held)
    order by application_id, scope, at
    ${addUp}`,
};

/** Since when applications are counted, and since when they have approvals. */
export interface CountedApplication {
  applicationId: string;
  countedSinceMs: number;
  approvedSinceMs: number | null;
}

/** Records the first code and the first approval of applications. */
export async function noteApplications(tx: Tx, given: readonly CountedApplication[]): Promise<void> {
  if (given.length === 0) return;
  await tx.query(
    `insert into conversion_application as a (application_id, counted_since, approved_since)
     select * from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[]) as g(id, counted, approved) order by g.id
     on conflict (application_id) do update set approved_since = excluded.approved_since
     where a.approved_since is null and excluded.approved_since is not null`,
    [
      given.map(({ applicationId }) => applicationId),
      given.map(({ countedSinceMs }) => toTimestamp(countedSinceMs)),
      given.map(({ approvedSinceMs }) => (approvedSinceMs === null ? null : toTimestamp(approvedSinceMs))),
    ],
  );
}

export async function readApplications(tx: Tx, uuids: readonly string[]): Promise<CountedApplication[]> {
  const { rows } = await tx.query<CountedApplication>(
    `select application_id as "applicationId", counted_since as "countedSinceMs", approved_since as "approvedSinceMs"
     from conversion_application where application_id = any($1::uuid[]) limit $2`,
    [uuids, uuids.length],
  );
  return rows;
}

const mostCandidates = 400;
/** Groups with fewer numbers without an approval, or with a higher rate, are never suspicious. */
const fewestMissed = 2;
const highestShare = 0.5;

/** Selects the groups to judge: those with few approvals in a day, or with numbers that are held back. */
export async function findCandidates(tx: Tx, scopes: readonly Scope[], nowMs: number): Promise<Scope[]> {
  if (scopes.length === 0) return [];
  const hour = hourOf(nowMs);
  const { rows } = await tx.query<Scope>(candidateStatement, [
    scopes.map(({ applicationId }) => applicationId),
    scopes.map(({ scope }) => scope),
    toTimestamp(hour - 23 * hourMs),
    toTimestamp(hour - 5 * hourMs),
    toTimestamp(hour - hourMs),
    mostCandidates,
  ]);
  return rows;
}

const inWindow = (from: string) => {
  const sum = (column: string) => `coalesce(sum(${column}) filter (where at >= ${from}), 0)`;
  const missed = `${sum('numbers')} - ${sum('approved')}`;
  return `(${missed} >= ${fewestMissed} and ${sum('approved')} < ${highestShare} * ${sum('numbers')})`;
};
const candidateStatement = {
  name: 'find-conversion-candidates',
  text: `select g.application_id as "applicationId", g.scope
    from unnest($1::uuid[], $2::text[]) as g(application_id, scope) cross join lateral (
      select sum(numbers - approved) as missed, ${inWindow('$3')} or ${inWindow('$4')} or ${inWindow('$5')} as low
      from conversion_sum
      where application_id = g.application_id and scope = g.scope and not by_day and at >= $3) s
    where s.low order by s.missed desc limit $6`,
};

export interface ScopeCounts extends Scope, HourCounts {
  byDay: boolean;
}

/** The last day by hour, and the last 28 days by day. */
export async function readCounts(tx: Tx, scopes: readonly Scope[], nowMs: number): Promise<ScopeCounts[]> {
  if (scopes.length === 0) return [];
  const { rows } = await tx.query<ScopeCounts>(countsStatement, [
    scopes.map(({ applicationId }) => applicationId),
    scopes.map(({ scope }) => scope),
    toTimestamp(hourOf(nowMs) - hoursReadMs),
    toTimestamp(nowMs - (historyDays + 1) * dayMs),
  ]);
  return rows;
}

const countsOf = (
  condition: string,
) => `select application_id, scope, by_day, at, numbers, approved, held from conversion_sum
      where application_id = g.application_id and scope = g.scope and ${condition}`;
const countsStatement = {
  name: 'read-conversion-counts',
  text: `select s.application_id as "applicationId", s.scope, s.by_day as "byDay", s.at as "hourMs", s.numbers, s.approved, s.held
    from unnest($1::uuid[], $2::text[]) as g(application_id, scope) cross join lateral (
      (${countsOf('not by_day and at > $3')} limit 48) union all (${countsOf('by_day and at >= $4')} limit 40)) s`,
};

/** Hours are added up when their numbers can no longer move. */
const foldedAfterMs = numberLastsMs + 2 * hourMs;

export async function deleteOldNumbers(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from conversion_number where ctid = any(array(
       select ctid from conversion_number where hour < $1 order by hour limit $2))`,
    [toTimestamp(nowMs - numberLastsMs - hourMs), pieceRows],
  );
  return count;
}

/** Data about a client is deleted at the latest a day after its start. */
const clientLastsMs = 23 * hourMs;

export async function deleteClientSums(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from conversion_sum where ctid = any(array(
       select ctid from conversion_sum where scope like '%:%' and at <= $1 order by at limit $2))`,
    [toTimestamp(hourOf(nowMs - clientLastsMs)), pieceRows],
  );
  return count;
}

/** The number itself is remembered for longer. */
export async function forgetClientsOfNumbers(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `update conversion_number set clients = null, apart = case when apart is null then null else '' end
     where ctid = any(array(
       select ctid from conversion_number where hour <= $1 and clients is not null order by hour limit $2))`,
    [toTimestamp(hourOf(nowMs - clientLastsMs)), pieceRows],
  );
  return count;
}

/** Adds up old hours to days. One statement deletes and adds, so nothing is lost or counted twice. */
export async function foldHours(tx: Tx, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ taken: number }>(foldStatement, [toTimestamp(nowMs - foldedAfterMs), pieceRows]);
  return rows[0]?.taken ?? 0;
}

const foldStatement = `with old as (
      delete from conversion_sum where ctid = any(array(
        select ctid from conversion_sum where not by_day and at < $1 and scope not like '%:%'
          order by at limit $2 for update skip locked))
      returning application_id, scope, date_bin('1 day', at, '2000-01-01Z') as day, numbers, approved),
    added as (
      insert into conversion_sum as s (application_id, scope, by_day, at, numbers, approved)
      select application_id, scope, true, day, sum(numbers), sum(approved) from old
      group by application_id, scope, day order by application_id, scope, day
      ${addUp})
    select count(*) as taken from old`;

/** Deletes days that no rule reads, and earlier those of prefixes with few numbers. */
export async function deleteOldSums(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from conversion_sum where ctid = any(array(
       (select ctid from conversion_sum where by_day and at < $1 order by at limit $3)
       union all
       (select ctid from conversion_sum where by_day and numbers < 10 and scope like '+%' and at < $2 order by at limit $3)))`,
    [toTimestamp(nowMs - (historyDays + 2) * dayMs), toTimestamp(nowMs - 3 * dayMs), pieceRows],
  );
  return count;
}
