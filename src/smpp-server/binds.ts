// Tests: test/smpp-server/binds.test.ts
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { newId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { createPoller } from '../platform/work/poller.ts';
import { type Bind, type Problem, perMinuteOf } from './bind.ts';
import {
  beat,
  deleteBinds,
  deleteListener,
  insertBind,
  insertProblems,
  restoreBinds,
  writeCounts,
} from './bind-store.ts';

/** Shorter than the time after which a process counts as gone. */
const everyMs = 2000;
/** A bind whose password has ended is ended within a second. */
const endDeadEveryMs = 500;
/** Maximum number of an account's problems that wait to be written. */
const mostProblems = 20;

export interface BindsOptions {
  database: Database;
  clock: Clock;
  log: Log;
  /** An operator ended the bind, or its account is gone. */
  onEnd: (bind: Bind) => void;
  /** True once the account or its password is no longer valid. */
  isDead: (bind: Bind) => boolean;
}

/** The binds of this process, which other processes see in Postgres: they share the account's number of binds. */
export function createBinds({ database, clock, log, onEnd, isDead }: BindsOptions) {
  const listenerId = newId('nod', clock);
  const binds = new Map<string, Bind>();
  const byKey = new Map<string, Set<Bind>>();
  const gone = new Set<string>();
  const problems = new Map<string, Problem[]>();
  let wasUsed = false;
  /** Binds that are being written now. */
  let taking = 0;

  async function tellOthers(): Promise<void> {
    if (!wasUsed) return;
    const { wasGivenUp, ending } = await beat(database, listenerId);
    if (wasGivenUp) await restoreBinds(database, listenerId, [...binds.values()]);
    await deleteGone();
    await writeChanged();
    await writeProblems();
    for (const id of ending) {
      const bind = binds.get(id);
      if (bind !== undefined) onEnd(bind);
    }
    if (binds.size === 0 && gone.size === 0 && taking === 0) {
      wasUsed = false;
      await deleteListener(database, listenerId);
    }
  }

  /** All binds with the same credential live and end together. */
  async function endDead(): Promise<void> {
    for (const same of [...byKey.values()]) {
      const [first] = same;
      if (first !== undefined && isDead(first)) for (const bind of [...same]) onEnd(bind);
    }
  }

  async function deleteGone(): Promise<void> {
    const ids = [...gone];
    if (ids.length === 0) return;
    await deleteBinds(database, ids);
    for (const id of ids) gone.delete(id);
  }

  async function writeChanged(): Promise<void> {
    const nowMs = clock.nowMs();
    const changed: (Bind & { perMinute: number })[] = [];
    for (const bind of binds.values()) {
      const before = bind.minute.last;
      const perMinute = perMinuteOf(bind, nowMs);
      const total = bind.submits + bind.throttled + bind.refused + bind.delivered;
      if (total === bind.written && before === perMinute) continue;
      bind.written = total;
      changed.push({ ...bind, perMinute });
    }
    if (changed.length > 0) await writeCounts(database, changed);
  }

  async function writeProblems(): Promise<void> {
    if (problems.size === 0) return;
    const all = [...problems.values()].flat();
    problems.clear();
    await insertProblems(database, all, clock);
  }

  const poller = createPoller({
    run: tellOthers,
    pauseMs: everyMs,
    onFailure: ({ message: reason }) => log.debug({ reason }, 'the SMPP binds could not be written; will retry'),
  });

  const deadPoller = createPoller({
    run: endDead,
    pauseMs: endDeadEveryMs,
    onFailure: ({ message: reason }) => log.debug({ reason }, 'the SMPP binds could not be checked; will retry'),
  });

  return {
    get all(): Iterable<Bind> {
      return binds.values();
    },
    get size(): number {
      return binds.size;
    },
    /** Whether the account had room for one more, on all nodes together. Undefined: the account is gone. */
    async take(bind: Bind): Promise<boolean | undefined> {
      wasUsed = true;
      poller.start(everyMs);
      deadPoller.start(endDeadEveryMs);
      taking++;
      try {
        // A program that binds again at once must not meet the bind that it has just ended.
        const taken = await database.transaction((tx) => insertBind(tx, listenerId, bind, [...gone]));
        if (taken === true) {
          binds.set(bind.id, bind);
          byKey.set(bind.key, (byKey.get(bind.key) ?? new Set()).add(bind));
        }
        return taken;
      } catch (error) {
        // The row may exist although the statement failed, and would use up one of the account's binds until this process
        // ends.
        gone.add(bind.id);
        throw error;
      } finally {
        taking--;
        wasUsed = true;
      }
    },
    leave(bind: Bind): void {
      if (!binds.delete(bind.id)) return;
      const others = byKey.get(bind.key);
      others?.delete(bind);
      if (others?.size === 0) byKey.delete(bind.key);
      gone.add(bind.id);
      // The account may bind again at once.
      poller.hurry();
    },
    note(problem: Problem): void {
      const of = problems.get(problem.accountId) ?? [];
      problems.set(problem.accountId, of);
      of.push(problem);
      if (of.length > mostProblems) of.shift();
      wasUsed = true;
      poller.start(everyMs);
    },
    async stop(): Promise<void> {
      await Promise.all([poller.stop(), deadPoller.stop()]);
      await writeProblems().catch(() => {});
      if (wasUsed) await deleteListener(database, listenerId).catch(() => {});
    },
  };
}

export type Binds = ReturnType<typeof createBinds>;
