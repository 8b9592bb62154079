// Tests: test/parts/event-days.test.ts, test/faults/event-positions.test.ts
import { dayMs } from '../platform/clock.ts';
import { lockSeeds } from '../platform/database/advisory-locks.ts';
import type { Database, Tx } from '../platform/database/database.ts';

/**
 * A position orders events. Its upper bits are the day on which it was assigned, so that a day of events is a partition
 * and a position shows its age. A day has room for 68,000 million events.
 */
const eventsPerDay = 2 ** 36;

export function dayOfPosition(position: number): number {
  return Math.floor(position / eventsPerDay);
}

/** The smallest position of a day; days count from 1970. */
export function firstOfDay(day: number): number {
  return day * eventsPerDay;
}

export function dayOf(ms: number): number {
  return Math.floor(Math.max(0, ms) / dayMs);
}

/**
 * SQL for the newest assigned position; its event may not be committed yet. `last_value` of the sequence is read
 * without a lock, and may briefly show a position that is not assigned yet.
 */
export const newestPosition = `coalesce(pg_sequence_last_value('event_position'), 0)`;

/**
 * Moves the sequence to today's positions, never back: a lock keeps two nodes from setting it one after the other.
 * Returns 1 if it began a day.
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
