import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import type { DeliveryWorker } from './delivery-worker.ts';
import { findQueueKeys } from './queue-state.ts';

/** Texts of deleted carriers: each queue gets a worker that finds its texts another carrier. */
export interface OrphanedQueues {
  /** Looks for such queues, if it is time to. */
  look(): Promise<void>;
  workers(): DeliveryWorker[];
}

export interface OrphanedQueuesOptions {
  database: Database;
  clock: Clock;
  /** Whether a carrier with this key is there. */
  isKnown: (key: string) => boolean;
  createWorker: (key: string) => DeliveryWorker;
}

const lookEveryMs = 10_000;

export function createOrphanedQueues({
  database,
  clock,
  isKnown,
  createWorker,
}: OrphanedQueuesOptions): OrphanedQueues {
  const workers = new Map<string, DeliveryWorker>();
  let lookAtMs = 0;
  let seenBefore = new Set<string>();

  return {
    async look() {
      if (clock.steadyMs() < lookAtMs) return;
      const orphans = (await findQueueKeys(database)).filter((key) => !isKnown(key));
      // A new carrier may be unknown here for a moment, so a queue counts when it is seen for the second time.
      for (const key of orphans.filter((each) => seenBefore.has(each) && !workers.has(each))) {
        const worker = createWorker(key);
        workers.set(key, worker);
        worker.start();
      }
      for (const [key, worker] of workers) {
        if (orphans.includes(key)) continue;
        workers.delete(key);
        await worker.stop();
      }
      seenBefore = new Set(orphans);
      lookAtMs = clock.steadyMs() + lookEveryMs;
    },
    workers: () => [...workers.values()],
  };
}
