import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Clock, toTimestamp } from '../platform/clock.ts';
import { syncFolder } from '../platform/crypto/private-file.ts';
import { randomBase62, randomBytes } from '../platform/crypto/random.ts';
import type { Database, Session } from '../platform/database/database.ts';
import { readOwnMigrations } from '../platform/database/migrate.ts';
import { findSpans, type PartitionedTable } from '../platform/database/partitions.ts';
import { StartError } from '../platform/errors.ts';
import {
  asLine,
  type BackupEnd,
  type BackupHeader,
  type BackupLabel,
  endOfTable,
  format,
  quoted,
} from './backup-file.ts';
import { createBackupKey, describeKey } from './backup-key.ts';
import { createProgress } from './progress.ts';
import { sealChunks } from './sealed-chunks.ts';
import { readStore } from './stored-tables.ts';

export interface BackupOptions {
  database: Database;
  clock: Clock;
  path: string;
  secret: string;
  version: string;
  environment: string;
  partitionedTables: PartitionedTable[];
  say: (text: string) => void;
  /** Aborted when a person or the system ends the command. */
  interrupted: AbortSignal;
}

export interface TakenBackup {
  tables: number;
  rows: number;
  bytes: number;
}

/**
 * Writes all tables, as they are at one moment, into one file. A service may run meanwhile: a backup
 * delays only the removal of old partitions and of dead rows. The file gets its name when it is complete.
 */
export async function takeBackup(options: BackupOptions): Promise<TakenBackup> {
  const { database, path } = options;
  if (await exists(path)) throw new StartError(`${path} exists already. Give the backup another name.`);
  const unfinished = `${path}.unfinished-${randomBase62(8)}`;
  const session = await database.openSession(() => {}, { patient: true });
  try {
    const counts = { tables: 0, rows: 0 };
    await session.query(snapshotSettings);
    await session.query('begin isolation level repeatable read read only');
    const header = await readHeader(session, options);
    const output = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline(
      writeRows(session, header, options, counts),
      createGzip({ level: 4 }),
      (compressed: AsyncIterable<Buffer>) => encrypt(compressed, header, options),
      output,
      { signal: options.interrupted },
    );
    const { size } = await stat(unfinished);
    await rename(unfinished, path);
    await syncFolder(dirname(path));
    return { ...counts, bytes: size };
  } catch (error) {
    await rm(unfinished, { force: true });
    throw options.interrupted.aborted ? new StartError('The backup was interrupted. No file was written.') : error;
  } finally {
    await session.close();
  }
}

/**
 * Rows are read in the order in which they lie. Under another name, because the event feed waits for the transactions of
 * Heliograph's connections.
 */
const snapshotSettings = `set application_name = 'heliograph backup'; set enable_seqscan = on; set lock_timeout = '10s';
  set bytea_output = 'hex'; set extra_float_digits = 1`;

/** The label, and behind it the chunks that only the secret opens. */
async function* encrypt(
  compressed: AsyncIterable<Buffer>,
  { made_at, version }: BackupHeader,
  { secret, environment }: BackupOptions,
): AsyncGenerator<Buffer> {
  const salt = randomBytes(16);
  const { check, chunkKey } = await createBackupKey(secret, salt);
  const label = asLine({
    heliograph_backup: format,
    made_at,
    version,
    environment,
    ...describeKey(salt),
    secret_check: check,
  } satisfies BackupLabel);
  yield label;
  yield* sealChunks(chunkKey(label), compressed);
}

async function* writeRows(
  session: Session,
  header: BackupHeader,
  { clock, say }: BackupOptions,
  counts: { tables: number; rows: number },
): AsyncGenerator<Buffer> {
  yield asLine(header);
  const progress = createProgress(clock, say);
  for (const table of header.tables) {
    const rows = session.copyOut(`copy (select ${quoted(table).columns} from ${quoted(table).table}) to stdout`);
    for await (const block of rows as AsyncIterable<Buffer>) {
      yield block;
      progress.moved(table.name, block.length);
    }
    yield endOfTable;
    counts.tables++;
    counts.rows += rows.rows;
  }
  yield asLine({ end: true, rows: counts.rows } satisfies BackupEnd);
}

/** Reads sequences after the snapshot was taken, so none is behind the rows. */
async function readHeader(
  session: Session,
  { clock, version, partitionedTables }: BackupOptions,
): Promise<BackupHeader> {
  const migrations = await readOwnMigrations();
  const partitions: BackupHeader['partitions'] = {};
  for (const table of partitionedTables) partitions[table.name] = await findSpans(session, table);
  const { tables, sequences } = await readStore(session, migrations);
  return {
    made_at: toTimestamp(clock.nowMs()),
    version,
    migrations: migrations.map(({ name, checksum }) => ({ name, checksum })),
    partitions,
    sequences,
    tables,
  };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
