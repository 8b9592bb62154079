import { createAccountRoutes } from './accounts/account-api.ts';
import { createAuditRoutes } from './accounts/audit/api.ts';
import type { Audit } from './accounts/audit/audit.ts';
import { createMemberRoutes } from './accounts/member-api.ts';
import type { MemberService } from './accounts/member-service.ts';
import { createPersonRoutes } from './accounts/person-api.ts';
import type { PersonService } from './accounts/person-service.ts';
import { createSignInRoutes } from './accounts/sign-in-api.ts';
import { createSignInLinkRoutes } from './accounts/sign-in-link-api.ts';
import { createSsoRoutes } from './accounts/sso/api.ts';
import type { SsoService } from './accounts/sso/service.ts';
import { type CallbackRoutesOptions, createCallbackRoutes } from './delivery/http/callbacks/api.ts';
import { createFeedRoutes, type FeedRoutesOptions, feedAuth } from './events/feed-api.ts';
import { createHookRoutes } from './hooks/api.ts';
import { createOperationsRoutes, type OperationsOptions } from './http/operations-api.ts';
import { createPageRoutes } from './http/pages-api.ts';
import type { Auth, Route } from './http/route.ts';
import { createIdentityRoutes } from './identity/token-api.ts';
import { createHandsetReplyRoutes, type HandsetReplyOptions } from './inbound/handset-reply-api.ts';
import { createInboundRoutes, type InboundRoutesOptions } from './inbound/inbound-api.ts';
import type { NumberService } from './inbound/number-service.ts';
import { createOptOutRoutes, type OptOutRoutesOptions } from './inbound/opt-out-api.ts';
import { createMessageRoutes } from './messages/message-api.ts';
import type { MessageRoutesOptions } from './messages/message-routes-options.ts';
import type { Clock } from './platform/clock.ts';
import type { Database } from './platform/database/database.ts';
import { createDeveloperAnalyticsRoutes, type DeveloperAnalyticsOptions } from './portal/developer/analytics-api.ts';
import { createApplicationRoutes } from './portal/developer/application-api.ts';
import { createClientKeyRoutes } from './portal/developer/client-keys/client-key-api.ts';
import { createCredentialRoutes } from './portal/developer/credential-api.ts';
import { createEnableCredentialRoutes } from './portal/developer/enable-credential-api.ts';
import { createPortalEventRoutes, type PortalEventOptions } from './portal/developer/event-api.ts';
import { createFailureRoutes, type FailureRoutesOptions } from './portal/developer/failure-api.ts';
import { createHookManagementRoutes, type HookManagementOptions } from './portal/developer/hook-api.ts';
import { createDeveloperMessageRoutes, type DeveloperMessageOptions } from './portal/developer/message-api.ts';
import { createDeveloperOptOutRoutes } from './portal/developer/opt-out-api.ts';
import { createRegistrationRoutes } from './portal/developer/registration-api.ts';
import { createRequestRoutes, type RequestRoutesOptions } from './portal/developer/request-api.ts';
import { createSenderRoutes, type SenderRoutesOptions } from './portal/developer/sender-api.ts';
import { createServiceRoutes } from './portal/developer/service-api.ts';
import { createSmppAccountRoutes, type SmppRoutesOptions } from './portal/developer/smpp/account-api.ts';
import { createTemplateRoutes } from './portal/developer/template-api.ts';
import { createTryRoutes } from './portal/developer/try-api.ts';
import { createTwilioAccountRoutes } from './portal/developer/twilio/account-api.ts';
import { createUsageRoutes, type UsageOptions } from './portal/developer/usage-api.ts';
import {
  createDeveloperVerificationRoutes,
  type DeveloperVerificationOptions,
} from './portal/developer/verification-api.ts';
import { createWebhookRoutes, type WebhookRoutesOptions } from './portal/developer/webhook-api.ts';
import { createFindRoutes } from './portal/find/find-api.ts';
import type { FindOptions } from './portal/find/find-service.ts';
import { createOperatorAccountRoutes } from './portal/operator/account-api.ts';
import { createAlertRoutes } from './portal/operator/alert-api.ts';
import { createAlertCountRoutes } from './portal/operator/alert-count-api.ts';
import { createAnalyticsRoutes } from './portal/operator/analytics-api.ts';
import { createOperatorApplicationRoutes } from './portal/operator/application-api.ts';
import { type CarrierRoutesOptions, createCarrierRoutes } from './portal/operator/carrier-api.ts';
import { createDeliveryRoutes, type DeliveryRoutesOptions } from './portal/operator/delivery-api.ts';
import { createGuardHoldRoutes, type GuardHoldOptions } from './portal/operator/guard-hold-api.ts';
import { createGuardRuleRoutes, type GuardRuleOptions } from './portal/operator/guard-rule-api.ts';
import { createHealthRoutes, type HealthOptions } from './portal/operator/health-api.ts';
import { createPortalInboundRoutes, type PortalInboundOptions } from './portal/operator/inbound-api.ts';
import { createNodeRoutes, type NodeRoutesOptions } from './portal/operator/node-api.ts';
import { createNowRoutes } from './portal/operator/now-api.ts';
import { createNumberRoutes } from './portal/operator/number-api.ts';
import { createOperatorRoutes } from './portal/operator/operator-api.ts';
import { createPlanRoutes } from './portal/operator/plan-api.ts';
import { createQueueRoutes, type QueueRoutesOptions } from './portal/operator/queue-api.ts';
import { createRouteRoutes, type RouteRoutesOptions } from './portal/operator/route-api.ts';
import { createSmppBindRoutes } from './portal/operator/smpp-bind-api.ts';
import { createSpendRoutes, type SpendRoutesOptions } from './portal/operator/spend-api.ts';
import { createTotalRoutes, type TotalRoutesOptions } from './portal/operator/total-api.ts';
import { createTrafficRoutes, type TrafficRoutesOptions } from './portal/operator/traffic-api.ts';
import type { ClientKeyService } from './registry/client-keys/service.ts';
import type { CredentialService } from './registry/credential-service.ts';
import type { PlanService } from './registry/plan-service.ts';
import type { RegistryService } from './registry/registry-service.ts';
import { createInboxRoutes, type InboxOptions } from './sandbox/inbox-api.ts';
import type { Config } from './settings/settings.ts';
import type { TwilioAccounts } from './twilio/account-service.ts';
import { createTwilioMessageRoutes, type TwilioMessageOptions } from './twilio/message-api.ts';
import { createTwilioVerifyRoutes, type TwilioVerifyOptions } from './twilio/verify-api.ts';
import { mayAssure } from './verify/assurance/profile.ts';
import { createVerifyRoutes, type VerifyRoutesOptions } from './verify/verify-api.ts';

export interface RouteParts {
  inbound: Pick<InboundRoutesOptions, 'database'> & Pick<OptOutRoutesOptions, 'optOuts'>;
  feed: FeedRoutesOptions;
  numbers: NumberService;
  portalInbound: PortalInboundOptions;
  /** Set in the sandbox only. */
  replies: HandsetReplyOptions | undefined;
  config: Config;
  version: string;
  database: Database;
  clock: Clock;
  audit: Audit;
  plans: PlanService;
  people: PersonService;
  members: MemberService;
  /** Undefined without single sign-on. */
  sso: SsoService | undefined;
  /** The name of the cookie is in the reference. */
  sessions: { cookieName: string };
  registry: RegistryService;
  credentials: CredentialService;
  clientKeys: ClientKeyService;
  tokenUrl: string;
  identity: Parameters<typeof createIdentityRoutes>[0];
  verify: VerifyRoutesOptions;
  messages: Pick<MessageRoutesOptions, 'messages' | 'idempotency' | 'rules'>;
  usage: UsageOptions;
  analytics: DeveloperAnalyticsOptions;
  requests: RequestRoutesOptions;
  find: FindOptions;
  failures: FailureRoutesOptions;
  developerMessages: DeveloperMessageOptions;
  developerVerifications: DeveloperVerificationOptions;
  events: PortalEventOptions;
  senders: SenderRoutesOptions;
  spend: SpendRoutesOptions;
  guardHolds: GuardHoldOptions;
  guardRules: GuardRuleOptions;
  nodes: NodeRoutesOptions;
  queue: QueueRoutesOptions;
  traffic: TrafficRoutesOptions;
  health: HealthOptions;
  carriers: CarrierRoutesOptions;
  callbacks: CallbackRoutesOptions;
  routing: RouteRoutesOptions;
  totals: TotalRoutesOptions;
  deliveries: DeliveryRoutesOptions;
  webhooks: WebhookRoutesOptions;
  hooks: HookManagementOptions;
  twilio: {
    accounts: TwilioAccounts;
    routes: Pick<TwilioVerifyOptions, 'errors' | 'publicUrl'> & Pick<TwilioMessageOptions, 'urlProblem'>;
  };
  smpp: SmppRoutesOptions;
  /** Set in the sandbox only. */
  inbox: InboxOptions | undefined;
  pagesFolder: string;
  operations: Omit<OperationsOptions, 'documented' | 'tokenUrl' | 'sessionCookie'>;
}

const byKey: Auth = { kind: 'apikey' };
const byMessagingToken: Auth = { kind: 'bearer', scope: 'messaging:send' };

/** The APIs and their credentials. Unknown paths below a prefix need the same credential, so 401 comes before 404. */
export const apiPrefixes: { prefix: string; auth: Auth | Auth[] }[] = [
  { prefix: '/verify/v1', auth: { kind: 'bearer', scope: 'verify:manage' } },
  { prefix: '/sms/v1', auth: byKey },
  { prefix: '/messaging/v1', auth: byMessagingToken },
  { prefix: '/events/v1', auth: feedAuth },
  { prefix: '/twilio/v2', auth: { kind: 'sid', api: 'verify' } },
  { prefix: '/twilio', auth: { kind: 'sid', api: 'sms' } },
];

/** Every route of the product, in the specification's order. */
export function createRoutes(parts: RouteParts): Route[] {
  const { database, clock, people, members, sso, registry, credentials, tokenUrl, audit } = parts;
  const { publicUrl } = parts.config;
  const operationIds = new Set<string | undefined>();
  const apis = [
    ...createVerifyRoutes(parts.verify),
    ...createMessageRoutes({
      api: 'sms',
      base: '/sms/v1/messages',
      auth: byKey,
      tag: 'SMS Messaging API',
      created: 201,
      ...parts.messages,
    }),
    ...createMessageRoutes({
      api: 'messaging',
      base: '/messaging/v1/messages',
      auth: byMessagingToken,
      tag: 'Messaging API',
      created: 200,
      ...parts.messages,
    }),
  ];
  const documented: Route[] = [
    ...apis,
    ...inboundRoutesOf(parts, 'sms', byKey, 'SMS Messaging API'),
    ...inboundRoutesOf(parts, 'messaging', byMessagingToken, 'Messaging API'),
    ...createTwilioVerifyRoutes({ ...parts.verify, ...parts.twilio.routes }),
    ...createTwilioMessageRoutes({ ...parts.messages, ...parts.twilio.routes }),
    ...createHookRoutes(parts.hooks.receiver),
    ...createFeedRoutes(parts.feed),
    ...createIdentityRoutes(parts.identity),
    ...createServiceRoutes(parts.config, tokenUrl, parts.version, parts.plans),
    ...createAccountRoutes(people, audit, sso),
    ...createSsoRoutes(sso, audit),
    ...(parts.config.environment === 'sandbox' ? createSignInLinkRoutes(people) : []),
    ...createPersonRoutes(people, audit),
    ...createSignInRoutes(people, database),
    ...createMemberRoutes({ people, members, audit, publicUrl }),
    ...createAuditRoutes(database),
    ...createApplicationRoutes(registry, database.transaction, audit, mayAssure(parts.config)),
    ...createRegistrationRoutes(registry, tokenUrl, audit),
    ...createCredentialRoutes(credentials, tokenUrl, audit),
    ...createEnableCredentialRoutes(credentials, audit),
    ...createClientKeyRoutes(parts.clientKeys, audit),
    ...createTryRoutes(apis),
    ...createUsageRoutes(parts.usage),
    ...createDeveloperAnalyticsRoutes(parts.analytics),
    ...createRequestRoutes(parts.requests),
    ...createFailureRoutes(parts.failures),
    ...createDeveloperMessageRoutes(parts.developerMessages),
    ...createDeveloperVerificationRoutes(parts.developerVerifications),
    ...createFindRoutes(parts.find, audit),
    ...createDeveloperOptOutRoutes({ ...parts.inbound, listRegistrations: registry.listRegistrations }),
    ...createPortalEventRoutes(parts.events),
    ...createWebhookRoutes(parts.webhooks, audit),
    ...createHookManagementRoutes(parts.hooks, audit),
    ...createTwilioAccountRoutes(parts.twilio.accounts, audit),
    ...createSmppAccountRoutes(parts.smpp, audit),
    ...createSmppBindRoutes(parts.smpp, audit),
    ...createOperatorRoutes({ database, registry, audit }),
    ...createOperatorApplicationRoutes({ database, clock, flush: parts.usage.flush }),
    ...createOperatorAccountRoutes({ database, clock, people, registry, credentials, audit, publicUrl }),
    ...createSenderRoutes(parts.senders, audit),
    ...createTemplateRoutes(parts.spend.sending, audit),
    ...createSpendRoutes(parts.spend, audit),
    ...createPlanRoutes({ database, plans: parts.plans, audit }),
    ...createGuardHoldRoutes(parts.guardHolds, audit),
    ...createGuardRuleRoutes(parts.guardRules),
    ...createCarrierRoutes(parts.carriers, audit),
    ...createCallbackRoutes(parts.callbacks),
    ...createRouteRoutes(parts.routing, audit),
    ...createTotalRoutes(parts.totals),
    ...createQueueRoutes(parts.queue),
    ...createDeliveryRoutes(parts.deliveries),
    ...createAlertRoutes({ database }),
    ...createAlertCountRoutes({ database }),
    ...createNowRoutes({ database: parts.totals.database, clock, carriers: parts.carriers.carriers }),
    ...createAnalyticsRoutes(parts.totals),
    ...createNumberRoutes(parts.numbers, audit),
    ...createPortalInboundRoutes(parts.portalInbound, audit),
    ...createHealthRoutes(parts.health),
    ...createNodeRoutes(parts.nodes),
    ...createTrafficRoutes(parts.traffic),
    ...(parts.inbox === undefined ? [] : createInboxRoutes(parts.inbox)),
    ...(parts.replies === undefined ? [] : createHandsetReplyRoutes(parts.replies)),
    ...createPageRoutes(parts.pagesFolder, (id) => operationIds.has(id)),
  ];
  const about = { tokenUrl, sessionCookie: parts.sessions.cookieName };
  const all = [...documented, ...createOperationsRoutes({ ...parts.operations, ...about, documented })];
  for (const { operationId } of all) operationIds.add(operationId);
  return all;
}

/** Texts from phones and opt-outs, for one of the two APIs that send texts. */
function inboundRoutesOf({ inbound }: RouteParts, api: 'sms' | 'messaging', auth: Auth, tag: string): Route[] {
  const options = { ...inbound, api, base: `/${api}/v1`, auth, tag };
  return [...createInboundRoutes(options), ...createOptOutRoutes(options)];
}
