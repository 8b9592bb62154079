import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Clock, toTimestamp } from '../platform/clock.ts';
import type { Database, Session } from '../platform/database.ts';
import { StartError } from '../platform/errors.ts';
import { readOwnMigrations } from '../platform/migrate.ts';
import { findSpans, type PartitionedTable } from '../platform/partitions.ts';
import { syncFolder } from '../platform/private-file.ts';
import { randomBase62, randomBytes } from '../platform/random.ts';
import { type BackupEnd, type BackupHeader, createSeal, endOfTable, format, quoted } from './backup-file.ts';
import { createProgress } from './progress.ts';
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
 * Writes all tables, as they are at one moment, into one file. A service may run meanwhile: nothing waits for a backup but
 * the removal of old partitions and of dead rows. The file gets its name when it is complete.
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
    const output = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline(writeBackup(session, options, counts), createGzip({ level: 4 }), output, {
      signal: options.interrupted,
    });
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

async function* writeBackup(
  session: Session,
  options: BackupOptions,
  counts: { tables: number; rows: number },
): AsyncGenerator<Buffer> {
  const { secret, clock, say } = options;
  const salt = randomBytes(16);
  const { seal, check } = await createSeal(secret, salt);
  const sealed = (bytes: Buffer) => {
    seal.update(bytes);
    return bytes;
  };
  const header = await readHeader(session, options, { salt: salt.toString('hex'), secret_check: check });
  yield sealed(asLine(header));
  const progress = createProgress(clock, say);
  for (const table of header.tables) {
    const rows = session.copyOut(`copy (select ${quoted(table).columns} from ${quoted(table).table}) to stdout`);
    for await (const block of rows as AsyncIterable<Buffer>) {
      yield sealed(block);
      progress.moved(table.name, block.length);
    }
    yield sealed(endOfTable);
    counts.tables++;
    counts.rows += rows.rows;
  }
  yield asLine({ end: true, rows: counts.rows, seal: seal.digest('hex') } satisfies BackupEnd);
}

/** Sequences are read after the first look at a table, so none lies behind the rows. */
async function readHeader(
  session: Session,
  { clock, version, environment, partitionedTables }: BackupOptions,
  seal: Pick<BackupHeader, 'salt' | 'secret_check'>,
): Promise<BackupHeader> {
  const migrations = await readOwnMigrations();
  const partitions: BackupHeader['partitions'] = {};
  for (const table of partitionedTables) partitions[table.name] = await findSpans(session, table);
  const { tables, sequences } = await readStore(session, migrations);
  return {
    heliograph_backup: format,
    made_at: toTimestamp(clock.nowMs()),
    version,
    environment,
    ...seal,
    migrations: migrations.map(({ name, checksum }) => ({ name, checksum })),
    partitions,
    sequences,
    tables,
  };
}

function asLine(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
