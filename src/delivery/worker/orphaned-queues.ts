import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { findQueueKeys } from '../queue/state.ts';
import type { DeliveryWorker } from './worker.ts';

export interface OrphanedQueuesOptions {
  database: Database;
  clock: Clock;
  /** Whether a carrier with this key exists. */
  isKnown: (key: string) => boolean;
  createWorker: (key: string) => DeliveryWorker;
}

const pollEveryMs = 10_000;
/** By then every node knows a new carrier (carrier/poll.ts). */
const newCarrierKnownMs = 2500;

/** Texts of deleted carriers: each queue gets a worker that finds its texts another carrier. */
export function createOrphanedQueues({ database, clock, isKnown, createWorker }: OrphanedQueuesOptions) {
  const workers = new Map<string, DeliveryWorker>();
  /** When a queue without a carrier was first seen. */
  let seenAtMs = new Map<string, number>();
  let pollAtMs = 0;

  return {
    /** Finds such queues, if a check is due. */
    async poll(): Promise<void> {
      const nowMs = clock.steadyMs();
      if (nowMs < pollAtMs) return;
      pollAtMs = nowMs + pollEveryMs;
      const keys = await findQueueKeys(database).catch((error: Error) => {
        pollAtMs = 0;
        throw error;
      });
      const orphans = keys.filter((key) => !isKnown(key));
      seenAtMs = new Map(orphans.map((key) => [key, seenAtMs.get(key) ?? nowMs]));
      for (const [key, seenMs] of seenAtMs) {
        if (workers.has(key)) continue;
        const sureAtMs = seenMs + newCarrierKnownMs;
        if (nowMs < sureAtMs) pollAtMs = Math.min(pollAtMs, sureAtMs);
        else startWorker(key);
      }
      for (const [key, worker] of workers) {
        if (orphans.includes(key)) continue;
        workers.delete(key);
        await worker.stop();
      }
    },
    /** A carrier may have been deleted: the next poll checks. */
    expect(): void {
      pollAtMs = 0;
    },
    workers: (): DeliveryWorker[] => [...workers.values()],
  };

  function startWorker(key: string): void {
    const worker = createWorker(key);
    workers.set(key, worker);
    worker.start();
  }
}
