import type { Message } from '../messages/message.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { randomFraction } from '../platform/random.ts';
import type { Carrier, OutgoingText, SubmitResult } from './carrier.ts';
import {
  type Claimed,
  claimDue,
  type Result,
  recordResults,
  releaseAbandoned,
  releaseInDoubt,
} from './delivery-store.ts';
import type { Receipts } from './receipts.ts';

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

export type DeliveryCount = 'submitted' | 'possible_duplicates' | 'in_doubt' | 'failed' | 'expired';

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
const receiptWithinMs = 72 * 3_600_000;
/** The safety net below `wake`: also how soon another node's messages are seen. */
const lookEveryMs = 200;
const backOffFromMs = 1000;
const backOffToMs = 300_000;

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, clock, log, carrier, receipts, textOf, alone, atMostOnce, onCount } = options;
  // Longer than a submit may take: a lease that has run out belongs to a process that is gone or lost.
  const leaseMs = carrier.submitTimeoutMs * 2;
  let stopped = false;
  let wakes = 0;
  const sleepers = new Set<() => void>();
  let loops: Promise<void>[] = [];
  let rematchTimer: NodeJS.Timeout | undefined;

  /** One batch: claimed, submitted, written down. Returns how many were due. */
  async function workOnce(): Promise<number> {
    const nowMs = clock.nowMs();
    const claimed = await claimDue(database, {
      carrier: carrier.name,
      nowMs,
      leaseMs,
      limit: carrier.maxBatch,
      atMostOnce,
    });
    const toSubmit = claimed.filter(({ action }) => action === 'submit');
    count('expired', claimed.filter(({ action }) => action === 'expire').length);
    count('possible_duplicates', toSubmit.filter(({ possibleDuplicates }) => possibleDuplicates > 0).length);
    if (toSubmit.length > 0) await submit(toSubmit);
    return claimed.length;
  }

  async function submit(claimed: Claimed[]): Promise<void> {
    count('submitted', claimed.length);
    const answers = await withTimeout(carrier.submit(claimed.map(toOutgoing)), carrier.submitTimeoutMs).catch(
      (error: Error) => {
        log.warn({ carrier: carrier.name, texts: claimed.length, reason: error.message }, 'a submit was not answered');
        return undefined;
      },
    );
    const nowMs = clock.nowMs();
    if (answers === undefined) {
      count('in_doubt', claimed.length);
      await releaseInDoubt(
        database,
        claimed.map(({ id, attempt }) => ({ messageId: id, attempt })),
        nowMs,
      );
      return;
    }
    const results = claimed.map((message, index) => toResult(message, answers[index], nowMs));
    count('failed', results.filter(({ status }) => status === 'failed').length);
    await recordResults(database, results, nowMs);
  }

  function toOutgoing(message: Claimed): OutgoingText {
    const { id, attempt, applicationId, recipient, sender, expiresAtMs } = message;
    return { messageId: id, attempt, applicationId, to: recipient, from: sender, text: textOf(message), expiresAtMs };
  }

  function count(name: DeliveryCount, by: number): void {
    if (by > 0) onCount(name, by);
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      const seen = wakes;
      let due = 0;
      try {
        due = await workOnce();
      } catch (error) {
        log.warn({ carrier: carrier.name, reason: (error as Error).message }, 'delivery is held up');
      }
      // After a full batch there is probably more; after a wake during the work there is.
      if (due < carrier.maxBatch && wakes === seen && !stopped) await sleep();
    }
  }

  function sleep(): Promise<void> {
    return new Promise((resolve) => {
      const rise = () => {
        clearTimeout(timer);
        sleepers.delete(rise);
        resolve();
      };
      const timer = setTimeout(rise, lookEveryMs);
      sleepers.add(rise);
    });
  }

  function wake(): void {
    wakes++;
    for (const rise of [...sleepers]) rise();
  }

  async function rematch(): Promise<void> {
    await receipts
      .rematch()
      .catch((error: Error) => log.debug({ reason: error.message }, 'receipts could not be matched'));
    if (!stopped) rematchTimer = setTimeout(() => void rematch(), 1000).unref();
  }

  return {
    async start() {
      if (alone) await releaseAbandoned(database, carrier.name, clock.nowMs(), leaseMs);
      carrier.start((reported) => receipts.apply(carrier.name, reported));
      loops = Array.from({ length: concurrent }, () => loop());
      void rematch();
    },
    async stop() {
      stopped = true;
      clearTimeout(rematchTimer);
      wake();
      await Promise.all(loops);
      await carrier.stop();
    },
    wake,
    async runUntilIdle() {
      while ((await workOnce()) > 0);
    },
  };
}

function toResult({ id, attempt, expiresAtMs }: Claimed, answer: SubmitResult | undefined, nowMs: number): Result {
  const base = { messageId: id, attempt, carrierMessageId: null, error: null };
  if (answer?.outcome === 'accepted') {
    return { ...base, status: 'sent', carrierMessageId: answer.carrierMessageId, dueAtMs: nowMs + receiptWithinMs };
  }
  if (answer?.outcome === 'never') return { ...base, status: 'failed', error: answer.error, dueAtMs: null };
  const backOffMs = answer?.afterMs ?? Math.min(backOffToMs, backOffFromMs * 2 ** (attempt - 1));
  // Half of it fixed, half by chance: what failed together is not tried again together.
  const waitMs = backOffMs * (0.5 + 0.5 * randomFraction());
  return { ...base, status: 'queued', dueAtMs: Math.min(nowMs + waitMs, expiresAtMs) };
}

function withTimeout<Result>(promise: Promise<Result>, ms: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
