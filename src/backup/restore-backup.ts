import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../platform/clock.ts';
import type { Database, Session, Tx } from '../platform/database/database.ts';
import { makeSpans, type PartitionedTable } from '../platform/database/partitions.ts';
import { StartError } from '../platform/errors.ts';
import { type BackupHeader, quoted } from './backup-file.ts';
import { createProgress, type Progress } from './progress.ts';
import { type ReadBackup, type ReadOptions, readBackup } from './read-backup.ts';
import { readStore, type StoredTable } from './stored-tables.ts';

export type CheckOptions = Omit<ReadOptions, 'onTable' | 'onHeader'> & { clock: Clock; say: (text: string) => void };

export interface RestoreOptions extends CheckOptions {
  database: Database;
  checked: ReadBackup;
  /** Whether what the database holds may be deleted. */
  replace: boolean;
  partitionedTables: PartitionedTable[];
  /** Changes that old records need, in the same transaction. */
  afterwards: (tx: Tx) => Promise<void>;
  /** Aborted when a person or the system ends the command. */
  interrupted: AbortSignal;
}

/** Reads a backup to its end before anything is changed. */
export async function checkBackup(options: CheckOptions): Promise<ReadBackup> {
  const progress = createProgress(options.clock, options.say);
  return readBackup({
    ...options,
    async onTable(table, rows) {
      for await (const block of rows) progress.moved(`checking ${table.name}`, block.length);
    },
  });
}

/**
 * Puts the records of a backup in the place of those in the database, in one transaction: whatever happens meanwhile, the
 * database holds what it held before, or all of the backup.
 */
export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const session = await options.database.openSession(() => {}, { patient: true });
  try {
    await session.query(`begin; set local lock_timeout = '10s'`);
    const progress = createProgress(options.clock, options.say);
    const read = await readBackup({
      ...options,
      onHeader: (header) => prepare(session, header, options),
      onTable: (table, rows) => putRows(session, table, rows, progress, options.interrupted),
    });
    if (read.id !== options.checked.id) throw changedMeanwhile(options.path);
    await switchTriggers(session, read.header, 'enable');
    await options.afterwards(session);
    options.interrupted.throwIfAborted();
    await session.query('commit');
    // Updates the planner's statistics, which Postgres would do only minutes later.
    await session.query(`analyze ${read.header.tables.map((table) => quoted(table).table).join(', ')}`);
  } catch (error) {
    throw options.interrupted.aborted ? new StartError('The restore was interrupted. Nothing was changed.') : error;
  } finally {
    await session.close();
  }
}

/** Empties the tables, and makes the partitions that the backup's records had. */
async function prepare(session: Session, header: BackupHeader, options: RestoreOptions): Promise<void> {
  // Its names become part of statements, so it must be the header that was checked.
  if (JSON.stringify(header) !== JSON.stringify(options.checked.header)) throw changedMeanwhile(options.path);
  const { all } = await readStore(session, options.migrations);
  if (!options.replace) await requireEmpty(session);
  await switchTriggers(session, header, 'disable');
  await session.query(`truncate ${all.map((name) => `"${name}"`).join(', ')}`);
  for (const table of options.partitionedTables) await makeSpans(session, table, header.partitions[table.name] ?? []);
  // Making partitions sets short time limits, meant for a table in use.
  await session.query(`set local statement_timeout = 0; set local lock_timeout = 0`);
  for (const [name, last] of Object.entries(header.sequences)) await raiseSequence(session, name, last);
}

/** Tables that get the first records of a service: all are empty if it never ran. */
const firstUsed = ['account', 'person', 'message', 'verification'];

async function requireEmpty(tx: Tx): Promise<void> {
  const some = firstUsed.map((name) => `exists (select from "${name}")`).join(' or ');
  const { rows } = await tx.query<{ some: boolean }>(`select ${some} as some`);
  if (rows[0]?.some === true)
    throw new StartError(
      'The database holds records already, and a restore would delete them. Nothing was changed.\n' +
        'To replace them by the backup, add --replace. Make a backup of them first.',
    );
}

/** The audit log refuses to be emptied, by a trigger. */
async function switchTriggers(tx: Tx, { tables }: BackupHeader, to: 'enable' | 'disable'): Promise<void> {
  const { rows } = await tx.query<{ name: string }>(
    `select distinct c.relname::text as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where not t.tgisinternal and c.relnamespace = current_schema()::regnamespace and c.relname = any($1)`,
    [tables.map(({ name }) => name)],
  );
  for (const { name } of rows) await tx.query(`alter table "${name}" ${to} trigger user`);
}

/** A rollback does not bring back the value of a sequence, so it only ever grows. */
async function raiseSequence(tx: Tx, name: string, last: number): Promise<void> {
  await tx.query(`select setval('"${name}"', greatest(last_value, $1::bigint)) from "${name}"`, [last]);
}

async function putRows(
  session: Session,
  table: StoredTable,
  rows: AsyncGenerator<Buffer>,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { table: name, columns } = quoted(table);
  const counted = async function* () {
    for await (const block of rows) {
      yield block;
      progress.moved(table.name, block.length);
    }
  };
  await pipeline(Readable.from(counted()), session.copyIn(`copy ${name} (${columns}) from stdin`), { signal });
}

function changedMeanwhile(path: string): StartError {
  return new StartError(`${path} was changed while it was restored. Nothing was restored.`);
}
