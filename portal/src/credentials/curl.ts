import type { ApiName, Credential, Service } from '../api/types.ts';
import { words as allWords } from '../words/credentials.tsx';

const words = allWords.curl;

const json = "-H 'Content-Type: application/json'";

/** Production has no test numbers: the developer fills in their own. */
export function recipient({ environment }: Service): string {
  return environment === 'sandbox' ? '+15005550100' : '+YOUR_NUMBER';
}

/** The code of the sandbox's test number. */
export function codeFor({ environment }: Service): string {
  return environment === 'sandbox' ? '123456' : 'YOUR_CODE';
}

const paths: Record<ApiName, string> = {
  sms: '/sms/v1/messages',
  verify: '/verify/v1/verifications',
  messaging: '/messaging/v1/messages',
};

function bodyFor(api: ApiName, service: Service): string {
  const to = recipient(service);
  const body = api === 'verify' ? { to, channel: 'sms' } : { to, from: 'ACME', message: words.message };
  return `-d '${JSON.stringify(body)}'`;
}

export interface CurlStep {
  title: string;
  line: string;
}

/** Shell commands in order; each needs what the one before has set. */
export function curlSteps(credential: Credential, api: ApiName, service: Service): CurlStep[] {
  const url = service.base_url + paths[api];
  if (credential.type === 'api_key') {
    const line = [`curl -i ${url}`, `-H 'apikey: ${credential.api_key}'`, json, bodyFor(api, service)];
    return [{ title: words.sendText, line: line.join(' \\\n  ') }];
  }
  const token = [
    `TOKEN=$(curl -s ${credential.token_url}`,
    '-d grant_type=client_credentials',
    `-d client_id=${credential.client_id}`,
    `-d client_secret=${credential.client_secret}`,
    `-d 'scope=${credential.scope}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
  ];
  const get = { title: words.getToken, line: token.join(' \\\n  ') };
  const work = ['-H "Authorization: Bearer $TOKEN"', json, bodyFor(api, service)].join(' \\\n  ');
  if (api !== 'verify') return [get, { title: words.sendText, line: `curl -i ${url} \\\n  ${work}` }];
  return [
    get,
    { title: words.startVerification, line: `STARTED=$(curl -s ${url} \\\n  ${work}); echo "$STARTED"` },
    { title: words.checkCode, line: checkLine(url, service) },
  ];
}

/** The id is in the answer of the start. */
function checkLine(url: string, service: Service): string {
  return [
    `ID=$(echo "$STARTED" | sed 's/.*"id":"\\(ver_[^"]*\\)".*/\\1/')`,
    ['curl -i', `${url}/$ID`, '-H "Authorization: Bearer $TOKEN"', json, `-d '{"code":"${codeFor(service)}"}'`].join(
      ' ',
    ),
  ].join('\n');
}
