import type { ApiName, Credential, Service } from '../api/types.ts';
import { words as allWords } from '../words/credentials.tsx';

const words = allWords.curl;

const json = "-H 'Content-Type: application/json'";

/** Production has no test numbers: the developer fills in their own. */
function recipient({ environment }: Service): string {
  return environment === 'sandbox' ? '+15005550100' : '+YOUR_NUMBER';
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

/** Shell commands in order; the first sets $TOKEN for the second. */
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
  const work = [`curl -i ${url}`, '-H "Authorization: Bearer $TOKEN"', json, bodyFor(api, service)];
  return [
    { title: words.getToken, line: token.join(' \\\n  ') },
    { title: api === 'verify' ? words.startVerification : words.sendText, line: work.join(' \\\n  ') },
  ];
}
