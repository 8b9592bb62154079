import { createOperationsRoutes, type OperationsOptions } from './http/operations-api.ts';
import { type Auth, type Route, route } from './http/route.ts';
import { createIdentityRoutes } from './identity/token-api.ts';
import { createMessageRoutes, type MessageRoutesOptions } from './messages/message-api.ts';
import type { Database } from './platform/database.ts';
import { createAccountRoutes } from './portal/account-api.ts';
import { createApplicationRoutes } from './portal/application-api.ts';
import { createCredentialRoutes } from './portal/credential-api.ts';
import type { DeveloperService } from './portal/developer-service.ts';
import { createOperatorRoutes } from './portal/operator-api.ts';
import { createRegistrationRoutes } from './portal/registration-api.ts';
import type { RegistryService } from './registry/registry-service.ts';
import { createInboxRoutes, type InboxOptions } from './sandbox/inbox-api.ts';
import { createVerifyRoutes, type VerifyRoutesOptions } from './verify/verify-api.ts';

export interface RouteParts {
  database: Database;
  developers: DeveloperService;
  registry: RegistryService;
  tokenUrl: string;
  identity: Parameters<typeof createIdentityRoutes>[0];
  verify: VerifyRoutesOptions;
  messages: Pick<MessageRoutesOptions, 'messages' | 'idempotency' | 'rules'>;
  /** Only in the sandbox. */
  inbox: InboxOptions | undefined;
  operations: Omit<OperationsOptions, 'documented'>;
}

/** The three APIs and what opens them: also for paths of theirs that are not there, so that 401 comes before 404. */
export const apiPrefixes: { prefix: string; auth: Auth }[] = [
  { prefix: '/verify/v1', auth: { kind: 'bearer', scope: 'verify:manage' } },
  { prefix: '/sms/v1', auth: { kind: 'apikey' } },
  { prefix: '/messaging/v1', auth: { kind: 'bearer', scope: 'messaging:send' } },
];

/** The table of contents: every route of the product, in the specification's order. */
export function createRoutes(parts: RouteParts): Route[] {
  const { database, developers, registry, tokenUrl } = parts;
  const home = route({
    method: 'GET',
    path: '/',
    auth: { kind: 'none' },
    tag: 'Operations',
    summary: 'The way to the reference',
    answers: { 302: { description: 'To /docs' } },
    handler: () => ({ status: 302, location: '/docs' }),
  });
  const documented: Route[] = [
    ...createVerifyRoutes(parts.verify),
    ...createMessageRoutes({
      api: 'sms',
      base: '/sms/v1/messages',
      auth: { kind: 'apikey' },
      tag: 'SMS Messaging API',
      created: 201,
      ...parts.messages,
    }),
    ...createMessageRoutes({
      api: 'messaging',
      base: '/messaging/v1/messages',
      auth: { kind: 'bearer', scope: 'messaging:send' },
      tag: 'Messaging API',
      created: 200,
      ...parts.messages,
    }),
    ...createIdentityRoutes(parts.identity),
    ...createAccountRoutes(developers),
    ...createApplicationRoutes(registry, database.transaction),
    ...createRegistrationRoutes(registry, tokenUrl),
    ...createCredentialRoutes(registry, tokenUrl),
    ...createOperatorRoutes(registry),
    ...(parts.inbox === undefined ? [] : createInboxRoutes(parts.inbox)),
    home,
  ];
  return [...documented, ...createOperationsRoutes({ ...parts.operations, documented })];
}
