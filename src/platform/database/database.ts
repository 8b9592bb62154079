import type { Log } from '../log.ts';
import { createCommitWatch } from './connections/commit-watch.ts';
import {
  type Connection,
  clientConfig,
  defaultTimeouts,
  sessionSettings,
  type Timeouts,
  withoutLimits,
} from './connections/connection.ts';
import { openPools, type Pools } from './connections/pools.ts';
import { openSession } from './connections/sessions.ts';
import { type Rows, run, type Session, type Statement, type Tx } from './connections/statement.ts';
import './connections/times.ts';
import { transact, withClient } from './connections/with-client.ts';
import { followPrimary } from './primary/followed-pools.ts';
import type { Primary } from './primary/primary.ts';

export type { Rows, Session, Statement, Tx };

/** Writes an entry of the audit log, in the transaction of the change that it records. */
export type Note<Result = unknown> = (tx: Tx, result: Result) => Promise<void>;

/** Does the work of a transaction, then writes the caller's entry in the audit log. */
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
  /** With several hosts: the one that takes writes. Undefined with a single one. */
  readonly primary?: Primary;
  /** How many connections the pool has, and how many callers wait for one. */
  connections(): { busy: number; idle: number; waiting: number };
  close(): Promise<void>;
}

export interface DatabaseOptions {
  connection: Connection;
  log: Log;
  poolSize?: number;
  timeouts?: Partial<Timeouts>;
  /** Follows the host that takes writes, where there are several. */
  primary?: Primary | undefined;
}

/** Creates the pool. Every wait has a time limit, and every temporary failure becomes a 503. */
export function createDatabase(options: DatabaseOptions): Database {
  const { connection, log, poolSize = 10, timeouts, primary } = options;
  const limits = { ...defaultTimeouts, ...timeouts };
  const commits = createCommitWatch();
  const poolOptions = { limits, poolSize, log, commits };
  const settings = sessionSettings(limits);

  function query<Row>(pools: Pools, statement: Statement | string, values: unknown[] | undefined): Promise<Rows<Row>> {
    const once = typeof statement !== 'string' && statement.planOnce === true;
    return withClient(
      once ? pools.planningOnce : pools.pool,
      (client) => run<Row>(client, statement, values, commits),
      limits.transactionMs,
    );
  }

  function transaction<Result>(pools: Pools, work: (tx: Tx) => Promise<Result>): Promise<Result> {
    return withClient(pools.pool, (client, giveUp) => transact(client, giveUp, commits, work), limits.transactionMs);
  }

  if (primary !== undefined) {
    const followed = followPrimary(primary, poolOptions);
    return {
      primary,
      query: (statement, values) => followed.use((pools) => query(pools, statement, values)),
      transaction: (work) => followed.use((pools) => transaction(pools, work)),
      openSession: (onLost, { patient = false } = {}) =>
        followed.openSession(patient ? sessionSettings(withoutLimits) : settings, onLost, patient),
      connections: () => countConnections(followed.opened()),
      close: followed.end,
    };
  }

  const pools = openPools(connection, poolOptions);
  const config = clientConfig(connection, limits);
  return {
    query: (statement, values) => query(pools, statement, values),
    transaction: (work) => transaction(pools, work),
    openSession: (onLost, { patient = false } = {}) =>
      patient
        ? openSession({ ...config, query_timeout: undefined }, sessionSettings(withoutLimits), onLost)
        : openSession(config, settings, onLost),
    connections: () => countConnections([pools]),
    close: pools.end,
  };
}

function countConnections(opened: Pools[]) {
  const all = opened.flatMap(({ pool, planningOnce }) => [pool, planningOnce]);
  const sum = (count: (one: Pools['pool']) => number) => all.reduce((total, one) => total + count(one), 0);
  return {
    busy: sum(({ totalCount, idleCount }) => totalCount - idleCount),
    idle: sum(({ idleCount }) => idleCount),
    waiting: sum(({ waitingCount }) => waitingCount),
  };
}
