import { applicationName, type Database } from '../platform/database/database.ts';

/** Transactions that run in our database, each by its process and its start. */
export type Transactions = ReadonlySet<string>;

/**
 * The transactions of Heliograph's own connections that are running, but for this one. A statement sees what was committed
 * before it began, so the ones that matter are those that began before.
 */
export async function findRunning(database: Database): Promise<Transactions> {
  const { rows } = await database.query<{ running: string[] }>(runningStatement);
  return new Set(rows[0]?.running ?? []);
}

/**
 * SQL that says whether a row `a` of `pg_stat_get_activity` is a connection of Heliograph to its database. Others, like a
 * backup or a person's, change no record.
 */
export const isOurs = `a.datid = (select oid from pg_database where datname = current_database())
      and a.application_name = '${applicationName}'`;

const runningStatement = {
  name: 'find-running-transactions',
  text: `select coalesce(array_agg(a.pid || ' ' || extract(epoch from a.xact_start)), '{}') as running
    from pg_stat_get_activity(null) a where ${isOurs} and a.pid <> pg_backend_pid() and a.xact_start is not null`,
};
