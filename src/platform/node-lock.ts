import type { Database, Session } from './database.ts';
import { StartError } from './errors.ts';
import type { Log } from './log.ts';

export interface NodeLock {
  release(): Promise<void>;
}

const nodeLock = 4_207_003;

const refusal =
  'Another Heliograph is already running on this database.\n' +
  'Stop it first, or give all nodes the same REDIS_URL so that they can share their rate limits.';

/**
 * Says that a node is running on this database. Alone, it is the only one: two nodes without a shared window store would
 * each grant the whole limit. With one, any number share the lock. It is a session lock, so it ends with the process,
 * however that ends.
 */
export async function takeNodeLock(options: {
  database: Database;
  shared: boolean;
  log: Log;
  /** Somebody else took the lock while the database was away: this node must not go on. */
  onStolen: (error: StartError) => void;
  waitMs?: number;
}): Promise<NodeLock> {
  const { database, shared, log, onStolen, waitMs = 2000 } = options;
  let released = false;
  let session: Session | undefined;
  let retry: NodeJS.Timeout | undefined;

  async function take(): Promise<boolean> {
    const opened = await database.openSession((error) => {
      log.warn({ reason: error.message }, 'the connection that holds the node lock was lost');
      scheduleRetake();
    });
    const call = shared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
    const { rows } = await opened.query<{ taken: boolean }>(`select ${call}($1) as taken`, [nodeLock]);
    if (rows[0]?.taken) {
      session = opened;
      return true;
    }
    await opened.close();
    return false;
  }

  function scheduleRetake(): void {
    if (released) return;
    retry = setTimeout(() => {
      take().then(
        (taken) => {
          if (released) void session?.close();
          else if (!taken) onStolen(new StartError(refusal));
        },
        () => scheduleRetake(),
      );
    }, 250);
  }

  // Right after a kill -9 the server may need a moment to notice that the old connection is gone.
  for (let waitedMs = 0; !(await take()); waitedMs += 100) {
    if (waitedMs >= waitMs) throw new StartError(refusal);
    await new Promise((done) => setTimeout(done, 100));
  }

  return {
    async release() {
      released = true;
      clearTimeout(retry);
      await session?.close();
    },
  };
}
