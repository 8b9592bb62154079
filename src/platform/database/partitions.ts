import { dayMs } from '../clock.ts';
import { uuidFloor } from '../ids.ts';
import { lockSeeds } from './advisory-locks.ts';
import type { Database, Tx } from './database.ts';
import { sqlStateOf } from './errors.ts';

/** A table that is `partition by range` of its key, and has a partition `<name>_default`. */
export interface PartitionedTable {
  name: string;
  key: string;
  spans: PartitionSpans;
}

/** The time span of a partition, and where in the key it begins. */
export interface PartitionSpans {
  /** The letter in the names of partitions. */
  letter: string;
  lengthMs: number;
  /** How many are made before they are needed. */
  ahead: number;
  /** The smallest key of this time, as a parameter of a statement. */
  firstKey(ms: number): string;
}

/** The time of the oldest row that is still needed; `beforeMs` if no older row is. It queries the database. */
export type NeededFrom = (tx: Tx, beforeMs: number) => Promise<number>;

const byAgeAlone: NeededFrom = async (_tx, beforeMs) => beforeMs;

export const partitionWeekMs = 7 * dayMs;
/** For a key that is an id: its `uuid` begins with its time. */
export const idWeeks: PartitionSpans = { letter: 'w', lengthMs: partitionWeekMs, ahead: 4, firstKey: uuidFloor };

const pieceRows = 1000;

/** Short, because every request waits behind a statement that waits for such a lock. */
const impatient = `set local lock_timeout = '300ms'; set local statement_timeout = '2s'`;
/** The lock or the statement timed out, another node was first, or the default partition holds keys of the span. */
const passing = ['55P03', '57014', '40P01', '42P07', '23514'];

/**
 * Makes the partitions of this span and the next ones. One that cannot be made now is left for the next time: the
 * default partition takes its rows. Returns how many it made.
 */
export async function makePartitions(database: Database, table: PartitionedTable, nowMs: number): Promise<number> {
  const { lengthMs, ahead } = table.spans;
  const thisSpan = Math.floor(Math.max(0, nowMs) / lengthMs);
  const existing = new Set((await findPartitions(database, table)).map(({ span }) => span));
  let made = 0;
  for (let span = thisSpan; span <= thisSpan + ahead; span++) {
    if (existing.has(span)) continue;
    const outcome = await unlessPassing(() => database.transaction((tx) => makePartition(tx, table, span)));
    // The table is busy, so the next span would fail too.
    if (outcome === undefined) break;
    if (outcome) made++;
  }
  return made;
}

/** Drops the oldest partition if all its rows are older and none is needed. Returns 1, or 0 when there is none. */
export async function dropOldPartition(
  database: Database,
  table: PartitionedTable,
  beforeMs: number,
  neededFrom = byAgeAlone,
): Promise<number> {
  const { lengthMs } = table.spans;
  const old = (await findPartitions(database, table)).find(({ span }) => (span + 1) * lengthMs <= beforeMs);
  if (old === undefined) return 0;
  // Check before taking the lock: rows that are not needed now will not be needed later.
  const endMs = (old.span + 1) * lengthMs;
  if ((await neededFrom(database, endMs)) < endMs) return 0;
  const dropped = await unlessPassing(() =>
    database.transaction(async (tx) => {
      await begin(tx, table);
      await tx.query(`drop table if exists ${old.name}`);
      return true;
    }),
  );
  return dropped ? 1 : 0;
}

/** Deletes rows of the default partition that are older and not needed, at most one batch. Returns how many. */
export async function deleteOldRows(
  tx: Tx,
  { name, key, spans }: PartitionedTable,
  beforeMs: number,
  neededFrom = byAgeAlone,
): Promise<number> {
  const old = await tx.query(`select from ${name}_default where ${key} < $1 limit 1`, [spans.firstKey(beforeMs)]);
  if (old.count === 0) return 0;
  const { count } = await tx.query(
    `delete from ${name}_default where ctid = any(array(
       select ctid from ${name}_default where ${key} < $1 limit ${pieceRows}))`,
    [spans.firstKey(await neededFrom(tx, beforeMs))],
  );
  return count;
}

/** Which spans of time have a partition. */
export async function findSpans(tx: Tx, table: PartitionedTable): Promise<number[]> {
  return (await findPartitions(tx, table)).map(({ span }) => span);
}

/** Makes the partitions of these spans, in the transaction of a restore. The table must be empty. */
export async function makeSpans(tx: Tx, table: PartitionedTable, spans: number[]): Promise<void> {
  for (const span of spans) await makePartition(tx, table, span);
}

/** The partitions, oldest first, without the default one. */
async function findPartitions(tx: Tx, { name }: PartitionedTable): Promise<{ name: string; span: number }[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass and c.relname <> $1 || '_default'`,
    [name],
  );
  return rows
    .map((row) => ({ name: row.name, span: Number(row.name.slice(name.length + 2)) }))
    .sort((a, b) => a.span - b.span);
}

/** One node at a time: Postgres fails with an internal error when two drop the same partition at once. */
async function begin(tx: Tx, { name }: PartitionedTable): Promise<void> {
  await tx.query(impatient);
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [name, lockSeeds.partitions]);
}

async function makePartition(tx: Tx, table: PartitionedTable, span: number): Promise<boolean> {
  const { name, key, spans } = table;
  const partition = `${name}_${spans.letter}${span}`;
  const [from, to] = [span, span + 1].map((each) => spans.firstKey(each * spans.lengthMs));
  await begin(tx, table);
  const { rows } = await tx.query<{ options: string | null; made: boolean; taken: boolean }>(
    `select array_to_string(reloptions, ', ') as options, to_regclass($1) is not null as made,
       exists (select from ${name}_default where ${key} >= $2 and ${key} < $3) as taken
     from pg_class where oid = ($4::text || '_default')::regclass`,
    [partition, from, to, name],
  );
  const { options = null, made = true, taken = true } = rows[0] ?? {};
  if (made || taken) return false;
  // Make the table first and attach it: unlike `partition of`, that does not block reads and writes of other partitions.
  await tx.query(`create table ${partition} (like ${name} including all) ${options ? `with (${options})` : ''}`);
  await leaveOutStatistics(tx, `${name}_default`, partition);
  await tx.query(`alter table ${name} attach partition ${partition} for values from ('${from}') to ('${to}')`);
  return true;
}

/** Turns statistics off for the columns, of the table and of its indexes, for which the default partition has none. */
async function leaveOutStatistics(tx: Tx, from: string, partition: string): Promise<void> {
  const { rows: columns } = await tx.query<{ name: string }>(
    'select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and attstattarget = 0',
    [from],
  );
  for (const { name } of columns) await tx.query(`alter table ${partition} alter column ${name} set statistics 0`);
  const { rows: ofIndexes } = await tx.query<{ index: string; number: number }>(sameColumnsOfIndexes, [
    from,
    partition,
  ]);
  for (const { index, number } of ofIndexes) {
    await tx.query(`alter index ${index} alter column ${number} set statistics 0`);
  }
}

const definition = (index: string) => `substring(pg_get_indexdef(${index}.indexrelid) from ' USING .*')`;
const sameColumnsOfIndexes = `select own.indexrelid::regclass::text as index, a.attnum as number
  from pg_index given
  join pg_attribute a on a.attrelid = given.indexrelid and a.attstattarget = 0
  join pg_index own on own.indrelid = $2::regclass and ${definition('own')} = ${definition('given')}
  where given.indrelid = $1::regclass`;

/** Runs work that can wait for the next round. Undefined if it was put off. */
async function unlessPassing<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (passing.includes(sqlStateOf(error) ?? '')) return undefined;
    throw error;
  }
}
