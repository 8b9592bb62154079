import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api, Operation } from '../model/operations.ts';
import { findCall, valuesOf } from './find-call.ts';
import { readCall } from './guide-calls.ts';

const parameter = { place: 'path', field: { name: 'id' }, example: 'ver_01' };
const operation = (id: string, method: string, path: string) =>
  ({ id, method, path, parameters: path.includes('{id}') ? [parameter] : [] }) as unknown as Operation;
const apis = [
  {
    operations: [
      operation('start', 'POST', '/verify/v1/verifications'),
      operation('check', 'POST', '/verify/v1/verifications/{id}'),
      operation('revoke', 'POST', '/realms/acme/protocol/openid-connect/revoke'),
    ],
  },
] as Api[];

function read(shell: string) {
  const call = readCall(shell) ?? assert.fail(shell);
  const found = findCall(apis, call);
  return { id: found?.id, values: found && valuesOf(found, call) };
}

test('a call of a guide is found by its method and path, and a variable becomes what the reader fills in', () => {
  assert.equal(read('curl "$HELIOGRAPH_URL/verify/v1/verifications" -d \'{"to": "+1500"}\'').id, 'start');
  const { id, values } = read('curl "$HELIOGRAPH_URL/verify/v1/verifications/$ID" -d \'{"code": "123456"}\'');
  assert.deepEqual(
    [id, values?.parameters, JSON.parse(values?.body ?? '')],
    ['check', { 'path id': 'ver_01' }, { code: '123456' }],
  );
  assert.equal(read('curl "$HELIOGRAPH_URL/verify/v1/verifications"').id, undefined, 'another method');
});

test('guides write the default realm, and a service may have another', () => {
  const { id, values } = read(
    'curl "$HELIOGRAPH_URL/realms/heliograph/protocol/openid-connect/revoke" -d "token=$TOKEN"',
  );
  assert.deepEqual([id, JSON.parse(values?.body ?? '')], ['revoke', { token: 'YOUR_TOKEN' }]);
});
