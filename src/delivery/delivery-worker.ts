import type { Message } from '../messages/message.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import type { Carrier } from './carrier.ts';
import { createCarrierHealth } from './carrier-health.ts';
import { claimDue, releaseAbandoned } from './delivery-store.ts';
import type { Receipts } from './receipts.ts';
import { createRest } from './rest.ts';
import { createSubmission } from './submission.ts';

export interface DeliveryWorkerOptions {
  database: Database;
  clock: Clock;
  log: Log;
  carrier: Carrier;
  receipts: Receipts;
  /** The text of a message at this moment; a verification's is rendered here and stored nowhere. */
  textOf: (message: Message) => string;
  /** True when no other node works on this database. */
  alone: boolean;
  atMostOnce: boolean;
  onCount: (name: DeliveryCount, by: number) => void;
}

export type DeliveryCount = 'submitted' | 'possible_duplicates' | 'in_doubt' | 'failed' | 'expired' | 'unknown';

/** Works off one carrier's queue, and only that one's: a slow carrier holds up nobody else. */
export interface DeliveryWorker {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Something may be due now. */
  wake(): void;
  /** Works until nothing is due; for tests, which turn the clock instead of waiting. */
  runUntilIdle(): Promise<void>;
}

/** Batches in flight at once: while one waits for the carrier, another is claimed. Bounds memory together with maxBatch. */
const concurrent = 2;
/** The safety net below `wake`: also how soon another node's messages are seen. */
const lookEveryMs = 200;
const rematchEveryMs = 1000;

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, clock, log, carrier, receipts, textOf, alone, atMostOnce, onCount } = options;
  // A submit begins in the first half of its lease and is over by the end, so one that has run out is a lost worker's.
  const leaseMs = carrier.submitTimeoutMs * 2;
  const rest = createRest();
  const health = createCarrierHealth(carrier.maxBatch);
  const submission = createSubmission({ database, clock, log, carrier, health, rest, textOf, onCount });
  let running: Promise<unknown> = Promise.resolve();
  let heldUp = false;

  /** One batch: claimed, submitted, written down. Returns how many were due. */
  async function workOnce(): Promise<number> {
    const beginBeforeMs = clock.steadyMs() + leaseMs - carrier.submitTimeoutMs;
    const claimed = await claimDue(database, {
      carrier: carrier.name,
      nowMs: clock.nowMs(),
      leaseMs,
      limit: health.limit(),
      atMostOnce,
    });
    const expired = claimed.filter(({ action }) => action === 'expire').length;
    const unknown = claimed.filter(({ action }) => action === 'give_up').length;
    if (expired > 0) onCount('expired', expired);
    if (unknown > 0) onCount('unknown', unknown);
    const toSubmit = claimed.filter(({ action }) => action === 'submit');
    if (toSubmit.length > 0) await submission.run(toSubmit, beginBeforeMs);
    return claimed.length;
  }

  async function deliver(): Promise<void> {
    while (!rest.stopped) {
      const seen = rest.wakes;
      const due = submission.held ? 0 : await workOnce().then(noteWorking, noteHeldUp);
      const waitMs = health.waitMs();
      // After a full batch there is probably more; after a wake during the work there is.
      if (waitMs > 0) await rest.full(waitMs);
      else if (due < carrier.maxBatch && rest.wakes === seen) await rest.untilWoken(lookEveryMs);
    }
  }

  async function rematch(): Promise<void> {
    while (!rest.stopped) {
      const tried = await receipts.rematch().catch(() => 0);
      if (tried === 0) await rest.full(rematchEveryMs);
    }
  }

  function noteWorking(count: number): number {
    heldUp = false;
    return count;
  }

  /** Told once, however long it lasts. */
  function noteHeldUp(error: Error): number {
    if (!heldUp && !rest.stopped) log.warn({ carrier: carrier.name, reason: error.message }, 'delivery is held up');
    heldUp = true;
    return 0;
  }

  return {
    async start() {
      if (alone) await releaseAbandoned(database, carrier.name, clock.nowMs(), leaseMs);
      if (rest.stopped) return;
      carrier.start((reported) => receipts.apply(carrier.name, reported));
      running = Promise.all([rematch(), ...Array.from({ length: concurrent }, deliver)]);
    },
    async stop() {
      rest.stop();
      await running;
      await carrier.stop();
    },
    wake: rest.wake,
    async runUntilIdle() {
      while ((await workOnce()) > 0);
    },
  };
}
