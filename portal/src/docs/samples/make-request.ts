import type { Operation } from '../model/operations.ts';
import type { SampleBody, SampleCredential, SampleRequest } from './request.ts';

/** The values that a reader entered for one operation. */
export interface Values {
  /** The values by place and name, like `path id`. An empty text is left out. */
  parameters: Record<string, string>;
  /** JSON as typed; the fields of a form too. */
  body: string;
}

/** The credentials of this tab. */
export interface Credentials {
  apiKey: string;
  clientId: string;
  clientSecret: string;
}

export interface SampleService {
  baseUrl: string;
  tokenUrl: string;
}

export const placeholders: Credentials = {
  apiKey: 'YOUR_API_KEY',
  clientId: 'YOUR_CLIENT_ID',
  clientSecret: 'YOUR_CLIENT_SECRET',
};

/** The request of a sample; undefined while the body is not valid JSON. */
export function makeRequest(
  operation: Operation,
  values: Values,
  known: Partial<Credentials>,
  service: SampleService,
): SampleRequest | undefined {
  const credentials = filled(known);
  const body = bodyOf(operation, values.body, credentials);
  if (body === 'malformed') return undefined;
  const given = (place: string) =>
    operation.parameters
      .filter((parameter) => parameter.place === place)
      .map(({ field }): [string, string] => [field.name, values.parameters[`${place} ${field.name}`] ?? ''])
      .filter(([, value]) => value !== '');
  return {
    operationId: operation.id,
    method: operation.method,
    baseUrl: service.baseUrl,
    template: operation.path,
    pathValues: Object.fromEntries(given('path')),
    query: given('query'),
    headers: given('header'),
    body,
    credential: credentialOf(operation, credentials, service),
    isStream: operation.isStream,
  };
}

function filled(known: Partial<Credentials>): Credentials {
  return {
    apiKey: known.apiKey || placeholders.apiKey,
    clientId: known.clientId || placeholders.clientId,
    clientSecret: known.clientSecret || placeholders.clientSecret,
  };
}

function credentialOf(
  { credentials: [kind], scope }: Operation,
  { apiKey, clientId, clientSecret }: Credentials,
  { tokenUrl }: SampleService,
): SampleCredential {
  switch (kind) {
    case 'apikey':
      return { kind: 'apikey', apiKey };
    case 'token':
      return { kind: 'token', clientId, clientSecret, tokenUrl, scope: `openid ${scope ?? 'messaging:send'}` };
    case 'sid':
      return { kind: 'basic', user: 'YOUR_ACCOUNT_SID', password: 'YOUR_AUTH_TOKEN' };
    case 'session':
      return { kind: 'cookie', value: 'heliograph_session=YOUR_SESSION' };
    default:
      return { kind: 'none' };
  }
}

function bodyOf(
  { body, credentials }: Operation,
  text: string,
  own: Credentials,
): SampleBody | undefined | 'malformed' {
  if (body === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (body.kind === 'json') return { kind: 'json', value };
    const form = Object.entries(value as object).map(([name, each]) => [name, String(each)]);
    // The credential of the identity provider's calls is part of the form.
    const client = credentials.includes('client') ? { client_id: own.clientId, client_secret: own.clientSecret } : {};
    return { kind: 'form', value: { ...Object.fromEntries(form), ...client } };
  } catch {
    return 'malformed';
  }
}

/** The values of the document's example. Optional parameters stay empty, except for the idempotency key. */
export function exampleValues({ parameters, body }: Operation, idempotencyKey: string): Values {
  const shown = parameters.flatMap(({ place, field, example }): [string, string][] => {
    if (field.name === 'Idempotency-Key') return [[`${place} ${field.name}`, idempotencyKey]];
    return field.required ? [[`${place} ${field.name}`, example]] : [];
  });
  return {
    parameters: Object.fromEntries(shown),
    body: body === undefined ? '' : JSON.stringify(withoutClient(body.example), null, 2),
  };
}

/** Leaves out the client's credential, which has form fields of its own. */
function withoutClient(example: unknown): unknown {
  if (typeof example !== 'object' || example === null) return example;
  const { client_id: _, client_secret: __, ...rest } = example as Record<string, unknown>;
  return Array.isArray(example) ? example : rest;
}
