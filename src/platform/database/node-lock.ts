import { ApiError, causeOf, StartError } from '../errors.ts';
import type { Log } from '../log.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database, Session } from './database.ts';

export interface NodeLock {
  release(): Promise<void>;
}

export interface NodeLockOptions {
  database: Database;
  shared: boolean;
  /** For a command that no service may run beside. */
  alone?: boolean;
  log: Log;
  /** Called when another node took the lock while Postgres was unreachable: this node must stop. */
  onStolen: (error: StartError) => void;
  waitMs?: number;
  heartbeatMs?: number;
  /** How long to wait between tries for a Postgres that is still starting, as in a compose file. */
  reachWithinMs?: number;
}

const retryMs = 250;
const reachAgainMs = 500;

const refusalOfCommand =
  'A service is running on this database. Stop every node first, then run the command again. Nothing was changed.';
const refusalOfNode =
  'Another Heliograph is already running on this database.\n' +
  'Stop it first, or give all nodes the same REDIS_URL so that they can share their rate limits.';

/**
 * Marks this database as in use. Without Redis a node must be alone, because two would each grant the full limit; with
 * Redis all nodes share the lock. Postgres releases a session lock when the process ends, however it ends.
 */
export async function takeNodeLock(options: NodeLockOptions): Promise<NodeLock> {
  const { database, shared, log, onStolen, waitMs = 2000, heartbeatMs = 5000, reachWithinMs = 5000 } = options;
  const refusal = options.alone === true ? refusalOfCommand : refusalOfNode;
  let released = false;
  let session: Session | undefined;
  /** Identifies the Postgres session that holds the lock, or held it last. */
  let holder: Holder | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** True when this node got the lock. Keeps the session that holds it, and closes any other. */
  async function take(): Promise<boolean> {
    const opened = await database.openSession((error) => {
      if (session !== opened) return;
      session = undefined;
      log.warn({ reason: error.message }, 'the connection that holds the node lock was lost');
      schedule(retake, retryMs);
    });
    try {
      await opened.query(keepAlive);
      // Postgres may still keep a session that we gave up. End it, because it holds our lock.
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
    const { rows } = await opened.query<{ taken: boolean }>(`select ${call}($1) as taken`, [advisoryLocks.node]);
    return rows[0]?.taken ?? false;
  }

  /** Postgres may need a moment to notice an ended session, so try again for `waitMs`. */
  async function tryToTake(): Promise<boolean> {
    for (let waitedMs = 0; !released && !(await take()); waitedMs += 100) {
      if (waitedMs >= waitMs) return false;
      await new Promise((done) => setTimeout(done, 100));
    }
    return true;
  }

  /** The node lock is the first user of Postgres at startup, so it reports an unreachable database. */
  async function takeFirst(): Promise<boolean> {
    // Only pauses count: on a slow machine a Postgres that has just started takes seconds to answer.
    for (let waitedMs = 0; ; waitedMs += reachAgainMs) {
      try {
        return await tryToTake();
      } catch (error) {
        const mayPass = error instanceof ApiError && waitedMs < reachWithinMs;
        if (!mayPass) throw new StartError(`The database cannot be used: ${causeOf(error)}`);
        await new Promise((done) => setTimeout(done, reachAgainMs));
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

  /** Without traffic a dead connection can go unnoticed for hours. */
  async function beat(): Promise<void> {
    try {
      await session?.query('select 1');
      schedule(beat, heartbeatMs);
    } catch {
      // `openSession` has already called back, and `retake` is scheduled.
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

// Compare the start time too: another session may have the same pid by now.
const endHolder =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start::text = $2 and pid <> pg_backend_pid()';

/** Postgres notices a lost machine within half a minute, instead of TCP's default two hours. */
const keepAlive = 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3';
