import { type Field, fieldOf, fieldsWithin } from './fields.ts';
import { follow, type Media, type OpenApi, type OpenApiOperation, type OpenApiResponse } from './openapi.ts';

export interface Operation {
  id: string;
  method: string;
  path: string;
  /** Its API, like `SMS Messaging API`. */
  tag: string;
  summary: string;
  /** Empty if it only repeats the summary. */
  description: string;
  credentials: CredentialKind[];
  /** The scope that its token needs. */
  scope: string | undefined;
  parameters: Parameter[];
  body: Body | undefined;
  answers: Answer[];
  errors: ErrorEntry[];
  /** Its response is a stream that ends when the caller disconnects. */
  isStream: boolean;
}

export type CredentialKind = 'apikey' | 'token' | 'client' | 'sid' | 'session' | 'metrics';

export interface Parameter {
  place: 'path' | 'query' | 'header';
  field: Field;
  example: string;
}

export interface Body {
  kind: 'json' | 'form';
  fields: Field[];
  example: unknown;
}

export interface Answer {
  status: string;
  description: string;
  type: string | undefined;
  fields: Field[];
  headers: { name: string; description: string; example: string }[];
  examples: { name: string; value: unknown }[];
}

export interface ErrorEntry {
  status: string;
  /** Empty for a 429, which has none. */
  code: string;
  when: string;
}

const credentialKinds: Record<string, CredentialKind> = {
  apikey: 'apikey',
  oauth2: 'token',
  client: 'client',
  sid: 'sid',
  session: 'session',
  metrics: 'metrics',
};

export function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => read(document, path, method.toUpperCase(), operation)),
  );
}

/** The APIs in the document's order, each with its operations. */
export interface Api {
  name: string;
  slug: string;
  description: string;
  operations: Operation[];
}

export function apisOf(document: OpenApi): Api[] {
  const operations = operationsOf(document);
  return document.tags.map(({ name, description = '' }) => ({
    name,
    slug: slugOf(name),
    description,
    operations: operations.filter(({ tag }) => tag === name),
  }));
}

export function slugOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

function read(document: OpenApi, path: string, method: string, operation: OpenApiOperation): Operation {
  const { operationId, summary, tags, security = [], responses } = operation;
  const answers = Object.entries(responses).map(([status, response]) =>
    readAnswer(document, status, follow<OpenApiResponse>(document, response)),
  );
  const [scope] = security.flatMap(({ oauth2 = [] }) => oauth2).filter((each) => each !== 'openid');
  const description = operation.description ?? '';
  return {
    id: operationId,
    method,
    path,
    tag: tags[0] ?? '',
    summary,
    description: description === `${summary}.` ? '' : description,
    credentials: security.flatMap((each) => Object.keys(each).flatMap((name) => credentialKinds[name] ?? [])),
    scope,
    parameters: (operation.parameters ?? []).map(
      ({ name, in: place, required = false, description: about, schema, example }) => ({
        place,
        field: fieldOf(document, name, { ...schema, ...(about !== undefined && { description: about }) }, required),
        example: example === undefined ? '' : String(example),
      }),
    ),
    body: readBody(document, operation),
    answers,
    errors: answers.filter(({ status }) => !status.startsWith('2')).flatMap(errorsOf),
    isStream: answers.some(({ type }) => type === 'text/event-stream'),
  };
}

function readBody(document: OpenApi, { requestBody }: OpenApiOperation): Body | undefined {
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
  if (type === undefined || media === undefined) return undefined;
  const kind = type === 'application/x-www-form-urlencoded' ? 'form' : 'json';
  return { kind, fields: fieldsWithin(document, media.schema), example: media.example };
}

function readAnswer(document: OpenApi, status: string, response: OpenApiResponse): Answer {
  const [[type, media] = []] = Object.entries(response.content ?? {});
  return {
    status,
    description: response.description,
    type,
    fields: media === undefined ? [] : fieldsWithin(document, media.schema),
    headers: Object.entries(response.headers ?? {}).map(([name, header]) => {
      const { description, example } = follow(document, header);
      return { name, description, example: String(example ?? '') };
    }),
    examples: media === undefined ? [] : examplesOf(document, media),
  };
}

function examplesOf(document: OpenApi, { example, examples }: Media): Answer['examples'] {
  const named = Object.entries(examples ?? {}).map(([name, each]) => ({ name, value: follow(document, each).value }));
  return example === undefined ? named : [{ name: 'Example', value: example }, ...named];
}

/** Parses a description like "`CODE`: when. `CODE`: when." */
function errorsOf({ status, description, examples }: Answer): ErrorEntry[] {
  const listed = [...description.matchAll(/`([A-Z][A-Z_]+)`: ([^`]+)/g)];
  if (listed.length > 0) return listed.map(([, code = '', when = '']) => ({ status, code, when: when.trim() }));
  const shown = status === 'default' ? 'other' : status;
  if (status === '429') return [{ status, code: '', when: description }];
  // The token endpoints use the error names of RFC 6749.
  const named = description.match(/\b(?:invalid|unsupported)_\w+/g);
  if (named !== null) return named.map((code) => ({ status, code, when: '' }));
  return examples.map(({ name }) => ({ status: shown, code: name === 'Example' ? '' : name, when: description }));
}
