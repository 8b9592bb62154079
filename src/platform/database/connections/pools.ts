import { Socket } from 'node:net';
import { Pool } from 'pg';
import type { Log } from '../../log.ts';
import type { CommitWatch } from './commit-watch.ts';
import { type Connection, clientConfig, planOnceSetting, sessionSettings, type Timeouts } from './connection.ts';

/** The connections to one server. */
export interface Pools {
  pool: Pool;
  /** Postgres has no such setting for a single statement, so statements that are planned once have their own. */
  planningOnce: Pool;
  end(): Promise<void>;
}

export interface PoolOptions {
  limits: Timeouts;
  poolSize: number;
  log: Log;
  commits: CommitWatch;
  /** Called with each socket that is opened. */
  onSocket?: (socket: Socket) => void;
  onLost?: () => void;
}

/** The batches of accepted texts and of starts run two at a time, and so do the claims of a carrier. */
const mostPlanningOnce = 4;

export function openPools(connection: Connection, options: PoolOptions): Pools {
  const { limits, poolSize, log, commits, onSocket, onLost } = options;
  const config = clientConfig(connection, limits);
  const settings = sessionSettings(limits);
  const stream = onSocket && {
    stream: () => {
      const socket = new Socket();
      onSocket(socket);
      return socket;
    },
  };
  const createPool = (max: number, settings: string) => {
    const pool = new Pool({
      ...config,
      ...stream,
      max,
      idleTimeoutMillis: 30_000,
      maxLifetimeSeconds: 1800,
      onConnect: async (client) => void (await client.query(settings)),
    });
    // Without a listener, a broken idle connection would end the process. The pool has already dropped it.
    pool.on('error', (error) => {
      log.warn({ reason: error.message }, 'an idle database connection was lost');
      onLost?.();
    });
    pool.on('connect', (client) => {
      // A connection may also break between two statements of a transaction: then the next statement fails.
      client.on('error', () => {});
      commits.watch(client);
    });
    return pool;
  };
  const pool = createPool(poolSize, settings);
  const planningOnce = createPool(Math.min(poolSize, mostPlanningOnce), `${settings}; ${planOnceSetting}`);
  return {
    pool,
    planningOnce,
    end: async () => void (await Promise.all([pool.end(), planningOnce.end()])),
  };
}
