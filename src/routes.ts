import { createOperationsRoutes, type OperationsOptions } from './http/operations-api.ts';
import { type Route, route } from './http/route.ts';
import type { Database } from './platform/database.ts';
import { createAccountRoutes } from './portal/account-api.ts';
import { createApplicationRoutes } from './portal/application-api.ts';
import { createCredentialRoutes } from './portal/credential-api.ts';
import type { DeveloperService } from './portal/developer-service.ts';
import { createOperatorRoutes } from './portal/operator-api.ts';
import { createRegistrationRoutes } from './portal/registration-api.ts';
import type { RegistryService } from './registry/registry-service.ts';

export interface RouteParts {
  database: Database;
  developers: DeveloperService;
  registry: RegistryService;
  tokenUrl: string;
  operations: Omit<OperationsOptions, 'documented'>;
}

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
    ...createAccountRoutes(developers),
    ...createApplicationRoutes(registry, database.transaction),
    ...createRegistrationRoutes(registry, tokenUrl),
    ...createCredentialRoutes(registry, tokenUrl),
    ...createOperatorRoutes(registry),
    home,
  ];
  return [...documented, ...createOperationsRoutes({ ...parts.operations, documented })];
}
