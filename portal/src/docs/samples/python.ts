import { type ClientCall, clientCallOf, clientOptions } from './client-calls.ts';
import { pythonString, pythonValue } from './literals.ts';
import { headersOf, type SampleRequest, tokenForm, urlOf } from './request.ts';

/** Python: our client where it has the call, the standard library otherwise. */
export function pythonSample(request: SampleRequest): string {
  const call = clientCallOf(request);
  if (call === undefined) return urllibSample(request);
  const options = Object.entries(clientOptions(request)).map(
    ([name, value]) => `    ${name}=${pythonString(value)},\n`,
  );
  return ['from heliograph import Heliograph', `client = Heliograph(\n${options.join('')})`, statementOf(call)].join(
    '\n\n',
  );
}

function statementOf({ path, gives, name, args, options }: ClientCall): string {
  const named = Object.entries(options).map(([option, value]) => `${option}=${pythonValue(value)}`);
  const call = `client.${path}(${[...args.map((each) => pythonValue(each)), ...named].join(', ')})`;
  if (gives === 'nothing') return call;
  if (gives === 'one') return `${name} = ${call}\nprint(${name})`;
  const shown = gives === 'events' ? `${name}["type"], ${name}["data"], flush=True` : name;
  return `for ${name} in ${call}:\n    print(${shown})`;
}

function urllibSample(request: SampleRequest): string {
  const { credential, body } = request;
  const needsForm = credential.kind === 'token' || body?.kind === 'form';
  const modules = [
    ...(credential.kind === 'token' || body?.kind === 'json' ? ['json'] : []),
    'urllib.error',
    ...(needsForm ? ['urllib.parse'] : []),
    'urllib.request',
  ];
  const parts = [
    modules.map((name) => `import ${name}`).join('\n'),
    ...(credential.kind === 'token' ? [tokenPart(credential)] : []),
    requestPart(request),
    request.isStream ? streamPart : answerPart,
  ];
  return parts.join('\n\n');
}

function tokenPart(credential: SampleRequest['credential'] & { kind: 'token' }): string {
  const form = Object.fromEntries(tokenForm(credential));
  return [
    `form = urllib.parse.urlencode(${pythonValue(form)})`,
    `with urllib.request.urlopen(${pythonString(credential.tokenUrl)}, form.encode()) as response:`,
    '    token = json.load(response)["access_token"]',
  ].join('\n');
}

function requestPart(request: SampleRequest): string {
  const { credential, method, body } = request;
  const headers = headersOf(request).map(([name, value]) => `        ${pythonString(name)}: ${pythonString(value)},\n`);
  if (credential.kind === 'token') headers.unshift('        "Authorization": "Bearer " + token,\n');
  const lines = [`    ${pythonString(urlOf(request))},\n`, `    method=${pythonString(method)},\n`];
  if (headers.length > 0) lines.push(`    headers={\n${headers.join('')}    },\n`);
  if (body?.kind === 'json') lines.push(`    data=json.dumps(${pythonValue(body.value, '    ')}).encode(),\n`);
  if (body?.kind === 'form')
    lines.push(`    data=urllib.parse.urlencode(${pythonValue(body.value, '    ')}).encode(),\n`);
  return `request = urllib.request.Request(\n${lines.join('')})`;
}

const answerPart = [
  'try:',
  '    with urllib.request.urlopen(request) as response:',
  '        print(response.status, response.read().decode())',
  'except urllib.error.HTTPError as error:',
  '    print(error.code, error.read().decode())',
].join('\n');

const streamPart = [
  'try:',
  '    with urllib.request.urlopen(request) as response:',
  '        print(response.status, flush=True)',
  '        for line in response:',
  '            print(line.decode(), end="", flush=True)',
  'except urllib.error.HTTPError as error:',
  '    print(error.code, error.read().decode())',
].join('\n');
