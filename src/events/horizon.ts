import type { Database } from '../platform/database.ts';
import { unavailable } from '../platform/errors.ts';
import { isAnother } from './running-transactions.ts';

/**
 * How far events can be read. Transactions commit in another order than they take positions, so behind the newest event an
 * earlier one may still appear. Up to the horizon none can.
 */
export interface Horizon {
  /** Looks anew. The result never goes back. */
  read(): Promise<number>;
  /** The newest position of this moment. Resolves when every event up to it can be read. */
  reachNow(): Promise<number>;
}

interface Look {
  /** The newest position that was taken. */
  last: number;
  /** The ids of the transactions that may have taken one up to it and not committed yet. */
  writers: ReadonlySet<string>;
}

/** Waits before it looks again whether earlier writers have ended. None runs longer than a few seconds. */
const betweenLooksMs = 20;
const looksAtMost = 250;

/** When all writers of an earlier look have ended, every event up to its last position can be seen. */
export function createHorizon(database: Database): Horizon {
  let safe = 0;
  let earlier: Look | undefined;
  // Looks must not overtake each other: a writer that an older one does not know would seem to have ended.
  const look = oneAfterAnother(async () => {
    const made = await lookAt(database);
    if (made.writers.size === 0) {
      safe = Math.max(safe, made.last);
      earlier = undefined;
    } else if (earlier === undefined) {
      earlier = made;
    } else if (haveEnded(earlier.writers, made.writers)) {
      safe = Math.max(safe, earlier.last);
      earlier = made;
    }
    return made;
  });

  return {
    async read() {
      const { last } = await look();
      // Most writers end within a millisecond or two.
      if (safe < last) await look();
      return safe;
    },
    async reachNow() {
      const { last } = await look();
      for (let looks = 0; safe < last; looks++) {
        if (looks === looksAtMost)
          throw unavailable('The events of this moment cannot be read yet. Try again shortly.');
        if (looks > 0) await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
        await look();
      }
      return last;
    },
  };
}

/** Runs the act for one caller after another. All that ask while it runs share the next run, which begins after they asked. */
function oneAfterAnother<Result>(act: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const begun = act();
      running = begun.catch(() => {});
      return begun;
    });
    return next;
  };
}

function haveEnded(writers: ReadonlySet<string>, running: ReadonlySet<string>): boolean {
  for (const writer of writers) if (running.has(writer)) return false;
  return true;
}

async function lookAt(database: Database): Promise<Look> {
  const { rows } = await database.query<{ last: string; writers: string[] | null }>(lookStatement);
  const [row] = rows;
  return { last: Number(row?.last ?? 0), writers: new Set(row?.writers ?? []) };
}

/**
 * `lateral` reads the position before the transactions. A transaction has its id before it takes a position
 * (`insertEvents`), and loses it when what it has written can be seen.
 */
const lookStatement = {
  name: 'look-at-event-horizon',
  text: `select p.last_value::text as last, w.writers from event_position p cross join lateral (
      select array_agg(a.backend_xid::text) as writers from pg_stat_get_activity(null) a
      where ${isAnother} and a.backend_xid is not null and p.last_value is not null) w`,
};
