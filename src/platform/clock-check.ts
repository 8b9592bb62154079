import type { Clock } from './clock.ts';
import type { Database } from './database.ts';
import { StartError } from './errors.ts';

const toleratedMs = 2000;

/**
 * Every time in the database comes from a node's clock, and nodes compare times that others wrote: a node whose clock is
 * off would expire codes early or keep dead tokens alive.
 */
export async function requireClockAgrees(database: Database, clock: Clock): Promise<void> {
  const beforeMs = clock.nowMs();
  const { rows } = await database.query<{ now: number }>('select clock_timestamp() as now');
  const afterMs = clock.nowMs();
  const databaseMs = rows[0]?.now ?? 0;
  const offMs = databaseMs < beforeMs ? beforeMs - databaseMs : Math.max(0, databaseMs - afterMs);
  if (offMs > toleratedMs) {
    throw new StartError(
      `This machine's clock and the database's differ by ${(offMs / 1000).toFixed(1)} s; at most 2 s are allowed.\n` +
        'Set both by NTP, then start again.',
    );
  }
}
