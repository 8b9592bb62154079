import { dayMs } from '../platform/clock.ts';
import { lockSeeds } from '../platform/database/advisory-locks.ts';
import type { Database, Tx } from '../platform/database/database.ts';

/**
 * A position orders events. Its upper bits are the day on which it was given out, so that a day of events is a partition
 * and the age of a position can be seen. A day has room for 68 thousand million events.
 */
const eventsPerDay = 2 ** 36;

export function dayOfPosition(position: number): number {
  return Math.floor(position / eventsPerDay);
}

/** The smallest position of a day, counted from 1970. */
export function firstOfDay(day: number): number {
  return day * eventsPerDay;
}

export function dayOf(ms: number): number {
  return Math.floor(Math.max(0, ms) / dayMs);
}

/**
 * SQL for the newest position that was taken; its event may not be committed yet. Not `last_value` of the sequence itself: it
 * is read without a lock, and for a moment it may show a position that is given out only later.
 */
export const newestPosition = `coalesce(pg_sequence_last_value('event_position'), 0)`;

/**
 * Makes positions go on with those of today. They never go back: a lock keeps two nodes from setting the sequence one
 * after the other. Returns 1 if it began a day.
 */
export async function beginDay(database: Database, nowMs: number): Promise<number> {
  const first = firstOfDay(dayOf(nowMs));
  if ((await lastPosition(database)) >= first) return 0;
  return database.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('event_position', ${lockSeeds.eventPosition}))`);
    const { count } = await tx.query(
      `select setval('event_position', $1::bigint) where ${newestPosition} < $1::bigint`,
      [first],
    );
    return count;
  });
}

export async function lastPosition(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ last: string }>(`select ${newestPosition}::text as last`);
  return Number(rows[0]?.last ?? 0);
}
