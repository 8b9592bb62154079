import { createSandboxCarrier } from '../delivery/carriers/sandbox-carrier.ts';
import { createDeliveryWorker, type DeliveryWorker } from '../delivery/delivery-worker.ts';
import { createReceipts } from '../delivery/receipts.ts';
import type { DeliveryCount } from '../delivery/submission.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { Database } from '../platform/database.ts';
import type { KeyRing } from '../platform/keys.ts';
import { type Listener, openListener } from '../platform/listener.ts';
import type { Log } from '../platform/log.ts';
import { createMaintenance, type Maintenance, type MaintenanceCount } from '../platform/maintenance.ts';
import { createHandsets } from '../sandbox/handsets.ts';
import { findPending } from '../verify/pending-store.ts';
import { createChores } from './chores.ts';
import { createTextRenderer } from './text-renderer.ts';

export interface Delivery {
  start(): Promise<void>;
  stop(): Promise<void>;
  wake(): void;
  workers: DeliveryWorker[];
  maintenance: Maintenance;
}

/** Postgres NOTIFY channel: `web` nodes notify the nodes that deliver. */
export const deliveryChannel = 'heliograph_delivery';

/** Builds all background work, for the delivery thread or a test. */
export function createDelivery(options: {
  config: Config;
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  onCount: (name: DeliveryCount, by: number) => void;
  onMaintenance: (chore: string, count: MaintenanceCount, by: number) => void;
}): Delivery {
  const { config, database, clock, keys, log, onCount, onMaintenance } = options;
  const carriers = config.environment === 'sandbox' ? [createSandboxCarrier(createHandsets(database, clock), log)] : [];
  const receipts = createReceipts({ database, clock });
  const workers = carriers.map((carrier) =>
    createDeliveryWorker({
      database,
      clock,
      log,
      carrier,
      receipts,
      renderText: createTextRenderer(keys, config.environment),
      findPending: (ids) => findPending(database, ids, clock.nowMs()),
      nextCarrier: () => undefined,
      alone: config.redisUrl === undefined,
      atMostOnce: config.delivery === 'at_most_once',
      onCount,
    }),
  );
  const chores = createChores({ config, database, clock });
  const maintenance = createMaintenance({ chores, clock, log, onCount: onMaintenance });
  let listener: Listener | undefined;

  function wake(): void {
    for (const worker of workers) worker.wake();
  }

  return {
    workers,
    maintenance,
    async start() {
      for (const worker of workers) worker.start();
      if (config.redisUrl !== undefined) {
        listener = await openListener({ database, channel: deliveryChannel, onNotified: wake });
      }
      maintenance.start();
    },
    async stop() {
      await maintenance.stop();
      await listener?.stop();
      await Promise.all(workers.map((worker) => worker.stop()));
    },
    wake,
  };
}
