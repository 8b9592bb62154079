import { createEventIds } from '../events/event-id.ts';
import { createListeners } from '../events/listeners.ts';
import { createWebhookClient } from '../events/webhook-client.ts';
import { createWebhookDeliveries } from '../events/webhook-deliveries.ts';
import { createWebhookService } from '../events/webhook-service.ts';
import { createWebhookWorker, type WebhookWorker, type WebhookWorkerOptions } from '../events/webhook-worker.ts';
import { createWebhookGuard } from '../platform/address-guard.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { Database } from '../platform/database.ts';
import type { KeyRing } from '../platform/keys.ts';
import type { Log } from '../platform/log.ts';
import { createNameResolver } from '../platform/name-resolver.ts';
import type { RegistryService } from '../registry/registry-service.ts';
import { isApplication } from '../registry/registry-store.ts';
import { createTellEvents } from './event-records.ts';
import type { Foundation } from './foundation.ts';

export interface WebhookWork {
  config: Config;
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  onAttempt?: WebhookWorkerOptions['onAttempt'];
  onWaiting?: WebhookWorkerOptions['onWaiting'];
}

/** Builds what tells endpoints their events, for the delivery thread or a test. */
export function createWebhookWork({ config, clock, ...parts }: WebhookWork): WebhookWorker {
  const guard = createWebhookGuard(config.environment, createNameResolver());
  const tell = createTellEvents(createEventIds(parts.keys));
  return createWebhookWorker({ ...parts, clock, client: createWebhookClient({ guard, clock }), tell });
}

/** Builds what web nodes need of webhooks: the developers' API. The delivery thread calls the endpoints. */
export function composeWebhooks(foundation: Foundation, registry: Pick<RegistryService, 'requireOwn'>) {
  const { config, clock, sideDatabase: database, keys } = foundation;
  const guard = createWebhookGuard(config.environment, createNameResolver());
  // For tests that developers ask for. Its idle connections end by themselves.
  const client = createWebhookClient({ guard, clock });
  const listeners = createListeners({ database, clock });
  const ids = createEventIds(keys);
  return {
    webhooks: createWebhookService({ database, clock, keys, guard, client, listeners, isApplication }),
    deliveries: createWebhookDeliveries({ database, clock, ids, eventDays: config.eventDays }),
    requireOwn: registry.requireOwn,
  };
}
