import type { Message } from '../messages/message.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { createWakeableSleep } from '../platform/wakeable-sleep.ts';
import type { Carrier } from './carrier.ts';
import { createCarrierHealth } from './carrier-health.ts';
import { claimDue, releaseAbandoned } from './delivery-store.ts';
import type { Receipts } from './receipts.ts';
import { createSubmission } from './submission.ts';

export interface DeliveryWorkerOptions {
  database: Database;
  clock: Clock;
  log: Log;
  carrier: Carrier;
  receipts: Receipts;
  /** Returns a message's text. A verification's text is rendered here and never stored. */
  renderText: (message: Message) => string;
  /** True when this is the only node on the database. */
  alone: boolean;
  atMostOnce: boolean;
  onCount: (name: DeliveryCount, by: number) => void;
}

export type DeliveryCount = 'submitted' | 'possible_duplicates' | 'in_doubt' | 'failed' | 'expired' | 'unknown';

/** Works off one carrier's queue. Each carrier has its own worker, so a slow one does not delay the others. */
export interface DeliveryWorker {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** A message may be due. */
  wake(): void;
  /** Works until no message is due. For tests, which set the clock instead of waiting. */
  runUntilIdle(): Promise<void>;
}

/** Batches in flight: one waits for the carrier while the other is claimed. With maxBatch it bounds memory. */
const concurrent = 2;
/** The poll behind `wake`; it also finds messages that other nodes accepted. */
const pollEveryMs = 200;
const rematchEveryMs = 1000;

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, clock, log, carrier, receipts, renderText, alone, atMostOnce, onCount } = options;
  // A submit starts in the first half of its lease and ends within it, so an expired lease means the worker is gone.
  const leaseMs = carrier.submitTimeoutMs * 2;
  const sleep = createWakeableSleep();
  const health = createCarrierHealth(carrier.maxBatch);
  const submission = createSubmission({ database, clock, log, carrier, health, sleep, renderText, onCount });
  let running: Promise<unknown> = Promise.resolve();
  let heldUp = false;

  /** Claims, submits and records one batch. Returns how many messages were due. */
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
    while (!sleep.stopped) {
      const seen = sleep.wakes;
      const due = submission.held ? 0 : await workOnce().then(noteWorking, noteHeldUp);
      const waitMs = health.waitMs();
      // Look again at once after a full batch, or if `wake` was called during the work.
      if (waitMs > 0) await sleep.ignoringWakes(waitMs);
      else if (due < carrier.maxBatch && sleep.wakes === seen) await sleep.untilWoken(pollEveryMs);
    }
  }

  async function rematch(): Promise<void> {
    while (!sleep.stopped) {
      const tried = await receipts.rematch().catch(() => 0);
      if (tried === 0) await sleep.ignoringWakes(rematchEveryMs);
    }
  }

  function noteWorking(count: number): number {
    heldUp = false;
    return count;
  }

  /** Logs an outage once, however long it lasts. */
  function noteHeldUp(error: Error): number {
    if (!heldUp && !sleep.stopped)
      log.warn({ carrier: carrier.name, reason: error.message }, 'delivery failed; will retry');
    heldUp = true;
    return 0;
  }

  return {
    async start() {
      if (alone) await releaseAbandoned(database, carrier.name, clock.nowMs(), leaseMs);
      if (sleep.stopped) return;
      carrier.start((reported) => receipts.apply(carrier.name, reported));
      running = Promise.all([rematch(), ...Array.from({ length: concurrent }, deliver)]);
    },
    async stop() {
      sleep.stop();
      await running;
      await carrier.stop();
    },
    wake: sleep.wake,
    async runUntilIdle() {
      while ((await workOnce()) > 0);
    },
  };
}
