import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { Client, type ClientBase, type ClientConfig, Pool, types } from 'pg';
import type { Log } from '../log.ts';
import { CopyIn, CopyOut } from './copy-streams.ts';
import { CommitInDoubt, isConnectionLoss, keepsConnectionUsable, translateError } from './errors.ts';

/** Postgres parses a named statement once per connection. */
export interface Statement {
  name: string;
  text: string;
  /**
   * Postgres plans it once per connection, not at each execution: only for a statement with one possible plan,
   * whatever the tables hold. Has no effect in a transaction.
   */
  planOnce?: true;
}

export interface Rows<Row> {
  rows: Row[];
  /** Number of rows returned or changed. */
  count: number;
}

/** Runs SQL: the pool or a transaction. Stores take it first, so that a caller can put two acts in one commit. */
export interface Tx {
  query<Row = Record<string, unknown>>(statement: Statement | string, values?: unknown[]): Promise<Rows<Row>>;
}

/** Writes an entry of the audit log, in the transaction of the act. */
export type Note<Result = unknown> = (tx: Tx, result: Result) => Promise<void>;

/** Work of a transaction, and the caller's entry in the audit log. */
export function noted<Result>(work: (tx: Tx) => Promise<Result>, note: Note<Result> | undefined) {
  return async (tx: Tx): Promise<Result> => {
    const result = await work(tx);
    await note?.(tx, result);
    return result;
  };
}

export interface Database extends Tx {
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  /**
   * Opens a dedicated connection for session locks and LISTEN. It does not reconnect: `onLost` is called once when it
   * breaks. `patient` removes statement time limits, for migrations.
   */
  openSession(onLost: (error: Error) => void, options?: { patient?: boolean }): Promise<Session>;
  /** How many connections the pool has, and how many callers wait for one. */
  connections(): { busy: number; idle: number; waiting: number };
  close(): Promise<void>;
}

export interface Session extends Tx {
  /** The rows that `copy … to stdout` writes. */
  copyOut(statement: string): CopyOut;
  /** Takes the rows for `copy … from stdin`. After an error the session is of no use: close it. */
  copyIn(statement: string): Writable;
  onNotification(listener: (channel: string, payload: string) => void): void;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  connection: { url: string } | { host: string; port: number; user: string; password: string; database: string };
  log: Log;
  poolSize?: number;
  timeouts?: Partial<Timeouts>;
}

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
const defaultTimeouts: Timeouts = { connectMs: 1500, statementMs: 2500, transactionMs: 3000 };
/** How long closing may take before the socket is cut. */
const goodbyeMs = 500;

// Read all times, also in arrays (from array_agg), as milliseconds: the program knows one kind of time.
const [textArray, timestamptzArray, int8Array, uuidArray] = [1009, 1185, 1016, 2951];
const readTextArray = types.getTypeParser(textArray, 'text') as (text: string) => (string | null)[];
types.setTypeParser(types.builtins.TIMESTAMPTZ, readTime);
types.setTypeParser(timestamptzArray, (text) => readTextArray(text).map((entry) => entry && readTime(entry)));
types.setTypeParser(types.builtins.INT8, Number);
types.setTypeParser(uuidArray, (text) => (text.length === 2 ? [] : text.slice(1, -1).split(',')));
types.setTypeParser(int8Array, (text) => readTextArray(text).map((entry) => entry && Number(entry)));

/** Creates the pool. Every wait has a time limit, and every temporary failure becomes a 503. */
export function createDatabase({ connection, log, poolSize = 10, timeouts }: DatabaseOptions): Database {
  const limits = { ...defaultTimeouts, ...timeouts };
  const config = clientConfig(connection, limits);
  const settings = sessionSettings(limits);
  const createPool = (max: number, settings: string) => {
    const pool = new Pool({
      ...config,
      max,
      idleTimeoutMillis: 30_000,
      maxLifetimeSeconds: 1800,
      onConnect: async (client) => void (await client.query(settings)),
    });
    // Without a listener, a broken idle connection would end the process. The pool has already dropped it.
    pool.on('error', (error) => log.warn({ reason: error.message }, 'an idle database connection was lost'));
    // The same for a connection that breaks between two statements of a transaction: the next statement fails.
    pool.on('connect', (client) => client.on('error', () => {}));
    return pool;
  };
  const pool = createPool(poolSize, settings);
  // Postgres has no such setting for a single statement, so these statements have their own connections.
  const planningOnce = createPool(Math.min(poolSize, mostPlanningOnce), `${settings}; ${planOnceSetting}`);

  async function withClient<Result>(
    pool: Pool,
    work: (client: ClientBase, giveUp: () => void) => Promise<Result>,
    limitMs: number,
  ): Promise<Result> {
    const client = await pool.connect().catch((error: unknown) => {
      throw translateError(error);
    });
    // pg would return a connection whose query timed out to the pool. We destroy it instead.
    let released = false;
    const release = (destroy: boolean) => {
      if (released) return;
      released = true;
      client.release(destroy);
    };
    const deadline = setTimeout(() => release(true), limitMs);
    try {
      const result = await work(client, () => release(true));
      release(false);
      return result;
    } catch (error) {
      const translated = translateError(error);
      release(translated !== error && !keepsConnectionUsable(error));
      throw translated;
    } finally {
      clearTimeout(deadline);
    }
  }

  return {
    query: (statement, values) => {
      const once = typeof statement !== 'string' && statement.planOnce === true;
      return withClient(once ? planningOnce : pool, (client) => run(client, statement, values), limits.transactionMs);
    },

    transaction: (work) =>
      withClient(
        pool,
        async (client, giveUp) => {
          await client.query('begin');
          try {
            const result = await work({ query: (statement, values) => run(client, statement, values) });
            await commit(client);
            return result;
          } catch (error) {
            // Report the first error, not a failed rollback after it.
            if (!isConnectionLoss(error)) await client.query('rollback').catch(giveUp);
            throw error;
          }
        },
        limits.transactionMs,
      ),

    openSession: (onLost, { patient = false } = {}) =>
      patient
        ? openSession({ ...config, query_timeout: undefined }, sessionSettings(withoutLimits), onLost)
        : openSession(config, settings, onLost),

    connections() {
      const both = [pool, planningOnce];
      const sum = (count: (one: Pool) => number) => both.reduce((total, one) => total + count(one), 0);
      return {
        busy: sum(({ totalCount, idleCount }) => totalCount - idleCount),
        idle: sum(({ idleCount }) => idleCount),
        waiting: sum(({ waitingCount }) => waitingCount),
      };
    },

    async close() {
      await Promise.all([pool.end(), planningOnce.end()]);
    },
  };
}

async function commit(client: ClientBase): Promise<void> {
  const { command } = await client.query('commit').catch((error: unknown) => {
    throw isConnectionLoss(error) ? new CommitInDoubt(error) : error;
  });
  // If a caller swallowed a statement's error, COMMIT rolls back but reports success.
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back because a statement in it had failed');
}

async function openSession(config: ClientConfig, settings: string, onLost: (error: Error) => void): Promise<Session> {
  const socket = new Socket();
  const client = new Client({ ...config, stream: () => socket });
  let over = false;
  const lose = (error: Error) => {
    if (over) return;
    over = true;
    socket.destroy();
    onLost(error);
  };
  // Listen before connecting: a connection that breaks while it is set up must not end the process.
  client.on('error', () => {});
  await client
    .connect()
    .then(() => client.query(settings))
    .catch((error: unknown) => {
      over = true;
      socket.destroy();
      throw translateError(error);
    });
  client.on('error', lose);
  client.on('end', () => lose(new Error('the connection was closed')));
  return {
    query: (statement, values) =>
      run<never>(client, statement, values).catch((error: unknown) => {
        if (isConnectionLoss(error)) lose(error as Error);
        throw translateError(error);
      }),
    copyOut: (statement) => client.query(new CopyOut(statement)),
    copyIn: (statement) => client.query(new CopyIn(statement)),
    onNotification: (listener) =>
      client.on('notification', (notification) => listener(notification.channel, notification.payload ?? '')),
    async close() {
      over = true;
      const late = setTimeout(() => socket.destroy(), goodbyeMs);
      await client.end();
      clearTimeout(late);
    },
  };
}

/**
 * All our statements read a few rows by index. By default Postgres scans small tables and keeps plans made for empty
 * tables, so each batch would read the whole table for a minute or more.
 */
const byIndex = { enable_bitmapscan: 'off', enable_seqscan: 'off', plan_cache_mode: 'force_custom_plan' };

const planOnceSetting = `set plan_cache_mode = 'force_generic_plan'`;
/** The batches of accepted texts and of starts run two at a time, and so do the claims of a carrier. */
const mostPlanningOnce = 4;

const withoutLimits: Timeouts = { connectMs: 0, statementMs: 0, transactionMs: 0 };

/**
 * Set after connecting, because PgBouncer refuses these as startup parameters. They override server, database and role
 * defaults; times must arrive as ISO in UTC.
 */
function sessionSettings({ statementMs, transactionMs }: Timeouts): string {
  const settings = {
    // The event feed finds our transactions by this name, so neither DATABASE_URL nor PgBouncer may change it.
    application_name: applicationName,
    timezone: 'UTC',
    datestyle: 'ISO',
    ...byIndex,
    statement_timeout: statementMs,
    lock_timeout: statementMs === 0 ? 0 : Math.max(1, statementMs - 500),
    // Postgres releases the locks of a frozen node 2 s after the transaction's time limit.
    idle_in_transaction_session_timeout: transactionMs === 0 ? 0 : transactionMs + 2000,
  };
  return Object.entries(settings)
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join('; ');
}

async function run<Row>(client: ClientBase, statement: Statement | string, values: unknown[] = []): Promise<Rows<Row>> {
  const query =
    typeof statement === 'string'
      ? { text: statement, values }
      : { name: statement.name, text: statement.text, values };
  const result = await client.query(query);
  return { rows: result.rows as Row[], count: result.rowCount ?? 0 };
}

function clientConfig(connection: DatabaseOptions['connection'], limits: Timeouts): ClientConfig {
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

/** Reads `2026-11-16 03:12:10.123456+00`. Every row holds several times, and `Date.parse` takes several times as long. */
export function readTime(text: string): number {
  const isTime = text[4] === '-' && text[10] === ' ' && text[13] === ':' && text[16] === ':' && text.endsWith('+00');
  if (!isTime) throw new Error(`the database wrote a time as ${text}`);
  // The fraction has no trailing zeros, and none at all for a whole second.
  const end = Math.min(text.length - 3, 23);
  const millis = end <= 20 ? 0 : digits(text, 20, end) * 10 ** (23 - end);
  return Date.UTC(
    digits(text, 0, 4),
    digits(text, 5, 7) - 1,
    digits(text, 8, 10),
    digits(text, 11, 13),
    digits(text, 14, 16),
    digits(text, 17, 19),
    millis,
  );
}

/** The same for a time that may be null, in a packed row. */
export function readTimeOrNull(text: string): number | null {
  return text === '' ? null : readTime(text);
}

function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) number = number * 10 + text.charCodeAt(at) - 48;
  return number;
}
