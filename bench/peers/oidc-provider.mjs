// oidc-provider as it ships, in memory, for client credentials alone: its access tokens are JWTs signed by ES256, as ours.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import Provider from 'oidc-provider';

const { PORT: port, CLIENTS: clients } = process.env;
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: randomUUID() };
const resource = 'https://api.example.com';

const provider = new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys: [jwk] },
  clients: JSON.parse(clients).map(({ client_id, client_secret }) => ({
    client_id,
    client_secret,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    token_endpoint_auth_method: 'client_secret_post',
    id_token_signed_response_alg: 'ES256',
  })),
  scopes: ['verify:manage'],
  ttl: { ClientCredentials: 3600 },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      getResourceServerInfo: () => ({
        scope: 'verify:manage',
        audience: resource,
        accessTokenTTL: 3600,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
});
provider.listen(Number(port), '127.0.0.1');
