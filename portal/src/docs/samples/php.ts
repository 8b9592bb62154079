import { phpString, phpValue } from './literals.ts';
import { headersOf, type SampleRequest, tokenForm, urlOf } from './request.ts';

/** PHP with its curl extension. */
export function phpSample(request: SampleRequest): string {
  const { credential, isStream } = request;
  const parts = [
    '<?php',
    ...(credential.kind === 'token' ? [tokenPart(credential)] : []),
    requestPart(request),
    isStream ? 'curl_exec($curl);' : answerPart,
  ];
  return parts.join('\n\n');
}

const answerPart = [
  '$answer = curl_exec($curl);',
  "echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE), ' ', $answer, PHP_EOL;",
].join('\n');

function tokenPart(credential: SampleRequest['credential'] & { kind: 'token' }): string {
  const form = Object.fromEntries(tokenForm(credential));
  return [
    `$curl = curl_init(${phpString(credential.tokenUrl)});`,
    'curl_setopt_array($curl, [',
    `    CURLOPT_POSTFIELDS => http_build_query(${phpValue(form, '    ')}),`,
    '    CURLOPT_RETURNTRANSFER => true,',
    ']);',
    "$token = json_decode(curl_exec($curl), true)['access_token'];",
  ].join('\n');
}

function requestPart(request: SampleRequest): string {
  const { credential, method, body, isStream } = request;
  const headers = headersOf(request).map(([name, value]) => phpString(`${name}: ${value}`));
  if (credential.kind === 'token') headers.unshift("'Authorization: Bearer ' . $token");
  const options = [`CURLOPT_CUSTOMREQUEST => ${phpString(method)}`];
  if (headers.length > 0)
    options.push(`CURLOPT_HTTPHEADER => [\n${headers.map((each) => `        ${each},\n`).join('')}    ]`);
  if (body?.kind === 'json') options.push(`CURLOPT_POSTFIELDS => json_encode(${phpValue(body.value, '    ')})`);
  if (body?.kind === 'form') options.push(`CURLOPT_POSTFIELDS => http_build_query(${phpValue(body.value, '    ')})`);
  // Without this option curl prints data as it arrives.
  options.push(isStream ? 'CURLOPT_HEADER => true' : 'CURLOPT_RETURNTRANSFER => true');
  const set = options.map((option) => `    ${option},\n`).join('');
  return `$curl = curl_init(${phpString(urlOf(request))});\ncurl_setopt_array($curl, [\n${set}]);`;
}
