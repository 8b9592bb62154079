import { errorSchema, limitedSchema, oauthErrorSchema } from '../error-reply.ts';
import type { Route } from '../route.ts';
import { headers } from './header-table.ts';
import { operationOf } from './operation.ts';
import { createResponses } from './responses.ts';
import { createNamedSchemas, type Node, type Report } from './schemas.ts';
import { securitySchemes } from './security.ts';
import { type Part, parts, tags } from './tags.ts';

export interface OpenApiOptions {
  publicUrl: string;
  version: string;
  tokenUrl: string;
  sessionCookie: string;
}

/**
 * The OpenAPI 3.1 document of routes. What a route lacks is left out of the document and passed to `report`, on which a
 * test fails.
 */
export function createOpenApi(routes: Route[], options: OpenApiOptions, report: Report = () => {}): object {
  const schemas = createNamedSchemas(report);
  const responses = createResponses();
  const paths: Record<string, Node> = {};
  for (const route of routes) {
    const reportOfRoute = (problem: string) => report(`${route.method} ${route.path} ${problem}`);
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operationOf(route, { schemas, responses, report: reportOfRoute }),
    };
  }
  for (const schema of [errorSchema, limitedSchema, oauthErrorSchema]) schemas.shown(schema, 'answer');
  for (const { errors } of routes) if (typeof errors === 'object') schemas.shown(errors.schema, 'answer');
  const used = [...new Set(routes.map(({ tag }) => tag))];
  return schemas.finish({
    openapi: '3.1.0',
    info: {
      title: 'Heliograph',
      version: options.version,
      summary: 'Number verification and SMS messaging',
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.publicUrl, description: 'This service' }],
    tags: used.map((name) => ({ name, ...(tags[name] && { description: tags[name].description }) })),
    'x-tagGroups': groupsOf(used),
    paths,
    components: {
      securitySchemes: securitySchemes(options),
      headers,
      responses: responses.named(),
      examples: responses.examples(),
    },
  });
}

/** The routes of one part of the reference. */
export function routesOf(routes: Route[], part: Part): Route[] {
  return routes.filter(({ tag }) => tags[tag]?.part === part);
}

function groupsOf(used: string[]): object[] {
  return Object.entries(parts).flatMap(([part, name]) => {
    const own = used.filter((tag) => tags[tag]?.part === part);
    return own.length === 0 ? [] : [{ name, tags: own }];
  });
}

const description = [
  'Every answer has `X-Correlation-ID` and the limit headers. An error has `message`, `code`, `correlation_id` and',
  '`details`; a 429 has only `message`, and `Retry-After` says how many seconds to wait. Unknown properties of a request',
  'are ignored; wrong types are refused, and so is text with half a surrogate pair. Times are RFC 3339 in UTC. Lists of',
  'values can grow: expect ones that you do not know.',
].join('\n');
