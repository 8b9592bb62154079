/** The parts of an OpenAPI document that these tests read. */
export interface OpenApi {
  openapi: string;
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    securitySchemes: Record<string, SecurityScheme>;
  };
}

export interface Operation {
  operationId: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Response | { $ref: string }>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
  example: string;
}

export interface Response {
  headers?: Record<string, object>;
  content?: Record<string, Media>;
}

export interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, object>;
}

export interface Schema {
  $ref?: string;
  default?: unknown;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  description?: string;
}

interface SecurityScheme {
  type: string;
  flows?: { clientCredentials: { tokenUrl: string; scopes: Record<string, string> } };
}

export interface Found extends Operation {
  method: string;
  path: string;
  /** Like `POST /sms/v1/messages`. */
  what: string;
}

export function operationsOf({ paths }: OpenApi): Found[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, operation]) => {
      const method = name.toUpperCase();
      return { ...operation, method, path, what: `${method} ${path}` };
    }),
  );
}

export function responsesOf({ components }: OpenApi, { responses }: Operation): [string, Response][] {
  return Object.entries(responses).map(([status, response]) => {
    if (!('$ref' in response)) return [status, response];
    return [status, components.responses[response.$ref.split('/').at(-1) ?? ''] ?? {}];
  });
}
