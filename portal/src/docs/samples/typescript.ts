import { type ClientCall, clientCallOf, clientOptions } from './client-calls.ts';
import { javascriptString, javascriptValue } from './literals.ts';
import { headersOf, type SampleRequest, tokenForm, urlOf } from './request.ts';

/** TypeScript: our client where it has the call, `fetch` otherwise. */
export function typescriptSample(request: SampleRequest): string {
  const call = clientCallOf(request);
  if (call === undefined) return fetchSample(request);
  return [
    "import { Heliograph } from '@heliograph/client';",
    `const heliograph = new Heliograph(${javascriptValue(inCamelCase(clientOptions(request)))});`,
    statementOf(call),
  ].join('\n\n');
}

function statementOf({ path, gives, name: given, args, options }: ClientCall): string {
  const all = Object.keys(options).length === 0 ? args : [...args, inCamelCase(options)];
  const texts = all.map((each, place) =>
    place > 0 && place === args.length ? inOneLine(each) : javascriptValue(each),
  );
  const call = `heliograph.${camelCase(path)}(${texts.join(', ')})`;
  const name = camelCase(given);
  if (gives === 'nothing') return `await ${call};`;
  if (gives === 'one') return `const ${name} = await ${call};\nconsole.log(${name});`;
  const shown = gives === 'events' ? `${name}.type, ${name}.data` : name;
  return `for await (const ${name} of ${call}) {\n  console.log(${shown});\n}`;
}

/** Options on the same line as the arguments before them. */
function inOneLine(options: unknown): string {
  const entries = Object.entries(options as Record<string, unknown>);
  return `{ ${entries.map(([name, value]) => `${name}: ${javascriptValue(value)}`).join(', ')} }`;
}

function inCamelCase(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [camelCase(name), value]));
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
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
