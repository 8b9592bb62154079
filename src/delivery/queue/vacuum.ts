import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';

/** Vacuum after this many texts: a claim steps over the entries of texts that have left. */
const everyTexts = 5000;
/** With a large backlog each vacuum reads the whole index, so vacuums take at most this fraction of the time. */
const mostOfTime = 0.02;

/**
 * Removes the entries of texts that have left the queue. Postgres would do it once a minute, and at a high rate claims
 * would step over some hundred thousand of them until then.
 */
export function createQueueVacuum({
  database,
  clock,
  log,
}: {
  database: Database;
  clock: Pick<Clock, 'steadyMs'>;
  log: Log;
}) {
  let taken = 0;
  let notBeforeMs = 0;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    const beganMs = clock.steadyMs();
    try {
      await database.query(vacuum);
    } catch (error) {
      log.debug(
        { reason: (error as Error).message },
        'the delivery queue could not be vacuumed; autovacuum will do it',
      );
    }
    const nowMs = clock.steadyMs();
    notBeforeMs = nowMs + (nowMs - beganMs) / mostOfTime;
  }

  return {
    /** This many texts have left the queue. */
    noteTaken(texts: number): void {
      taken += texts;
      if (taken < everyTexts || running !== undefined || clock.steadyMs() < notBeforeMs) return;
      taken = 0;
      running = run().finally(() => {
        running = undefined;
      });
    },
    async stop(): Promise<void> {
      await running;
    },
  };
}

// Another node's vacuum is enough. Truncating the table would lock it.
const vacuum = 'vacuum (skip_locked, index_cleanup on, truncate off, process_toast off) delivery_queue';
