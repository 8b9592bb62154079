import type { Clock } from './clock.ts';
import type { Database } from './database.ts';
import { StartError } from './errors.ts';

const toleratedMs = 2000;

/**
 * Nodes write times from their own clocks and compare each other's times. A node with a wrong clock would expire codes
 * early or accept expired tokens.
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
        'Synchronize both with NTP, then start again.',
    );
  }
}
