// Tests: test/parts/index-turn.test.ts
import type { Chore } from '../work/maintenance.ts';
import { lockSeeds } from './advisory-locks.ts';
import { applicationName } from './connections/connection.ts';
import type { Database, Session, Tx } from './database.ts';
import { sqlStateOf } from './errors.ts';

/** An index of a partitioned table that replaces another one. Its migration has made it on the parent only. */
export interface TurnedIndex {
  table: string;
  name: string;
  /** Its columns and its condition, as in its migration. */
  definition: string;
  replaces: string;
}

/** Errors after which the next round tries again: the lock or the statement timed out, or another session was first. */
const passing = ['55P03', '57014', '40P01'];
/** Every request waits behind a statement that waits for such a lock. */
const impatient = `set lock_timeout = '300ms'; set statement_timeout = '2s'`;
const patient = `set lock_timeout = 0; set statement_timeout = 0`;
/**
 * The event feed waits for open transactions of the usual name, and building an index may take minutes: use another name.
 */
const ownName = `set application_name = '${applicationName} index'`;

/**
 * Builds the index for one partition at a time, the newest first, without blocking writes, and drops the replaced one
 * when every partition has it: Postgres drops the index of a single partition only with that of all.
 */
export function createIndexTurn(database: Database, index: TurnedIndex, everyMs: number): Chore {
  let session: Session | undefined;

  async function runPiece(): Promise<number> {
    if (await isTurned(database, index)) return 0;
    session = await database.openSession(() => {}, { patient: true });
    try {
      await session.query(ownName);
      return (await isAlone(session, index)) ? await turnSome(session, index) : 0;
    } catch (error) {
      if (passing.includes(sqlStateOf(error) ?? '')) return 0;
      throw error;
    } finally {
      await session.close();
      session = undefined;
    }
  }

  return { name: `turn-${index.name}`, everyMs, runPiece, interrupt: () => void session?.close() };
}

/** Names of partitions that do not have the index yet, the newest first. */
export async function findUnturned(tx: Tx, { table, name }: TurnedIndex): Promise<string[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = to_regclass($1) and not exists (
       select from pg_index x join pg_inherits p on p.inhrelid = x.indexrelid
       where x.indrelid = c.oid and x.indisvalid and p.inhparent = to_regclass($2))
     order by length(c.relname) desc, c.relname desc`,
    [table, name],
  );
  return rows.map((row) => row.name);
}

/** Whether the replaced index is gone. */
export async function isTurned(tx: Tx, { replaces }: Pick<TurnedIndex, 'replaces'>): Promise<boolean> {
  const { rows } = await tx.query<{ gone: boolean }>('select to_regclass($1) is null as gone', [replaces]);
  return rows[0]?.gone === true;
}

/** Takes a lock, so that one node builds at a time. It ends with the session. */
async function isAlone(session: Session, { name }: TurnedIndex): Promise<boolean> {
  const { rows } = await session.query<{ alone: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, $2)) as alone',
    [name, lockSeeds.turnedIndexes],
  );
  return rows[0]?.alone === true;
}

/** Builds the index of a partition, or drops the replaced one. Returns 1. */
async function turnSome(session: Session, index: TurnedIndex): Promise<number> {
  const [partition] = await findUnturned(session, index);
  if (partition === undefined) {
    await session.query(impatient);
    await session.query(`drop index if exists ${index.replaces}`);
    return 1;
  }
  const own = `${partition}_${index.name}`;
  await dropBroken(session, own);
  await session.query(patient);
  await session.query(`create index concurrently if not exists ${own} on ${partition} ${index.definition}`);
  await session.query(impatient);
  await session.query(`alter index ${index.name} attach partition ${own}`);
  return 1;
}

/** An index stays without use when its node stopped while building it. */
async function dropBroken(session: Session, name: string): Promise<void> {
  const { rows } = await session.query('select from pg_index where indexrelid = to_regclass($1) and not indisvalid', [
    name,
  ]);
  if (rows.length > 0) await session.query(`drop index concurrently ${name}`);
}
