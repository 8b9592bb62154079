import { hasAwaitedTexts } from '../../delivery/receipts/awaited-texts.ts';
import { createRouteService } from '../../delivery/routing/service.ts';
import { createCarrierService } from '../../delivery/setup/service.ts';
import { createListeners } from '../../events/listeners.ts';
import { createCallLog } from '../../hooks/calls.ts';
import { createHookIds } from '../../hooks/hook-id.ts';
import { createHookSecrets } from '../../hooks/secret.ts';
import { createHookService } from '../../hooks/service.ts';
import { createNumberService } from '../../inbound/number-service.ts';
import type { Database } from '../../platform/database/database.ts';
import { createWebhookGuard } from '../../platform/http-out/address-guard.ts';
import { createGuardedClient } from '../../platform/http-out/client.ts';
import { createNameResolver } from '../../platform/http-out/name-resolver.ts';
import { createApiKeys } from '../../registry/api-key.ts';
import type { ChangeFeed } from '../../registry/change-feed.ts';
import { createCredentialService } from '../../registry/credential-service.ts';
import { createOwnApplications } from '../../registry/own-applications.ts';
import { createPlanService } from '../../registry/plan-service.ts';
import { createRegistryService } from '../../registry/registry-service.ts';
import { isApplication } from '../../registry/registry-store.ts';
import { createSenderService } from '../../registry/sender-service.ts';
import { createSendingService } from '../../registry/sending-service.ts';
import { createGuardRuleService } from '../../verify/guard-rules/service.ts';
import { createWebhookService } from '../../webhooks/service.ts';
import type { CarrierCommandParts } from '../carrier-command-parts.ts';
import { createSilentLog } from '../silent-log.ts';

export type Services = ReturnType<typeof createServices>;

/** The services by which the portal makes the same changes, over a database that may be one transaction. */
export function createServices(
  { config, clock, keys }: Pick<CarrierCommandParts, 'config' | 'clock' | 'keys'>,
  database: Database,
  { change, isCarrier }: { change: ChangeFeed['change']; isCarrier: (name: string) => Promise<boolean> },
) {
  const { environment, publicUrl } = config;
  const feed = { change };
  const shared = { database, clock, feed, environment };
  const own = createOwnApplications(database, feed);
  const apiKeys = createApiKeys(keys, environment);
  const credentials = createCredentialService({ ...shared, keys, apiKeys, own });
  const registry = createRegistryService({ ...shared, own, issueMissing: credentials.issueMissing });
  const secrets = createHookSecrets(keys);
  return {
    carriers: createCarrierService({ database, clock, keys, environment, publicUrl, hasAwaitedTexts }),
    routes: createRouteService({ database, clock, environment }),
    plans: createPlanService({ ...shared, plans: config.plans }),
    guard: createGuardRuleService({ database, clock, change }),
    registry,
    senders: createSenderService({ ...shared, own }),
    sending: createSendingService(shared),
    numbers: createNumberService({ database, clock, isApplication, change, isCarrier }),
    hookSecrets: secrets,
    hooks: createHookService({
      ...{ database, clock, secrets, ids: createHookIds(keys, clock), publicUrl },
      calls: createCallLog({ database, clock, log: createSilentLog() }),
      change: registry.changeOwn,
      requireOwn: registry.requireOwn,
    }),
  };
}

/** Webhooks wait for their worker and for listening to begin, so each change has a transaction of its own. */
export function createWebhooks({ config, clock, keys, database }: CarrierCommandParts) {
  const guard = createWebhookGuard(config.environment, createNameResolver());
  const client = createGuardedClient({ guard, clock });
  const listeners = createListeners({ database, clock });
  return createWebhookService({ database, clock, keys, guard, client, listeners, isApplication });
}
