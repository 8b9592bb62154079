import type { Database, Session } from './database.ts';
import { ApiError, StartError } from './errors.ts';
import type { Log } from './log.ts';

export interface NodeLock {
  release(): Promise<void>;
}

export interface NodeLockOptions {
  database: Database;
  shared: boolean;
  log: Log;
  /** Somebody else took the lock while the database was away: this node must not go on. */
  onStolen: (error: StartError) => void;
  waitMs?: number;
  heartbeatMs?: number;
  /** How long a database that is only just starting, as in a compose file, is waited for. */
  reachWithinMs?: number;
}

const nodeLock = 4_207_003;
const retryMs = 250;

const refusal =
  'Another Heliograph is already running on this database.\n' +
  'Stop it first, or give all nodes the same REDIS_URL so that they can share their rate limits.';

/**
 * Says that a node is running on this database. Alone, it is the only one: two nodes without a shared window store would
 * each grant the whole limit. With one, any number share the lock. It is a session lock, so it ends with the process,
 * however that ends.
 */
export async function takeNodeLock(options: NodeLockOptions): Promise<NodeLock> {
  const { database, shared, log, onStolen, waitMs = 2000, heartbeatMs = 5000, reachWithinMs = 5000 } = options;
  let released = false;
  let session: Session | undefined;
  /** The server's name for the session that holds the lock, or held it last. */
  let holder: Holder | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** True when the lock is ours; the session that holds it is kept, any other is closed. */
  async function take(): Promise<boolean> {
    const opened = await database.openSession((error) => {
      if (session !== opened) return;
      session = undefined;
      log.warn({ reason: error.message }, 'the connection that holds the node lock was lost');
      schedule(retake, retryMs);
    });
    try {
      await opened.query(keepAlive);
      // We may have given up a connection that the server still believes in: that one is ours to end.
      if (holder !== undefined) await opened.query(endHolder, [holder.pid, holder.started]);
      if ((await isTaken(opened)) && !released) {
        holder = (await opened.query<Holder>(selectHolder)).rows[0];
        session = opened;
        schedule(beat, heartbeatMs);
        return true;
      }
    } catch (error) {
      await opened.close();
      throw error;
    }
    await opened.close();
    return false;
  }

  async function isTaken(opened: Session): Promise<boolean> {
    const call = shared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
    const { rows } = await opened.query<{ taken: boolean }>(`select ${call}($1) as taken`, [nodeLock]);
    return rows[0]?.taken ?? false;
  }

  /** A session that has ended on the other side may need a moment to be gone there, so one refusal is not the last word. */
  async function tryToTake(): Promise<boolean> {
    for (let waitedMs = 0; !released && !(await take()); waitedMs += 100) {
      if (waitedMs >= waitMs) return false;
      await new Promise((done) => setTimeout(done, 100));
    }
    return true;
  }

  /** It is the first to need the database, so it is the one to say that there is none. */
  async function takeFirst(): Promise<boolean> {
    for (const startedMs = performance.now(); ; ) {
      try {
        return await tryToTake();
      } catch (error) {
        const mayPass = error instanceof ApiError && performance.now() - startedMs < reachWithinMs;
        if (!mayPass) throw new StartError(`The database cannot be used: ${reasonOf(error)}`);
        await new Promise((done) => setTimeout(done, retryMs));
      }
    }
  }

  function schedule(work: () => Promise<void>, afterMs: number): void {
    clearTimeout(timer);
    if (released) return;
    timer = setTimeout(() => void work(), afterMs);
    timer.unref();
  }

  async function retake(): Promise<void> {
    try {
      if (!(await tryToTake())) onStolen(new StartError(refusal));
    } catch {
      schedule(retake, retryMs);
    }
  }

  /** A connection over which nothing is said can be dead for hours before anybody notices. */
  async function beat(): Promise<void> {
    try {
      await session?.query('select 1');
      schedule(beat, heartbeatMs);
    } catch {
      // The session has said that it is lost, and taking the lock again is already under way.
    }
  }

  if (!(await takeFirst())) throw new StartError(refusal);

  return {
    async release() {
      released = true;
      clearTimeout(timer);
      await session?.close();
    },
  };
}

interface Holder {
  pid: number;
  started: string;
}

const selectHolder = 'select pid, backend_start::text as started from pg_stat_activity where pid = pg_backend_pid()';

// By its beginning as well: the number may be another's by now.
const endHolder =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start::text = $2 and pid <> pg_backend_pid()';

/** So that the server notices within half a minute that a machine is gone, and not after the two hours of TCP. */
const keepAlive = 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3';

function reasonOf(error: unknown): string {
  const { message } = (error instanceof ApiError ? error.cause : error) as Error;
  return message || String(error);
}
