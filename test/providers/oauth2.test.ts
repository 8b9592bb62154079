// A described provider that wants a token first (client credentials).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createHttpCarrierWorld, type HttpCarrierWorld } from '../support/http-carrier-world.ts';
import { type Double, startDouble } from './provider.ts';

let world: HttpCarrierWorld;
let double: Double;
let tokens = 0;
before(async () => {
  world = await createHttpCarrierWorld();
  double = await startDouble(({ path, headers, body }) => {
    if (path === '/token') {
      const right = `Basic ${Buffer.from('client:s%2Fecret').toString('base64')}`;
      if (headers.authorization !== right || body !== 'grant_type=client_credentials&scope=sms') return { status: 401 };
      return { status: 200, body: { access_token: `token-${++tokens}`, expires_in: 3600, token_type: 'Bearer' } };
    }
    return headers.authorization === `Bearer token-${tokens}`
      ? { status: 200, body: { id: `id-${path}` } }
      : { status: 401 };
  });
});
after(async () => {
  await world.close();
  await double.close();
});

test('one token serves many texts', async () => {
  const auth = {
    kind: 'oauth2',
    token_url: '{{base}}/token',
    user: 'client',
    password: '{{secret:key}}',
    scope: 'sms',
  };
  const describe = {
    url: '{{base}}/send/{{id}}',
    auth,
    json: { text: '{{text}}' },
    accepted: [{ status: [200] }],
    id: 'id',
  };
  await world.connect({ base: double.url, describe, secrets: { key: 's/ecret' } });
  const texts = await Promise.all(Array.from({ length: 5 }, () => world.send()));
  for (const { id } of texts) await world.untilStatus(id, 'sent');
  assert.equal(tokens, 1);
  assert.equal(double.requests.filter(({ path }) => path.startsWith('/send/')).length, 5);
});
