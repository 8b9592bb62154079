/** The request of a sample: an operation with the reader's values and credentials. */
export interface SampleRequest {
  operationId: string;
  method: string;
  baseUrl: string;
  /** Like `/sms/v1/messages/{id}`. */
  template: string;
  pathValues: Record<string, string>;
  query: [name: string, value: string][];
  headers: [name: string, value: string][];
  body: SampleBody | undefined;
  credential: SampleCredential;
  /** The response is a stream that ends when the caller disconnects. */
  isStream: boolean;
}

export type SampleBody = { kind: 'json'; value: unknown } | { kind: 'form'; value: Record<string, string> };

export type SampleCredential =
  | { kind: 'none' }
  | { kind: 'apikey'; apiKey: string }
  | { kind: 'token'; clientId: string; clientSecret: string; scope: string; tokenUrl: string }
  | { kind: 'basic'; user: string; password: string }
  | { kind: 'cookie'; value: string };

/** The address with every value encoded. */
export function urlOf({ baseUrl, template, pathValues, query }: SampleRequest): string {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(pathValues[name] ?? ''));
  const search = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  return `${baseUrl}${path}${search === '' ? '' : `?${search}`}`;
}

/** All headers except for the token's, because the sample has to get a token first. */
export function headersOf({ credential, headers, body }: SampleRequest): [string, string][] {
  return [
    ...(credential.kind === 'apikey' ? [['apikey', credential.apiKey] as [string, string]] : []),
    ...(credential.kind === 'basic'
      ? [['Authorization', `Basic ${btoa(`${credential.user}:${credential.password}`)}`] as [string, string]]
      : []),
    ...(credential.kind === 'cookie' ? [['Cookie', credential.value] as [string, string]] : []),
    ...(body?.kind === 'json' ? [['Content-Type', 'application/json'] as [string, string]] : []),
    ...headers,
  ];
}

export function tokenForm({ clientId, clientSecret, scope }: SampleCredential & { kind: 'token' }): [string, string][] {
  return [
    ['grant_type', 'client_credentials'],
    ['client_id', clientId],
    ['client_secret', clientSecret],
    ['scope', scope],
  ];
}
