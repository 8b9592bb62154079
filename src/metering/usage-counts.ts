import type { LimitDecision } from '../http/admission.ts';
import type { CallingApplication } from '../http/route.ts';
import { type Clock, minuteMs } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { newId } from '../platform/ids.ts';
import { createCountBook } from '../platform/work/count-book.ts';
import { usageColumns as columns, insertUsage, type UsageKey } from './metering-store.ts';

/** Maximum registrations and minutes in one page of counts; a long outage keeps six pages. */
const mostRows = 40_000;

/** Counts every decision of a registration's limits in memory and writes the changes in batches. */
export function createUsageCounts({ database, clock }: { database: Database; clock: Clock }) {
  const book = createCountBook<UsageKey>({
    columns: Object.keys(columns).length,
    newName: () => newId('nod', clock),
    write: (name, rows) => insertUsage(database, name, rows),
    mostRows,
  });
  let latestMs = 0;

  /** If the clock goes back, counting continues in the latest minute, which is not written for the last time yet. */
  function minuteNow(): number {
    latestMs = Math.max(latestMs, clock.nowMs());
    return latestMs - (latestMs % minuteMs);
  }

  return {
    count({ registrationId, applicationId, api }: CallingApplication, { admitted, limits }: LimitDecision): void {
      const minute = minuteNow();
      const counts = book.counts(`${registrationId} ${minute}`, () => ({
        registrationId,
        applicationId,
        api,
        minuteMs: minute,
      }));
      const index = admitted ? columns.admitted : columns.refused;
      counts[index] = (counts[index] ?? 0) + 1;
      counts[columns.perMinute] = Math.max(counts[columns.perMinute] ?? 0, limits.perMinute);
    },

    async flush(): Promise<void> {
      const minute = minuteNow();
      await book.flush();
      book.forget((key) => key.minuteMs < minute);
    },
  };
}
