import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import { insertTraces, newestPerApplication, pruneTraces } from './metering-store.ts';
import { WaitingRows } from './waiting-rows.ts';

/** What became of the latest requests: noted in memory, written down together. */
export interface RequestTraces {
  /** A request's row. `last` is where the one before was noted, and this returns where this one was. */
  note(applicationId: string, row: string, last: Asked | undefined): Asked | undefined;
  /** Writes down what is worth it by now, or all there is. */
  flush(what: 'due' | 'all'): Promise<void>;
}

/** What an application has asked since its requests were last written down. */
export interface Asked {
  applicationId: string;
  sinceMs: number;
  rows: WaitingRows;
  /** It is being written down: what comes now goes elsewhere. */
  taken: boolean;
}

/** Over all applications. What comes on top while the database is away is not noted. */
const mostWaiting = 50_000;
/** Of an application that asks so much, most would be replaced before anybody looks: those wait longer. */
const busy = 200;
const busyWaitMs = 30_000;
/** And they take turns. */
const busyAtOnce = 2;
const writtenTogether = 2000;
/** In bytes, over all buffers that wait to be used again. */
const mostSpare = 16 * 1024 * 1024;

export function createRequestTraces(database: Database, clock: Clock): RequestTraces {
  let waiting = new Map<string, Asked>();
  let size = 0;
  const spare: WaitingRows[] = [];
  let spareRoom = 0;
  const portion = new WaitingRows();

  function find(applicationId: string): Asked {
    let asked = waiting.get(applicationId);
    if (asked === undefined) {
      const rows = spare.pop() ?? new WaitingRows();
      spareRoom -= rows.room;
      asked = { applicationId, sinceMs: clock.steadyMs(), rows, taken: false };
      waiting.set(applicationId, asked);
    }
    return asked;
  }

  function take(what: 'due' | 'all'): Asked[] {
    const left = new Map<string, Asked>();
    const taken: Asked[] = [];
    const busySinceMs = clock.steadyMs() - busyWaitMs;
    let turns = what === 'all' ? Number.POSITIVE_INFINITY : busyAtOnce;
    for (const asked of waiting.values()) {
      const isBusy = what === 'due' && asked.rows.count > busy;
      if (isBusy && (asked.sinceMs > busySinceMs || turns-- <= 0)) {
        left.set(asked.applicationId, asked);
        continue;
      }
      asked.taken = true;
      asked.rows.keepNewest(newestPerApplication);
      taken.push(asked);
    }
    waiting = left;
    size = 0;
    for (const { rows } of left.values()) size += rows.count;
    return taken;
  }

  /** In front of what has come since, as far as there is room. */
  function putBack(taken: Asked[]): void {
    for (const asked of taken) {
      if (size >= mostWaiting) {
        leave(asked);
        continue;
      }
      const since = waiting.get(asked.applicationId);
      if (since !== undefined) {
        since.taken = true;
        asked.rows.addAll(since.rows);
        asked.rows.keepNewest(newestPerApplication);
        size -= since.rows.count;
      }
      asked.taken = false;
      waiting.set(asked.applicationId, asked);
      size += asked.rows.count;
    }
  }

  /** Buffers are used again: to make and to free them all the time would keep the collector busy. */
  function leave({ rows }: Asked): void {
    rows.clear();
    if (spareRoom + rows.room > mostSpare) return;
    spare.push(rows);
    spareRoom += rows.room;
  }

  /** Some at a time, so that no request has to wait behind a great write. */
  async function write(taken: Asked[]): Promise<void> {
    for (let from = 0; from < taken.length; ) {
      let to = from;
      portion.clear();
      while (to < taken.length && portion.count < writtenTogether) portion.addAll((taken[to++] as Asked).rows);
      const written = taken.slice(from, to);
      try {
        await insertTraces(database, portion);
        from = to;
        written.forEach(leave);
        await pruneTraces(
          database,
          written.map(({ applicationId }) => applicationId),
        );
      } catch (error) {
        const away = error instanceof ApiError && error.code === 'UNAVAILABLE';
        // What the database will never take must not stand in the way of all that comes after it.
        putBack(taken.slice(away ? from : to));
        throw error;
      }
    }
  }

  return {
    note(applicationId, row, last) {
      if (size >= mostWaiting) return last;
      const asked = last === undefined || last.taken ? find(applicationId) : last;
      asked.rows.add(row);
      size++;
      // Twice what is kept, so that forgetting the older half is a rare event.
      if (asked.rows.count >= 2 * newestPerApplication) {
        asked.rows.keepNewest(newestPerApplication);
        size -= newestPerApplication;
      }
      return asked;
    },
    flush: (what) => write(take(what)),
  };
}
