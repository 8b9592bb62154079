import { Client, type ClientBase, type ClientConfig, Pool, types } from 'pg';
import { ApiError, unavailable } from './errors.ts';
import type { Log } from './log.ts';

/** A named statement is parsed and planned once per connection. */
export interface Statement {
  name: string;
  text: string;
}

export interface Rows<Row> {
  rows: Row[];
  /** Rows returned or touched. */
  count: number;
}

/** Anything that runs SQL: the pool, or a transaction. Stores take it first, so a caller can put two acts in one commit. */
export interface Tx {
  query<Row = Record<string, unknown>>(statement: Statement | string, values?: unknown[]): Promise<Rows<Row>>;
}

export interface Database extends Tx {
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  /** A connection of one's own, for session locks and LISTEN. It ends with `onLost`, and is not opened anew. */
  openSession(onLost: (error: Error) => void): Promise<Session>;
  close(): Promise<void>;
}

export interface Session extends Tx {
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
  /** Waiting for a free connection, or for a new one to open. */
  connectMs: number;
  /** One statement, told to the server; the client waits a little longer before it gives the connection up. */
  statementMs: number;
  /** A whole transaction, so that a request never waits longer than connect and this together: under 5 s. */
  transactionMs: number;
}

const defaultTimeouts: Timeouts = { connectMs: 1500, statementMs: 2500, transactionMs: 3000 };

// Times travel as milliseconds: one kind of time in the whole program. Sessions run in UTC, so the text ends in +00.
types.setTypeParser(types.builtins.TIMESTAMPTZ, (text) => Date.parse(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`));
types.setTypeParser(types.builtins.INT8, Number);

export function createDatabase({ connection, log, poolSize = 10, timeouts }: DatabaseOptions): Database {
  const limits = { ...defaultTimeouts, ...timeouts };
  const config = clientConfig(connection, limits);
  const pool = new Pool({ ...config, max: poolSize, idleTimeoutMillis: 30_000, maxLifetimeSeconds: 1800 });
  // Without a listener an idle connection that breaks would end the process. The pool has already dropped it.
  pool.on('error', (error) => log.warn({ reason: error.message }, 'an idle database connection was lost'));

  async function withClient<Result>(work: (client: ClientBase) => Promise<Result>, limitMs: number): Promise<Result> {
    const client = await pool.connect().catch((error: unknown) => {
      throw readError(error);
    });
    // pg hands a connection whose query timed out back to the pool as if it were whole: it is destroyed instead.
    let released = false;
    const release = (destroy: boolean) => {
      if (released) return;
      released = true;
      client.release(destroy);
    };
    const deadline = setTimeout(() => release(true), limitMs);
    try {
      const result = await work(client);
      release(false);
      return result;
    } catch (error) {
      const readable = readError(error);
      release(readable !== error);
      throw readable;
    } finally {
      clearTimeout(deadline);
    }
  }

  return {
    query: (statement, values) => withClient((client) => run(client, statement, values), limits.transactionMs),

    transaction: (work) =>
      withClient(async (client) => {
        await client.query('begin');
        try {
          const result = await work({ query: (statement, values) => run(client, statement, values) });
          await client.query('commit');
          return result;
        } catch (error) {
          if (!isConnectionLoss(error)) await client.query('rollback');
          throw error;
        }
      }, limits.transactionMs),

    async openSession(onLost) {
      const client = new Client({
        ...config,
        query_timeout: undefined,
        idle_in_transaction_session_timeout: undefined,
      });
      let closing = false;
      client.on('error', (error) => {
        if (!closing) onLost(error);
        closing = true;
      });
      client.on('end', () => {
        if (!closing) onLost(new Error('the connection was closed'));
        closing = true;
      });
      await client.connect().catch((error: unknown) => {
        closing = true;
        throw readError(error);
      });
      return {
        query: (statement, values) => run(client, statement, values),
        onNotification: (listener) =>
          client.on('notification', (notification) => listener(notification.channel, notification.payload ?? '')),
        close: () => {
          closing = true;
          return client.end();
        },
      };
    },

    close: () => pool.end(),
  };
}

async function run<Row>(client: ClientBase, statement: Statement | string, values: unknown[] = []): Promise<Rows<Row>> {
  const query = typeof statement === 'string' ? { text: statement, values } : { ...statement, values };
  const result = await client.query(query);
  return { rows: result.rows as Row[], count: result.rowCount ?? 0 };
}

function clientConfig(connection: DatabaseOptions['connection'], limits: Timeouts): ClientConfig {
  return {
    ...('url' in connection ? { connectionString: connection.url } : connection),
    application_name: 'heliograph',
    options: '-c timezone=UTC',
    connectionTimeoutMillis: limits.connectMs,
    statement_timeout: limits.statementMs,
    query_timeout: limits.statementMs + 200,
    lock_timeout: limits.statementMs - 500,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

/** The SQLSTATE of an error of the database's own, such as 23505; undefined for any other error. */
export function sqlStateOf(error: unknown): string | undefined {
  const source = error instanceof ApiError ? error.cause : error;
  const code = (source as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** True when the connection broke or timed out: what was asked may or may not have been done. */
export function isConnectionLoss(error: unknown): boolean {
  const source = error instanceof ApiError ? error.cause : error;
  if (!(source instanceof Error)) return false;
  const state = sqlStateOf(source);
  if (state !== undefined) return state.startsWith('08') || state === '57P01' || state === '57P02';
  const code = (source as NodeJS.ErrnoException).code;
  return (code !== undefined && systemErrors.has(code)) || connectionMessages.test(source.message);
}

const systemErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
]);
// pg gives these no code. Read timeout: the answer did not come, so the statement may still have run.
const connectionMessages =
  /^Connection terminated|^timeout exceeded when trying to connect|^timeout expired|^Query read timeout|not queryable|pool after calling end|Client was closed/;

/**
 * States that pass by themselves: starting or stopping (57P), out of connections, memory or disk (53), an input/output
 * error (58), a lock or statement that took too long (55P03, 57014), a standby (25006), a plan outdated by a migration.
 */
const passingStates = /^(08|53|57P|58|55P03|57014|25006|0A000)/;

function readError(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  const state = sqlStateOf(error);
  const passing = state === undefined ? isConnectionLoss(error) : passingStates.test(state);
  return passing ? unavailable('The service cannot reach its database. Try again shortly.', 1, error) : error;
}
