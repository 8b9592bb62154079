import type { ClientConfig } from 'pg';

/** How to reach one server. */
export type Connection =
  | { url: string }
  | { host: string; port: number; user: string; password: string; database: string };

export interface Timeouts {
  /** Time to wait for a free connection, or for a new one to open. */
  connectMs: number;
  /** Time limit of one statement, set on the server. The client waits 200 ms longer before it drops the connection. */
  statementMs: number;
  /** Time limit of a transaction. Together with `connectMs` it keeps every request under 5 s. */
  transactionMs: number;
}

/** The name of our connections in `pg_stat_activity`. */
export const applicationName = 'heliograph';
export const defaultTimeouts: Timeouts = { connectMs: 1500, statementMs: 2500, transactionMs: 3000 };

export const withoutLimits: Timeouts = { connectMs: 0, statementMs: 0, transactionMs: 0 };

/**
 * All our statements read a few rows by index. By default Postgres scans small tables and keeps plans made for empty
 * tables, so each batch would read the whole table for a minute or more.
 */
const byIndex = { enable_bitmapscan: 'off', enable_seqscan: 'off', plan_cache_mode: 'force_custom_plan' };

export const planOnceSetting = `set plan_cache_mode = 'force_generic_plan'`;

/**
 * Set after connecting, because PgBouncer refuses these as startup parameters. They override server, database and role
 * defaults; times must arrive as ISO in UTC.
 */
export function sessionSettings({ statementMs, transactionMs }: Timeouts): string {
  const settings = {
    // The event feed finds our transactions by this name, so neither DATABASE_URL nor PgBouncer may change it.
    application_name: applicationName,
    timezone: 'UTC',
    datestyle: 'ISO',
    ...byIndex,
    // A scan that these settings rule out has such a cost that Postgres compiles the statement first, where it has a
    // compiler, as on Debian: a second of CPU for a statement of a tenth of a millisecond.
    jit: 'off',
    statement_timeout: statementMs,
    lock_timeout: statementMs === 0 ? 0 : Math.max(1, statementMs - 500),
    // Postgres releases the locks of a frozen node 2 s after the transaction's time limit.
    idle_in_transaction_session_timeout: transactionMs === 0 ? 0 : transactionMs + 2000,
  };
  return Object.entries(settings)
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join('; ');
}

export function clientConfig(connection: Connection, limits: Timeouts): ClientConfig {
  // The embedded server has no TLS; ignore a PGSSLMODE meant for other databases.
  const target = 'url' in connection ? { connectionString: connection.url } : { ...connection, ssl: false };
  return {
    ...target,
    application_name: applicationName,
    connectionTimeoutMillis: limits.connectMs,
    query_timeout: limits.statementMs + 200,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}
