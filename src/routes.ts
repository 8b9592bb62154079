import { createOperationsRoutes, type OperationsOptions } from './http/operations-api.ts';
import { type Route, route } from './http/route.ts';

export interface RouteParts {
  operations: Omit<OperationsOptions, 'documented'>;
}

/** The table of contents: every route of the product, in the specification's order. */
export function createRoutes(parts: RouteParts): Route[] {
  const home = route({
    method: 'GET',
    path: '/',
    auth: { kind: 'none' },
    tag: 'Operations',
    summary: 'The way to the reference',
    answers: { 302: { description: 'To /docs' } },
    handler: () => ({ status: 302, location: '/docs' }),
  });
  const documented: Route[] = [home];
  return [...documented, ...createOperationsRoutes({ ...parts.operations, documented })];
}
