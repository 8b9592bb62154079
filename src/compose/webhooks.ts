import { createEventIds } from '../events/event-id.ts';
import { createListeners } from '../events/listeners.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database } from '../platform/database/database.ts';
import { createWebhookGuard } from '../platform/http-out/address-guard.ts';
import { createGuardedClient } from '../platform/http-out/client.ts';
import { createNameResolver } from '../platform/http-out/name-resolver.ts';
import type { Log } from '../platform/log.ts';
import type { Tracer } from '../platform/tracing/tracer.ts';
import type { RegistryService } from '../registry/registry-service.ts';
import { isApplication } from '../registry/registry-store.ts';
import type { Config } from '../settings/settings.ts';
import { createWebhookDeliveries } from '../webhooks/deliveries.ts';
import { createWebhookService } from '../webhooks/service.ts';
import { createAttemptSpans } from '../webhooks/spans.ts';
import { createWebhookWorker, type WebhookWorker, type WebhookWorkerOptions } from '../webhooks/worker.ts';
import { createAssembleEvents } from './event-records.ts';
import type { Foundation } from './foundation.ts';
import { findEventTraces } from './tracing/event-traces.ts';

export interface WebhookWork {
  config: Config;
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  onAttempt?: WebhookWorkerOptions['onAttempt'];
  onLease?: WebhookWorkerOptions['onLease'];
  onWaiting?: WebhookWorkerOptions['onWaiting'];
  tracer?: Tracer | undefined;
}

/** Builds the worker that delivers events to endpoints, for the delivery thread or a test. */
export function createWebhookWork({ config, clock, tracer, ...parts }: WebhookWork): WebhookWorker {
  const guard = createWebhookGuard(config.environment, createNameResolver());
  const assemble = createAssembleEvents(createEventIds(parts.keys));
  const traced = tracer && { findTraces: findEventTraces, spans: createAttemptSpans(tracer, clock) };
  return createWebhookWorker({ ...parts, ...traced, clock, client: createGuardedClient({ guard, clock }), assemble });
}

/** Builds what web nodes need of webhooks: the developers' API. The delivery thread calls the endpoints. */
export function composeWebhooks(foundation: Foundation, registry: Pick<RegistryService, 'requireOwn'>) {
  const { config, clock, sideDatabase: database, keys } = foundation;
  const guard = createWebhookGuard(config.environment, createNameResolver());
  // For tests that developers ask for. Its idle connections end by themselves.
  const client = createGuardedClient({ guard, clock });
  const listeners = createListeners({ database, clock });
  const ids = createEventIds(keys);
  return {
    webhooks: createWebhookService({ database, clock, keys, guard, client, listeners, isApplication }),
    deliveries: createWebhookDeliveries({
      ...{ database, clock, ids },
      eventDays: config.eventDays,
      assemble: createAssembleEvents(ids),
    }),
    database,
    requireOwn: registry.requireOwn,
  };
}
