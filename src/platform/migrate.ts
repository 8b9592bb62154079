import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Clock } from './clock.ts';
import { toTimestamp } from './clock.ts';
import type { Database } from './database.ts';
import { StartError } from './errors.ts';
import type { Log } from './log.ts';

interface Migration {
  version: number;
  name: string;
  sql: string;
  checksum: string;
}

// `src` and `dist` are both one level below the project's folder.
const migrationsFolder = new URL('../../migrations/', import.meta.url);

/** An arbitrary number, equal on every node. The node that holds the lock migrates; the others wait. */
const migrationLock = 4_207_001;

/**
 * Brings the schema up to date: numbered files, forward only, each in one transaction with the row that records it.
 * Nodes that start together wait for each other; the later ones find nothing left to do.
 */
export async function migrate(database: Database, clock: Clock, log: Log, folder = migrationsFolder): Promise<void> {
  const migrations = await readMigrations(folder);
  const session = await database.openSession(() => {}, { patient: true });
  try {
    await session.query('select pg_advisory_lock($1)', [migrationLock]);
    await session.query(`create table if not exists schema_migration (
      version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null)`);
    const { rows } = await session.query<{ version: number; checksum: string }>(
      'select version, checksum from schema_migration',
    );
    const applied = new Map(rows.map((row) => [row.version, row.checksum]));

    for (const migration of migrations) {
      const checksum = applied.get(migration.version);
      if (checksum === migration.checksum) continue;
      if (checksum !== undefined) {
        throw new StartError(
          `Migration ${migration.name} was changed after it ran on this database. Restore it, and add a new migration instead.`,
        );
      }
      await session.query('begin');
      try {
        await session.query(migration.sql);
        await session.query('insert into schema_migration values ($1, $2, $3, $4)', [
          migration.version,
          migration.name,
          migration.checksum,
          toTimestamp(clock.nowMs()),
        ]);
        await session.query('commit');
      } catch (error) {
        // If the connection is lost, Postgres has already rolled back.
        await session.query('rollback').catch(() => {});
        throw new StartError(`Migration ${migration.name} failed: ${(error as Error).message}`);
      }
      log.info({ migration: migration.name }, 'migrated');
    }
    const newest = migrations.at(-1)?.version ?? 0;
    const unknown = [...applied.keys()].filter((version) => version > newest);
    // An older node may restart during a rollout of a newer version: migrations only add.
    if (unknown.length > 0) log.warn({ unknown }, 'the database is newer than this version');
  } finally {
    await session.close();
  }
}

async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(fileURLToPath(folder))).filter((name) => name.endsWith('.sql')).sort();
  const migrations = await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      const version = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1]);
      if (!(version > 0)) throw new StartError(`Migration ${name} must be named like 0001-what.sql.`);
      return { version, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
  migrations.forEach(({ version, name }, index) => {
    if (version !== index + 1)
      throw new StartError(`Migration ${name} is out of order: number ${index + 1} is missing.`);
  });
  return migrations;
}
