import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import { insertTraces, newestPerApplication, pruneTraces } from './metering-store.ts';
import { WaitingRows } from './waiting-rows.ts';

/** Traces of the latest requests: kept in memory, written in batches. */
export interface RequestTraces {
  /** Adds a request's row. `last` is the buffer of the previous row; returns the buffer of this one. */
  note(applicationId: string, row: string, last: Asked | undefined): Asked | undefined;
  /** Writes the buffers that are due, or all of them. */
  flush(what: 'due' | 'all'): Promise<void>;
}

/** The buffered rows of one application since the last write. */
export interface Asked {
  applicationId: string;
  sinceMs: number;
  rows: WaitingRows;
  /** True while it is being written: new rows go to another buffer. */
  taken: boolean;
}

/** Over all applications. Further rows are dropped while the database is away. */
const mostWaiting = 50_000;
/**
 * An application above this count would replace most of its rows before a reader sees them, so its rows wait longer.
 */
const busy = 200;
const busyWaitMs = 30_000;
/** Busy applications written per flush. */
const busyAtOnce = 2;
const writtenTogether = 2000;
/** Bytes, over all spare buffers. */
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

  /** Puts rows back before newer ones, as far as there is room. */
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

  /** Reuses buffers: allocating and freeing them all the time would keep the garbage collector busy. */
  function leave({ rows }: Asked): void {
    rows.clear();
    if (spareRoom + rows.room > mostSpare) return;
    spare.push(rows);
    spareRoom += rows.room;
  }

  /** Writes in portions, so that no request waits behind a large write. */
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
        // Skip a portion that Postgres rejects, so that it does not block all later rows. Retry only if Postgres is
        // away.
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
      // Trim at twice the kept number, so that trimming is rare.
      if (asked.rows.count >= 2 * newestPerApplication) {
        asked.rows.keepNewest(newestPerApplication);
        size -= newestPerApplication;
      }
      return asked;
    },
    flush: (what) => write(take(what)),
  };
}
