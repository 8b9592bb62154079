import type { Database } from '../platform/database.ts';
import { isAnother } from './running-transactions.ts';

/**
 * How far events can be read. Transactions commit in another order than they take positions, so behind the newest event an
 * earlier one may still appear. Up to the horizon none can.
 */
export interface Horizon {
  /** Looks anew. The result never goes back. */
  read(): Promise<number>;
}

interface Look {
  /** The newest position that was taken. */
  last: number;
  /** The ids of the transactions that may have taken one up to it and not committed yet. */
  writers: ReadonlySet<string>;
}

/** When all writers of an earlier look have ended, every event up to its last position can be seen. */
export function createHorizon(database: Database): Horizon {
  let safe = 0;
  let begun = 0;
  /** Of several looks at the same time, one that began before another one ended tells nothing about that one's writers. */
  let earlier: { look: Look; begunBefore: number } | undefined;

  return {
    async read() {
      const number = ++begun;
      const look = await lookAt(database);
      if (look.writers.size === 0) {
        safe = Math.max(safe, look.last);
        earlier = undefined;
      } else if (earlier === undefined) {
        earlier = { look, begunBefore: begun };
      } else if (number > earlier.begunBefore && haveEnded(earlier.look.writers, look.writers)) {
        safe = Math.max(safe, earlier.look.last);
        earlier = { look, begunBefore: begun };
      }
      return safe;
    },
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
