import type { Answered } from '../http/gate.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import { insertTraces, newestPerApplication, pruneTraces } from './metering-store.ts';
import { toTrace } from './request-trace.ts';

/** What became of the latest requests: noted in memory, written down together. */
export interface RequestTraces {
  note(answered: Answered): void;
  /** Writes down what is worth it by now, or all there is. */
  flush(what: 'due' | 'all'): Promise<void>;
}

/** What an application has asked since its requests were last written down. */
interface Asked {
  sinceMs: number;
  requests: Answered[];
}

/** Over all applications. What comes on top while the database is away is not noted. */
const mostWaiting = 50_000;
/** Of an application that asks so much, most would be replaced before anybody looks: those wait longer. */
const busy = 200;
const busyWaitMs = 30_000;
/** And they take turns, so that no request has to wait behind a great write. */
const busyAtOnce = 2;

export function createRequestTraces(database: Database, clock: Clock): RequestTraces {
  let waiting = new Map<string, Asked>();
  let size = 0;

  function note(answered: Answered): void {
    if (size >= mostWaiting) return;
    const { applicationId } = answered.caller;
    let asked = waiting.get(applicationId);
    if (asked === undefined) {
      asked = { sinceMs: clock.steadyMs(), requests: [] };
      waiting.set(applicationId, asked);
    }
    asked.requests.push(answered);
    size++;
    // Twice what is kept, so that forgetting the older half is a rare event.
    if (asked.requests.length >= 2 * newestPerApplication) {
      asked.requests.splice(0, asked.requests.length - newestPerApplication);
      size -= newestPerApplication;
    }
  }

  function take(what: 'due' | 'all'): Asked[] {
    const left = new Map<string, Asked>();
    const taken: Asked[] = [];
    const busySinceMs = clock.steadyMs() - busyWaitMs;
    let turns = what === 'all' ? Number.POSITIVE_INFINITY : busyAtOnce;
    for (const [applicationId, asked] of waiting) {
      const isBusy = what === 'due' && asked.requests.length > busy;
      if (isBusy && (asked.sinceMs > busySinceMs || turns-- <= 0)) left.set(applicationId, asked);
      else taken.push(asked);
    }
    waiting = left;
    size = 0;
    for (const { requests } of left.values()) size += requests.length;
    return taken;
  }

  return {
    note,
    async flush(what) {
      const taken = take(what).map(({ requests }) => requests.slice(-newestPerApplication));
      if (taken.length === 0) return;
      try {
        await insertTraces(database, taken.flat().map(toTrace));
      } catch (error) {
        // What the database will never take must not stand in the way of all that comes after it.
        if (!(error instanceof ApiError && error.code === 'UNAVAILABLE')) throw error;
        const since = [...waiting.values()];
        waiting = new Map();
        size = 0;
        for (const answered of [...taken.flat(), ...since.flatMap(({ requests }) => requests)]) note(answered);
        throw error;
      }
      await pruneTraces(
        database,
        taken.flatMap(([first]) => first?.caller.applicationId ?? []),
      );
    },
  };
}
