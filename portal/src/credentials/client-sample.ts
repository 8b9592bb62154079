import type { ApiName, Credential, Service } from '../api/types.ts';
import { codeFor, recipient } from './curl.ts';

/** A program with our client that makes the first call of an API, and for a verification the second. */
export function clientSample(credential: Credential, api: ApiName, service: Service): string {
  const options =
    credential.type === 'api_key'
      ? { apiKey: credential.api_key }
      : { clientId: credential.client_id, clientSecret: credential.client_secret };
  const lines = Object.entries({ baseUrl: service.base_url, ...options }).map(
    ([name, value]) => `  ${name}: '${value}',`,
  );
  return [
    "import { Heliograph } from '@heliograph/client';",
    ['const heliograph = new Heliograph({', ...lines, '});'].join('\n'),
    api === 'verify' ? verification(service) : text(api, service),
  ].join('\n\n');
}

function verification(service: Service): string {
  return [
    `const { id } = await heliograph.verify.start({ to: '${recipient(service)}' });`,
    `const { valid } = await heliograph.verify.check(id, '${codeFor(service)}');`,
    'console.log(valid);',
  ].join('\n');
}

function text(api: ApiName, service: Service): string {
  return [
    `const text = await heliograph.${api}.send({ to: '${recipient(service)}', from: 'ACME', message: 'Hello' });`,
    'console.log(text.id, text.status);',
  ].join('\n');
}
