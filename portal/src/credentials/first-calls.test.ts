import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Credential, Service } from '../api/types.ts';
import { clientSample } from './client-sample.ts';
import { curlSteps } from './curl.ts';

const service = { base_url: 'http://127.0.0.1:8080', environment: 'sandbox' } as Service;
const client = {
  type: 'client',
  client_id: 'cli_1',
  client_secret: 'hgs_1',
  token_url: 'http://127.0.0.1:8080/token',
  scope: 'openid verify:manage',
} as Credential;
const key = { type: 'api_key', id: 'key_1', api_key: 'hg_1' } as Credential;

test('a verification is started and checked, with our client and by curl', () => {
  const program = clientSample(client, 'verify', service);
  assert.match(program, /clientSecret: 'hgs_1'/);
  assert.match(program, /verify\.start\(\{ to: '\+15005550100' \}\)[\s\S]*verify\.check\(id, '123456'\)/);
  const steps = curlSteps(client, 'verify', service);
  assert.deepEqual(
    steps.map(({ title }) => title),
    ['Get a token', 'Start a verification', 'Check the code'],
  );
  assert.match(steps[2]?.line ?? '', /-d '\{"code":"123456"\}'/);
});

test('a text is sent with a key; production has no test number and no known code', () => {
  assert.match(clientSample(key, 'sms', service), /apiKey: 'hg_1'[\s\S]*heliograph\.sms\.send\(/);
  const production = { ...service, environment: 'production' } as Service;
  assert.match(clientSample(client, 'verify', production), /'\+YOUR_NUMBER'[\s\S]*'YOUR_CODE'/);
  assert.equal(curlSteps(key, 'sms', production).length, 1);
});
