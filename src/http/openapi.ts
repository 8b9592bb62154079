import { errorSchema, limitedSchema } from './error-reply.ts';
import { schemaKeyword } from './field-problems.ts';
import type { Auth, Route } from './route.ts';
import { itemKeyword } from './validation.ts';

const limitHeaders = {
  'X-Correlation-ID': header('string', 'Unique identifier of the request, to be quoted when reporting a problem'),
  'RateLimit-Limit': header('integer', 'Requests permitted in the window'),
  'RateLimit-Remaining': header('integer', 'Requests still available'),
  'RateLimit-Reset': header('integer', 'Seconds until the quota is restored'),
};

const securitySchemes = {
  apikey: {
    type: 'apiKey',
    in: 'header',
    name: 'apikey',
    description: 'A key of an application registered for the API',
  },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A token from the token endpoint' },
  session: { type: 'apiKey', in: 'cookie', name: 'heliograph_session', description: 'Set by signing in to the portal' },
};

/** The OpenAPI 3.1 document of the mounted routes. */
export function createOpenApi(routes: Route[], options: { publicUrl: string; version: string }): object {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = operationOf(route);
    paths[route.path] = operations;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heliograph',
      version: options.version,
      description: 'Number verification and SMS messaging.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.publicUrl }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { securitySchemes, schemas: { Error: plain(errorSchema), Limited: plain(limitedSchema) } },
  };
}

function operationOf(route: Route): object {
  const parameters = [...parametersOf(route.params, 'path'), ...parametersOf(route.query, 'query')];
  const mediaType = route.consumes === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  return {
    operationId: operationIdOf(route),
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    security: [route.auth].flat().flatMap(securityOf),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && {
      requestBody: { required: true, content: { [mediaType]: { schema: plain(route.body) } } },
    }),
    responses: responsesOf(route),
  };
}

function responsesOf(route: Route): object {
  const responses: Record<string, object> = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    const type = answer.type ?? 'application/json';
    responses[status] = {
      description: answer.description,
      headers: limitHeaders,
      ...((answer.schema !== undefined || answer.type !== undefined) && {
        content: { [type]: answer.schema === undefined ? {} : { schema: plain(answer.schema) } },
      }),
    };
  }
  responses['429'] ??= refusal('A rate limit is exceeded; wait Retry-After seconds', 'Limited');
  responses.default ??= refusal('Any other error', 'Error');
  return responses;
}

function refusal(description: string, schema: 'Error' | 'Limited'): object {
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
  return { description, headers: limitHeaders, content };
}

function parametersOf(schema: Route['params'], place: 'path' | 'query'): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || (schema?.required?.includes(name) ?? false),
    schema: plain(property),
  }));
}

function securityOf(auth: Auth): Record<string, string[]>[] {
  switch (auth.kind) {
    case 'none':
    case 'visitor':
    case 'client':
    case 'metrics':
    case 'callback':
      return [];
    case 'apikey':
      return [{ apikey: [] }];
    case 'bearer':
      return [{ bearer: auth.scope === undefined ? [] : [auth.scope] }];
    case 'developer':
    case 'operator':
      return [{ session: [] }];
  }
}

function operationIdOf({ method, path }: Route): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return [method.toLowerCase(), ...words].join('_');
}

/** The schema as JSON: `expected` becomes OpenAPI's `description`, `eachByItself` the schema of the item. */
function plain(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { [schemaKeyword]: expected, [itemKeyword]: item, ...rest } = value as Record<string, unknown>;
    if (item !== undefined) return item;
    return typeof expected === 'string' ? { description: expected, ...rest } : value;
  });
}

function header(type: string, description: string): object {
  return { description, schema: { type } };
}
