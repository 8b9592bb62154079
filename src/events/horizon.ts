import type { Database } from '../platform/database.ts';
import { isOfOurDatabase, type Transactions, transactionText } from './running-transactions.ts';

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
  /** The transactions that may have taken one up to it and not committed yet. */
  writers: Transactions;
}

/** When all writers of an earlier look have ended, every event up to its last position can be seen. */
export function createHorizon(database: Database): Horizon {
  let safe = 0;
  let earlier: Look | undefined;

  return {
    async read() {
      const look = await lookAt(database);
      if (look.writers.size === 0) {
        safe = Math.max(safe, look.last);
        earlier = undefined;
      } else if (earlier === undefined) {
        earlier = look;
      } else if (haveEnded(earlier.writers, look.writers)) {
        safe = Math.max(safe, earlier.last);
        earlier = look;
      }
      return safe;
    },
  };
}

function haveEnded(writers: Transactions, running: Transactions): boolean {
  for (const writer of writers) if (running.has(writer)) return false;
  return true;
}

async function lookAt(database: Database): Promise<Look> {
  const { rows } = await database.query<{ last: string; writers: string[] | null }>(lookStatement);
  const [row] = rows;
  return { last: Number(row?.last ?? 0), writers: new Set(row?.writers ?? []) };
}

/**
 * `lateral` reads the position before the transactions. Only those that have written anything count: a change locks its
 * record before its event takes a position.
 */
const lookStatement = {
  name: 'look-at-event-horizon',
  text: `select p.last_value::text as last, w.writers from event_position p cross join lateral (
      select array_agg(${transactionText}) as writers from pg_stat_get_activity(null) a
      where ${isOfOurDatabase} and a.backend_xid is not null and p.last_value is not null) w`,
};
