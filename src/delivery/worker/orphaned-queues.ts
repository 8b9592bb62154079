import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { findQueueKeys } from '../queue/state.ts';
import type { DeliveryWorker } from './worker.ts';

/** Texts of deleted carriers: each queue gets a worker that finds its texts another carrier. */
export interface OrphanedQueues {
  /** Looks for such queues, if it is time to. */
  look(): Promise<void>;
  /** A carrier may have been deleted: the next look is the time to. */
  expect(): void;
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
/** By then every node knows a new carrier (carrier-poll.ts). */
const newCarrierKnownMs = 2500;

export function createOrphanedQueues({
  database,
  clock,
  isKnown,
  createWorker,
}: OrphanedQueuesOptions): OrphanedQueues {
  const workers = new Map<string, DeliveryWorker>();
  /** When a queue without a carrier was first seen. */
  let seenAtMs = new Map<string, number>();
  let lookAtMs = 0;

  return {
    async look() {
      const nowMs = clock.steadyMs();
      if (nowMs < lookAtMs) return;
      lookAtMs = nowMs + lookEveryMs;
      const keys = await findQueueKeys(database).catch((error: Error) => {
        lookAtMs = 0;
        throw error;
      });
      const orphans = keys.filter((key) => !isKnown(key));
      seenAtMs = new Map(orphans.map((key) => [key, seenAtMs.get(key) ?? nowMs]));
      for (const [key, seenMs] of seenAtMs) {
        if (workers.has(key)) continue;
        const sureAtMs = seenMs + newCarrierKnownMs;
        if (nowMs < sureAtMs) lookAtMs = Math.min(lookAtMs, sureAtMs);
        else startWorker(key);
      }
      for (const [key, worker] of workers) {
        if (orphans.includes(key)) continue;
        workers.delete(key);
        await worker.stop();
      }
    },
    expect() {
      lookAtMs = 0;
    },
    workers: () => [...workers.values()],
  };

  function startWorker(key: string): void {
    const worker = createWorker(key);
    workers.set(key, worker);
    worker.start();
  }
}
