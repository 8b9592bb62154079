// run: on web processes
// Independent clients, given only the issuer and their credentials, get a token by discovery and use it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { ClientCredentials } from 'simple-oauth2';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createEchoRoutes, createRegistered, type TestApplication, verifyScope } from '../support/applications.ts';
import { freePort } from '../support/process.ts';

const { routes } = createEchoRoutes();

let app: TestApp;
let acme: TestApplication;
let issuer: URL;
let resource: URL;
before(async () => {
  const port = await freePort();
  app = await createTestApp({ extraRoutes: routes, env: { PORT: String(port) } });
  acme = await createRegistered(app, ['verify']);
  issuer = new URL(`http://127.0.0.1:${port}/realms/heliograph`);
  resource = new URL('/verify/v1/echo', app.url);
});
after(() => app.close());

for (const [name, method] of [
  ['client_secret_post', openid.ClientSecretPost],
  ['client_secret_basic', openid.ClientSecretBasic],
] as const) {
  test(`openid-client by ${name}: discovery, token, use, introspection, revocation`, async () => {
    const { client_id, client_secret } = acme.client;
    const config = await openid.discovery(issuer, client_id, undefined, method(client_secret), {
      execute: [openid.allowInsecureRequests],
    });
    assert.equal(config.serverMetadata().issuer, issuer.href);
    const { access_token, token_type, expiresIn } = await readToken(config);
    assert.equal(token_type, 'bearer');
    assert.ok(Math.abs(expiresIn - 3600) < 5);
    const use = () => openid.fetchProtectedResource(config, access_token, resource, 'GET');
    assert.equal((await use()).status, 200);
    assert.equal((await openid.tokenIntrospection(config, access_token)).active, true);
    await openid.tokenRevocation(config, access_token);
    assert.equal((await openid.tokenIntrospection(config, access_token)).active, false);
    await assert.rejects(use(), openid.WWWAuthenticateChallengeError);
  });
}

async function readToken(config: openid.Configuration) {
  const tokens = await openid.clientCredentialsGrant(config, { scope: verifyScope });
  return { ...tokens, expiresIn: tokens.expiresIn() ?? 0 };
}

test('openid-client shows invalid_client to a client that used the form, and the challenge to one that used Basic', async () => {
  const refusalOf = async (method: openid.ClientAuth): Promise<unknown> => {
    const config = await openid.discovery(issuer, acme.client.client_id, undefined, method, {
      execute: [openid.allowInsecureRequests],
    });
    return openid.clientCredentialsGrant(config, { scope: verifyScope }).catch((error: unknown) => error);
  };
  const byForm = await refusalOf(openid.ClientSecretPost('wrong'));
  assert.ok(byForm instanceof openid.ResponseBodyError);
  assert.deepEqual([byForm.status, byForm.error], [401, 'invalid_client']);
  assert.ok((await refusalOf(openid.ClientSecretBasic('wrong'))) instanceof openid.WWWAuthenticateChallengeError);
});

test('oauth4webapi shows invalid_client to a client that used the form', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const client = { client_id: acme.client.client_id };
  const wrong = oauth.ClientSecretPost('wrong');
  const answer = await oauth.clientCredentialsGrantRequest(server, client, wrong, { scope: verifyScope }, insecure);
  await assert.rejects(oauth.processClientCredentialsResponse(server, client, answer), { error: 'invalid_client' });
});

test('discovery by RFC 8414: openid-client and oauth4webapi find the same metadata', async () => {
  const execute = [openid.allowInsecureRequests];
  const { client_id, client_secret } = acme.client;
  const secret = openid.ClientSecretPost(client_secret);
  const found = await openid.discovery(issuer, client_id, undefined, secret, { algorithm: 'oauth2', execute });
  assert.equal(found.serverMetadata().issuer, issuer.href);
  assert.equal((await readToken(found)).token_type, 'bearer');
  const options = { algorithm: 'oauth2', [oauth.allowInsecureRequests]: true } as const;
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
  assert.equal(server.token_endpoint, found.serverMetadata().token_endpoint);
});

test('oauth4webapi: discovery, token, use, and the token checked by RFC 9068 against the published keys', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const client = { client_id: acme.client.client_id };
  const secret = oauth.ClientSecretPost(acme.client.client_secret);
  const answer = await oauth.clientCredentialsGrantRequest(server, client, secret, { scope: verifyScope }, insecure);
  const { access_token } = await oauth.processClientCredentialsResponse(server, client, answer);
  const used = await oauth.protectedResourceRequest(access_token, 'GET', resource, undefined, undefined, insecure);
  assert.equal(used.status, 200);

  const request = new Request(resource, { headers: { Authorization: `Bearer ${access_token}` } });
  const claims = await oauth.validateJwtAccessToken(server, request, 'urn:heliograph:verify', insecure);
  assert.equal(claims.client_id, acme.client.client_id);
  assert.equal(claims.scope, verifyScope);

  await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, secret, access_token, insecure));
  await assert.rejects(oauth.protectedResourceRequest(access_token, 'GET', resource, undefined, undefined, insecure));
});

/** It refuses every answer that is not JSON, that of a revocation too. */
for (const authorizationMethod of ['body', 'header'] as const) {
  test(`simple-oauth2 with its credentials in the ${authorizationMethod}: token, use, revocation`, async () => {
    const { client_id, client_secret } = acme.client;
    const path = '/realms/heliograph/protocol/openid-connect';
    const client = new ClientCredentials({
      client: { id: client_id, secret: client_secret },
      auth: { tokenHost: app.url, tokenPath: `${path}/token`, revokePath: `${path}/revoke` },
      options: { authorizationMethod },
    });
    const token = await client.getToken({ scope: verifyScope });
    const headers = { Authorization: `Bearer ${String(token.token.access_token)}` };
    const use = async () => (await fetch(resource, { headers })).status;
    assert.equal(await use(), 200);
    await token.revoke('access_token');
    assert.equal(await use(), 401);
    await token.revoke('access_token');
  });
}
