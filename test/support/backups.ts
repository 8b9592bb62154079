import { join } from 'node:path';
import type { Tx } from '../../src/platform/database.ts';
import { runRestore } from '../../src/restore-command.ts';
import type { TestApp } from './app.ts';
import type { TestDatabase } from './database.ts';
import { makeFolder } from './process.ts';

let backups = 0;

export function backupPath(): string {
  return join(makeFolder('backup'), `${++backups}.backup`);
}

/** `npm run restore` into a database that no service uses. Resolves with what it prints at its end. */
export function restore(app: TestApp, into: TestDatabase, ...args: string[]): Promise<string> {
  return runRestore(args, {
    config: app.config,
    clock: app.clock,
    say: () => {},
    interrupted: new AbortController().signal,
    openStore: async () => into,
  });
}

/** The rows of each table, as text, in an order that is the same in every database. */
export async function readTables(tx: Tx): Promise<Record<string, string[]>> {
  const { rows: tables } = await tx.query<{ name: string }>(
    `select c.relname::text as name from pg_class c where c.relnamespace = 'public'::regnamespace
     and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  );
  const read: Record<string, string[]> = {};
  for (const { name } of tables) {
    const { rows } = await tx.query<{ row: string }>(`select t::text as row from "${name}" t order by 1`);
    read[name] = rows.map(({ row }) => row);
  }
  return read;
}
