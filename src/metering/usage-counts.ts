import type { LimitDecision } from '../http/admission.ts';
import type { CallingApplication } from '../http/route.ts';
import { type Clock, minuteMs } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { insertUsage, type MinuteCount } from './metering-store.ts';

/** Counts every decision of a registration's limits in memory and writes the changes in batches. */
export interface UsageCounts {
  count(caller: CallingApplication, decision: LimitDecision): void;
  /** Writes what changed. Values are absolute, so a write whose response was lost can simply run again. */
  flush(): Promise<void>;
}

interface Counter extends MinuteCount {
  /** How much of the count is written. */
  written: number;
}

/** Unwritten minutes over all registrations. Bounds the memory that a long outage takes. */
const mostWaiting = 200_000;

export function createUsageCounts(options: { database: Database; clock: Clock; boot: string }): UsageCounts {
  const { database, clock, boot } = options;
  const current = new Map<string, Counter>();
  let past: Counter[] = [];
  let latestMs = 0;

  /** If the clock goes back, counting continues in the latest minute: a new count would stay below the written one. */
  function latest(): number {
    latestMs = Math.max(latestMs, clock.nowMs());
    return latestMs;
  }

  function open({ registrationId, applicationId, api }: CallingApplication, atMs: number): Counter {
    const counts = { admitted: 0, refused: 0, perMinute: 0, written: 0 };
    const counter = { registrationId, applicationId, api, minuteMs: atMs, ...counts };
    current.set(registrationId, counter);
    return counter;
  }

  function find(caller: CallingApplication, nowMs: number): Counter {
    const counter = current.get(caller.registrationId);
    if (counter !== undefined && nowMs < counter.minuteMs + minuteMs) return counter;
    if (counter !== undefined && past.length < mostWaiting) past.push(counter);
    return open(caller, nowMs - (nowMs % minuteMs));
  }

  return {
    count(caller, { admitted, limits }) {
      const counter = find(caller, latest());
      counter.perMinute = Math.max(counter.perMinute, limits.perMinute);
      if (admitted) counter.admitted++;
      else counter.refused++;
    },

    async flush() {
      const nowMs = latest();
      for (const [id, counter] of current) {
        if (nowMs < counter.minuteMs + minuteMs) continue;
        current.delete(id);
        past.push(counter);
      }
      const closed = past;
      past = [];
      const changed = [...closed, ...current.values()]
        .filter((counter) => totalOf(counter) > counter.written)
        .map((counter) => ({ counter, row: { ...counter } }));
      const rows = changed.map(({ row }) => row);
      try {
        if (rows.length > 0) await insertUsage(database, boot, rows);
      } catch (error) {
        past = [...closed, ...past];
        throw error;
      }
      for (const { counter, row } of changed) counter.written = totalOf(row);
    },
  };
}

function totalOf({ admitted, refused }: MinuteCount): number {
  return admitted + refused;
}
