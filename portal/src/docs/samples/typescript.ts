import { clientCalls } from './client-calls.ts';
import { javascriptString, javascriptValue } from './literals.ts';
import { headersOf, type SampleRequest, tokenForm, urlOf } from './request.ts';

/** TypeScript: our client where it has the call, `fetch` otherwise. */
export function typescriptSample(request: SampleRequest): string {
  const call = clientCalls.get(request.operationId);
  if (call === undefined || request.credential.kind === 'cookie') return fetchSample(request);
  return [
    "import { Heliograph } from '@heliograph/client';",
    `const heliograph = new Heliograph(${javascriptValue(clientOptions(request))});`,
    call(request),
  ].join('\n\n');
}

function clientOptions({ baseUrl, credential }: SampleRequest): Record<string, string> {
  if (credential.kind === 'apikey') return { baseUrl, apiKey: credential.apiKey };
  if (credential.kind !== 'token') return { baseUrl };
  return { baseUrl, clientId: credential.clientId, clientSecret: credential.clientSecret };
}

function fetchSample(request: SampleRequest): string {
  const { credential } = request;
  return [
    ...(credential.kind === 'token' ? [tokenPart(credential)] : []),
    requestPart(request),
    request.isStream ? streamPart : 'console.log(response.status, await response.text());',
  ].join('\n\n');
}

function tokenPart(credential: SampleRequest['credential'] & { kind: 'token' }): string {
  const form = Object.fromEntries(tokenForm(credential));
  return [
    `const granted = await fetch(${javascriptString(credential.tokenUrl)}, {`,
    "  method: 'POST',",
    `  body: new URLSearchParams(${javascriptValue(form, '  ')}),`,
    '});',
    'const { access_token: token } = await granted.json();',
  ].join('\n');
}

function requestPart(request: SampleRequest): string {
  const { method, body, credential } = request;
  const headers = headersOf(request).map(([name, value]) => `    ${property(name)}: ${javascriptString(value)},\n`);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the sample has a template.
  if (credential.kind === 'token') headers.unshift('    Authorization: `Bearer ${token}`,\n');
  const options = [
    ...(method === 'GET' ? [] : [`  method: ${javascriptString(method)},\n`]),
    ...(headers.length === 0 ? [] : [`  headers: {\n${headers.join('')}  },\n`]),
    ...(body?.kind === 'json' ? [`  body: JSON.stringify(${javascriptValue(body.value, '  ')}),\n`] : []),
    ...(body?.kind === 'form' ? [`  body: new URLSearchParams(${javascriptValue(body.value, '  ')}),\n`] : []),
  ];
  const url = javascriptString(urlOf(request));
  return options.length === 0
    ? `const response = await fetch(${url});`
    : `const response = await fetch(${url}, {\n${options.join('')}});`;
}

function property(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : javascriptString(name);
}

const streamPart = [
  'console.log(response.status);',
  'for await (const text of response.body.pipeThrough(new TextDecoderStream())) {',
  '  console.log(text);',
  '}',
].join('\n');
