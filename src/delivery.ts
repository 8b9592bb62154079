import { createSandboxCarrier } from './delivery/carriers/sandbox-carrier.ts';
import { createDeliveryWorker, type DeliveryCount, type DeliveryWorker } from './delivery/delivery-worker.ts';
import { createReceipts } from './delivery/receipts.ts';
import { createRetention } from './messages/retention.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/database.ts';
import type { KeyRing } from './platform/keys.ts';
import { type Listener, openListener } from './platform/listener.ts';
import type { Log } from './platform/log.ts';
import { createHandsets } from './sandbox/handsets.ts';
import { createTextOf } from './text-of.ts';
import { createVerificationRetention } from './verify/verification-retention.ts';

export interface Delivery {
  start(): Promise<void>;
  stop(): Promise<void>;
  wake(): void;
  workers: DeliveryWorker[];
}

/** On which nodes that only answer requests tell those that deliver. */
export const deliveryChannel = 'heliograph_delivery';

const retainEveryMs = 3_600_000;

/** Everything that gets texts to phones, for a thread of its own, a worker node, or a test. */
export function createDelivery(options: {
  config: Config;
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  onCount: (name: DeliveryCount, by: number) => void;
}): Delivery {
  const { config, database, clock, keys, log, onCount } = options;
  const carriers = config.environment === 'sandbox' ? [createSandboxCarrier(createHandsets(database, clock), log)] : [];
  const receipts = createReceipts(database, clock);
  const workers = carriers.map((carrier) =>
    createDeliveryWorker({
      database,
      clock,
      log,
      carrier,
      receipts,
      textOf: createTextOf(keys, config.environment),
      alone: config.redisUrl === undefined,
      atMostOnce: config.delivery === 'at_most_once',
      onCount,
    }),
  );
  const retentions = [
    createRetention(database, clock, config.retentionDays),
    createVerificationRetention(database, clock, config.retentionDays),
  ];
  let timer: NodeJS.Timeout | undefined;
  let listener: Listener | undefined;
  let stopped = false;

  async function retain(): Promise<void> {
    try {
      for (const retention of retentions) while (!stopped && (await retention.maskOld()) > 0);
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'retention is held up');
    }
    if (!stopped) timer = setTimeout(() => void retain(), retainEveryMs).unref();
  }

  function wake(): void {
    for (const worker of workers) worker.wake();
  }

  return {
    workers,
    async start() {
      for (const worker of workers) await worker.start();
      if (config.redisUrl !== undefined) {
        listener = await openListener({ database, channel: deliveryChannel, onNotified: wake });
      }
      timer = setTimeout(() => void retain(), 1000).unref();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await listener?.stop();
      await Promise.all(workers.map((worker) => worker.stop()));
    },
    wake,
  };
}
