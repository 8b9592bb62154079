import { shellString } from './literals.ts';
import { headersOf, type SampleRequest, tokenForm, urlOf } from './request.ts';

/** curl in a POSIX shell. */
export function curlSample(request: SampleRequest): string {
  const { credential, method, body, isStream } = request;
  const lines = [
    `curl ${isStream ? '-iN' : '-i'} ${methodOption(method, body !== undefined)}${shellString(urlOf(request))}`,
    ...(credential.kind === 'token' ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...headersOf(request).map(([name, value]) => `-H ${shellString(`${name}: ${value}`)}`),
  ];
  if (body?.kind === 'json') lines.push(`-d ${quoted(indented(body.value))}`);
  if (body?.kind === 'form') lines.push(...formOptions(Object.entries(body.value)));
  return [...(credential.kind === 'token' ? [tokenLine(credential)] : []), joined(lines)].join('\n\n');
}

/** curl sends a POST if the command has data. */
function methodOption(method: string, hasBody: boolean): string {
  return method === (hasBody ? 'POST' : 'GET') ? '' : `-X ${method} `;
}

function tokenLine(credential: SampleRequest['credential'] & { kind: 'token' }): string {
  const lines = [`curl -s ${shellString(credential.tokenUrl)}`, ...formOptions(tokenForm(credential))];
  return `TOKEN=$(${joined(lines)} |\n  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;
}

function formOptions(fields: [string, string][]): string[] {
  return fields.map(([name, value]) => `--data-urlencode ${shellString(`${name}=${value}`)}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JSON strings contain no line breaks, so this only adds space between values. */
function indented(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
}

function joined(lines: string[]): string {
  return lines.join(' \\\n  ');
}
