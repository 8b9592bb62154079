import { goRawString, goString } from './literals.ts';
import { headersOf, type SampleRequest, tokenForm, urlOf } from './request.ts';

/** Go with only its standard library. */
export function goSample(request: SampleRequest): string {
  const { credential, body, method, isStream } = request;
  const byToken = credential.kind === 'token';
  const statements = [
    ...(byToken ? [tokenStatements(credential), ''] : []),
    ...bodyStatements(request),
    `request, err := http.NewRequest(${goString(method)}, ${goString(urlOf(request))}, ${body === undefined ? 'nil' : 'body'})`,
    check,
    ...(byToken ? ['request.Header.Set("Authorization", "Bearer "+token.AccessToken)'] : []),
    ...(body?.kind === 'form' ? ['request.Header.Set("Content-Type", "application/x-www-form-urlencoded")'] : []),
    ...headersOf(request).map(([name, value]) => `request.Header.Set(${goString(name)}, ${goString(value)})`),
    '',
    'response, err := http.DefaultClient.Do(request)',
    check,
    'defer response.Body.Close()',
    isStream ? 'fmt.Println(response.StatusCode)\nio.Copy(os.Stdout, response.Body)' : answer,
  ];
  const needsUrl = byToken || body?.kind === 'form';
  const packages = [
    ...(byToken ? ['encoding/json'] : []),
    'fmt',
    'io',
    'net/http',
    ...(needsUrl ? ['net/url'] : []),
    ...(isStream ? ['os'] : []),
    ...(body === undefined ? [] : ['strings']),
  ];
  const imports = packages.map((name) => `\t"${name}"\n`).join('');
  return `package main\n\nimport (\n${imports})\n\nfunc main() {\n${indented(statements.join('\n'))}\n}`;
}

const check = 'if err != nil {\n\tpanic(err)\n}';
const answer = `answer, err := io.ReadAll(response.Body)\n${check}\nfmt.Println(response.StatusCode, string(answer))`;

function tokenStatements(credential: SampleRequest['credential'] & { kind: 'token' }): string {
  return [
    `granted, err := http.PostForm(${goString(credential.tokenUrl)}, ${urlValues(tokenForm(credential))})`,
    check,
    'var token struct {\n\tAccessToken string `json:"access_token"`\n}',
    'if err := json.NewDecoder(granted.Body).Decode(&token); err != nil {\n\tpanic(err)\n}',
    'granted.Body.Close()',
  ].join('\n');
}

function bodyStatements({ body }: SampleRequest): string[] {
  if (body === undefined) return [];
  if (body.kind === 'form') return [`body := strings.NewReader(${urlValues(Object.entries(body.value))}.Encode())`];
  return [`body := strings.NewReader(${goRawString(JSON.stringify(body.value, null, 2))})`];
}

function urlValues(fields: [string, string][]): string {
  return `url.Values{\n${fields.map(([name, value]) => `\t${goString(name)}: {${goString(value)}},\n`).join('')}}`;
}

/** Lines within a raw string are indented too, which JSON allows. */
function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '\t');
}
