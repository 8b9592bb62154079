import type { Clock } from '../clock.ts';
import { toTimestamp } from '../clock.ts';
import { StartError } from '../errors.ts';
import type { Log } from '../log.ts';
import { projectFolder } from '../project-folder.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database, Tx } from './database.ts';
import { sqlStateOf } from './errors.ts';
import { type Migration, readMigrations } from './migration-files.ts';

// The sources and what is built from them both lie two levels below the project's folder.
const migrationsFolder = new URL('migrations/', projectFolder);

/** On a store in use, a migration waits no longer than this for a lock, since requests wait behind it, and holds it no longer. */
const longestLockMs = 1000;
const lockTries = 60;
const progressEveryMs = 2000;

/** The migrations of this version. */
export function readOwnMigrations(): Promise<Migration[]> {
  return readMigrations(migrationsFolder);
}

type Session = Awaited<ReturnType<Database['openSession']>>;

/**
 * Brings the schema up to date: numbered files, forward only. Nodes that start together wait for each other; the later
 * ones find nothing left to do. A migration that was interrupted goes on where it stopped at the next start.
 */
export async function migrate(database: Database, clock: Clock, log: Log, folder = migrationsFolder): Promise<void> {
  const migrations = await readMigrations(folder);
  const session = await database.openSession(() => {}, { patient: true });
  try {
    // One node migrates; the others wait.
    await session.query('select pg_advisory_lock($1)', [advisoryLocks.migrations]);
    await session.query(`create table if not exists schema_migration (
      version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null)`);
    const { rows } = await session.query<{ version: number; checksum: string }>(
      'select version, checksum from schema_migration',
    );
    const applied = new Map(rows.map((row) => [row.version, row.checksum]));
    // A new database has no rows and no callers.
    const run = createRunner(session, clock, log, { inUse: applied.size > 0 });

    for (const migration of migrations) {
      const checksum = applied.get(migration.version);
      if (checksum === migration.checksum) continue;
      if (checksum !== undefined) {
        throw new StartError(
          `Migration ${migration.name} was changed after it ran on this database. Restore it, and add a new migration instead.`,
        );
      }
      try {
        await run(migration);
      } catch (error) {
        throw new StartError(`Migration ${migration.name} failed: ${reasonOf(error as Error)}`);
      }
      log[log.routine]({ migration: migration.name }, 'migrated');
    }
    const newest = migrations.at(-1)?.version ?? 0;
    const unknown = [...applied.keys()].filter((version) => version > newest);
    // An older node may restart during a rollout of a newer version: migrations only add.
    if (unknown.length > 0) log.warn({ unknown }, 'the database is newer than this version');
  } finally {
    await session.close();
  }
}

/** When a migration ran on this database; undefined if it has not. */
export async function migratedAtMs(tx: Tx, version: number): Promise<number | undefined> {
  const { rows } = await tx.query<{ atMs: number }>(
    'select applied_at as "atMs" from schema_migration where version = $1',
    [version],
  );
  return rows[0]?.atMs;
}

function createRunner(session: Session, clock: Clock, log: Log, { inUse }: { inUse: boolean }) {
  const record = ({ version, name, checksum }: Migration) =>
    session.query('insert into schema_migration values ($1, $2, $3, $4)', [
      version,
      name,
      checksum,
      toTimestamp(clock.nowMs()),
    ]);

  async function transaction<Result>(work: () => Promise<Result>): Promise<Result> {
    await session.query('begin');
    try {
      if (inUse) await session.query(`set local lock_timeout = ${longestLockMs}`);
      const result = await work();
      await session.query('commit');
      return result;
    } catch (error) {
      // If the connection is lost, Postgres has already rolled back.
      await session.query('rollback').catch(() => {});
      throw error;
    }
  }

  /** Lets requests pass before it asks for the lock again. */
  async function withLocks<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries++) {
      try {
        return await work();
      } catch (error) {
        if (sqlStateOf(error) !== '55P03' || tries === lockTries) throw error;
        await new Promise((done) => setTimeout(done, longestLockMs / 4));
      }
    }
  }

  /** A statement that takes longer than a lock may be held fails, and with it the start: it has to be written in pieces. */
  const runAtOnce = (migration: Migration) =>
    withLocks(() =>
      transaction(async () => {
        if (inUse) await session.query(`set local statement_timeout = ${longestLockMs}`);
        await session.query(migration.sql);
        await record(migration);
      }),
    );

  async function runInPieces(migration: Migration): Promise<void> {
    let rows = 0;
    let reportedMs = clock.steadyMs();
    for (;;) {
      const { count } = await withLocks(() => transaction(() => session.query(migration.sql)));
      rows += count;
      if (clock.steadyMs() - reportedMs >= progressEveryMs) {
        reportedMs = clock.steadyMs();
        log.info({ migration: migration.name, rows }, 'migrating');
      }
      if (count === 0) break;
    }
    await record(migration);
  }

  async function runConcurrently(migration: Migration, table: string | undefined): Promise<void> {
    const partitions = table === undefined ? [''] : await findPartitions(table);
    for (const [place, partition] of partitions.entries()) {
      for (const statement of statementsOf(migration.sql.replaceAll('{partition}', partition))) {
        await dropBrokenIndex(statement);
        await session.query(statement);
      }
      log.info({ migration: migration.name, done: place + 1, of: partitions.length }, 'migrating');
    }
    await record(migration);
  }

  async function findPartitions(table: string): Promise<string[]> {
    const { rows } = await session.query<{ name: string }>(
      'select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1',
      [table],
    );
    return rows.map(({ name }) => name);
  }

  /** Drops an index whose build was interrupted: it stays in the table, and Postgres never uses it. */
  async function dropBrokenIndex(statement: string): Promise<void> {
    const [, name] = / concurrently if not exists (\w+)/.exec(statement) ?? [];
    if (name === undefined) return;
    const { rows } = await session.query('select from pg_index where indexrelid = to_regclass($1) and not indisvalid', [
      name,
    ]);
    if (rows.length > 0) await session.query(`drop index concurrently ${name}`);
  }

  return (migration: Migration): Promise<void> => {
    if (migration.kind === 'in-pieces') return runInPieces(migration);
    if (migration.kind === 'concurrently') return runConcurrently(migration, migration.table);
    return runAtOnce(migration);
  };
}

function reasonOf(error: Error): string {
  if (sqlStateOf(error) === '57014') return 'It took longer than a second with its locks held. Write it in pieces.';
  if (sqlStateOf(error) === '55P03') return 'Other sessions hold the locks it needs. Start again when they have ended.';
  return error.message;
}

/** Postgres runs several statements of one query in a transaction, which these must not be in. */
function statementsOf(sql: string): string[] {
  const bare = sql.replaceAll(/^--.*$/gm, '');
  return bare
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
