import { createAudit } from '../accounts/audit/audit.ts';
import { readQueueState } from '../delivery/queue/lanes.ts';
import type { Windows } from '../edge/windows.ts';
import type { Check } from '../http/operations-api.ts';
import type { Metering } from '../metering/metering.ts';
import { createRecordFiles } from '../portal/developer/record-file.ts';
import { createRequestStories } from '../portal/developer/request-story.ts';
import { createWaitStories } from '../quality/waiting/stories.ts';
import type { Registry } from '../registry/registry.ts';
import type { KnownGuard } from '../verify/guard-rules/known.ts';
import type { VerifyService } from '../verify/verify-service.ts';
import type { Carriers } from './carriers.ts';
import type { Events } from './events.ts';
import { type Foundation, pagesFolder, tokenUrlOf } from './foundation.ts';
import { composeWebhooks } from './webhooks.ts';

export interface PortalParts {
  version: string;
  registry: Registry;
  metering: Metering;
  registrations: Windows;
  verify: VerifyService;
  checks: Check[];
  /** Undefined without Redis. */
  hasRedis: () => boolean | undefined;
  carriers: Carriers;
  events: Events;
  currentGuard: KnownGuard['current'];
}

/** The risk check, shown as the last rule. It has no limit to show: the operator's own service decides. */
const riskRule = ({ risk }: Foundation['config']) =>
  ({ rule: 'risk', limit: null, active: risk !== undefined }) as const;

/** Collects what the portal's routes need. They read from every domain, always through the side pool. */
export function composePortal(foundation: Foundation, parts: PortalParts) {
  const { config, clock, sideDatabase: database } = foundation;
  const {
    registry: { service: registry, credentials, clientKeys, senders, sending, plans, feed },
    metering,
    registrations,
  } = parts;
  const { requireOwn, listApplicationIds: applicationIdsOf } = registry;
  const { flush } = metering;
  const sendFile = createRecordFiles();
  const { list: carriers, table } = parts.carriers.directory;
  const waits = createWaitStories({ database, clock, carriers, table });
  const stories = createRequestStories({ database, clock, metering, applicationIdsOf, waits });
  return {
    clock,
    credentials,
    clientKeys,
    plans,
    audit: createAudit({ clock }),
    tokenUrl: tokenUrlOf(config),
    pagesFolder,
    usage: {
      database,
      clock,
      registry,
      plans,
      flush,
      quotaOf: async (...[key, limits]: Parameters<Windows['peek']>) => registrations.peek(key, limits),
    },
    analytics: { database, clock, requireOwn },
    requests: { database, clock, registry, findStory: stories.find, flush },
    find: { database, clock, stories, waits, flush, retentionDays: config.retentionDays, applicationIdsOf },
    failures: { database, clock, registry, verify: parts.verify, flush },
    developerMessages: { database, clock, requireOwn, sendFile, waits },
    developerVerifications: { database, clock, verify: parts.verify, requireOwn, sendFile, waits },
    events: { ...parts.events.portal, requireOwn },
    senders: { database, senders, requireCarrier: parts.carriers.routes.carriers.require },
    spend: { database, clock, sending, requireOwn },
    guardHolds: { database, clock, feed, requireOwn },
    guardRules: { database, clock, currentGuard: parts.currentGuard, further: [riskRule(config)] },
    nodes: { recentNodes: feed.recentNodes },
    queue: { database, clock },
    traffic: { database, clock, flush },
    health: {
      database,
      clock,
      version: parts.version,
      environment: config.environment,
      checks: parts.checks,
      liveNodes: feed.liveNodes,
      countRegistry: registry.count,
      hasRedis: parts.hasRedis,
      queue: () => readQueueState(database, clock.nowMs()),
      carriers,
    },
    carriers: parts.carriers.routes,
    callbacks: parts.carriers.callbacks,
    routing: parts.carriers.routing,
    totals: { database, clock },
    webhooks: composeWebhooks(foundation, registry),
    deliveries: { database, clock, waits },
  };
}
