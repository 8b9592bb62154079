import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { StartError } from '../errors.ts';

/**
 * How a file runs. `at-once`: in one transaction, for changes that take no time. `in-pieces`: its statement is repeated,
 * each time in a transaction of its own, until it changes no row. `concurrently`: each statement alone, for indexes; with
 * `{partition}` in it once for each partition of a table.
 */
export type MigrationKind =
  | { kind: 'at-once' }
  | { kind: 'in-pieces' }
  | { kind: 'concurrently'; table: string | undefined };

export type Migration = MigrationKind & {
  version: number;
  name: string;
  sql: string;
  checksum: string;
};

export async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(fileURLToPath(folder))).filter((name) => name.endsWith('.sql')).sort();
  const migrations = await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      const version = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1]);
      if (!(version > 0)) throw new StartError(`Migration ${name} must be named like 0001-what.sql.`);
      return { ...kindOf(sql), version, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
  migrations.forEach(({ version, name }, index) => {
    if (version !== index + 1)
      throw new StartError(`Migration ${name} is out of order: number ${index + 1} is missing.`);
  });
  return migrations;
}

/** The first line may say how a file runs. */
function kindOf(sql: string): MigrationKind {
  if (/^-- in pieces\n/.test(sql)) return { kind: 'in-pieces' };
  const found = /^-- concurrently(?:, for each partition of (\w+))?\n/.exec(sql);
  return found === null ? { kind: 'at-once' } : { kind: 'concurrently', table: found[1] };
}
