import { applicationName } from '../platform/database/connections/connection.ts';
import type { Database } from '../platform/database/database.ts';

/** Transactions that run in our database, each by its process and start. */
export type Transactions = ReadonlySet<string>;

/**
 * Running transactions of Heliograph's own connections, except this one. A statement sees only what was committed
 * before it began, so earlier transactions matter.
 */
export async function findRunning(database: Database): Promise<Transactions> {
  const { rows } = await database.query<{ running: string[] }>(runningStatement);
  return new Set(rows[0]?.running ?? []);
}

/**
 * SQL: whether a row `a` of `pg_stat_get_activity` is a connection of Heliograph to its database. Others, such as a
 * backup, change no record.
 */
export const isOurs = `a.datid = (select oid from pg_database where datname = current_database())
      and a.application_name = '${applicationName}'`;

const runningStatement = {
  name: 'find-running-transactions',
  text: `select coalesce(array_agg(a.pid || ' ' || extract(epoch from a.xact_start)), '{}') as running
    from pg_stat_get_activity(null) a where ${isOurs} and a.pid <> pg_backend_pid() and a.xact_start is not null`,
};
