/** As much of an OpenAPI document as the reference reads. */
export interface OpenApi {
  info: { version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, OpenApiResponse>;
    examples: Record<string, { value: unknown }>;
    headers: Record<string, OpenApiHeader>;
    securitySchemes: Record<string, { description?: string; name?: string }>;
  };
}

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: OpenApiParameter[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, OpenApiResponse | Ref>;
}

export interface OpenApiParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface OpenApiResponse {
  description: string;
  headers?: Record<string, OpenApiHeader | Ref>;
  content?: Record<string, Media>;
}

export interface OpenApiHeader {
  description: string;
  schema: Schema;
  example?: unknown;
}

export interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown } | Ref>;
}

export interface Ref {
  $ref: string;
}

export interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  additionalProperties?: boolean | Schema;
}

/** Resolves a reference like `#/components/…`. */
export function follow<Part extends object>(document: OpenApi, part: Part | Ref): Part {
  if (!('$ref' in part) || typeof part.$ref !== 'string') return part as Part;
  const steps = part.$ref.split('/').slice(1);
  const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document);
  if (found === undefined) throw new Error(`The document has no ${part.$ref}.`);
  return found as Part;
}
