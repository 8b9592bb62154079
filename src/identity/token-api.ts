// Tests: test/contract/identity.test.ts, test/contract/identity-clients.test.ts
import { Type } from 'typebox';
import { oauthErrorSchema } from '../http/error-reply.ts';
import type { HelpLinks } from '../http/help-links.ts';
import { exampleId } from '../http/openapi/field-examples.ts';
import type { HeaderName } from '../http/openapi/header-table.ts';
import { type Call, type Reply, type Route, requireClient, route } from '../http/route.ts';
import { clientKeyAlgs } from '../registry/client-keys/public-key.ts';
import { assertionType, longestAssertion } from './client-assertion.ts';
import type { TokenRequest } from './client-authentication.ts';
import type { OAuthRefusal } from './oauth-error.ts';
import { apiScopes, longestScope } from './scopes.ts';
import { type SigningKeys, verifyingKey } from './signing-keys.ts';
import type { TokenService } from './token-service.ts';

const refusals = {
  400: {
    description: 'invalid_request, invalid_scope or unsupported_grant_type',
    schema: oauthErrorSchema,
    headers: ['Link'] as HeaderName[],
    example: { error: 'invalid_scope', error_description: 'Ask for openid and one scope of an API.' },
  },
  401: {
    description: 'invalid_client',
    schema: oauthErrorSchema,
    headers: ['WWW-Authenticate', 'Link'] as HeaderName[],
  },
};
const clientFields = {
  client_id: Type.Optional(Type.String({ maxLength: 128, description: 'Here or by HTTP Basic' })),
  client_secret: Type.Optional(
    Type.String({ maxLength: 256, description: 'Here or by HTTP Basic', examples: ['hgs_example'] }),
  ),
  client_assertion_type: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'With `client_assertion`, instead of a secret',
      examples: [assertionType],
    }),
  ),
  client_assertion: Type.Optional(
    Type.String({
      maxLength: longestAssertion,
      description:
        'A JWT that a private key of the client signed (RFC 7523): `iss` and `sub` are the client id, one `aud` is the issuer or the token endpoint, `exp` is at most 5 minutes ahead, and each `jti` counts once',
      examples: ['eyJhbGciOiJFUzI1NiJ9.e30.c2ln'],
    }),
  ),
};
const tokenRequest = Type.Object(
  {
    grant_type: Type.Literal('client_credentials'),
    scope: Type.String({ maxLength: longestScope, expected: 'openid and one of verify:manage or messaging:send' }),
    ...clientFields,
  },
  {
    title: 'TokenRequest',
    examples: [
      {
        grant_type: 'client_credentials',
        scope: 'openid verify:manage',
        client_id: exampleId('cli'),
        client_secret: 'hgs_example',
      },
    ],
  },
);
const tokenForm = Type.Object(
  {
    token: Type.String({ maxLength: 8192 }),
    token_type_hint: Type.Optional(Type.String({ maxLength: 64, examples: ['access_token'] })),
    ...clientFields,
  },
  { title: 'TokenForm' },
);
const tokenSchema = Type.Object(
  {
    access_token: Type.String({
      description: 'A JWT, to be sent as a bearer token',
      examples: ['eyJhbGciOiJFUzI1NiJ9.e30.c2ln'],
    }),
    token_type: Type.String({ examples: ['Bearer'] }),
    expires_in: Type.Integer({ description: 'Seconds', examples: [3600] }),
    scope: Type.String(),
  },
  { title: 'Token' },
);
const revokedSchema = Type.Object({}, { title: 'Revoked', description: 'It says nothing', examples: [{}] });
const introspectionSchema = Type.Object(
  {
    active: Type.Boolean(),
    scope: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    token_type: Type.Optional(Type.String()),
    exp: Type.Optional(Type.Integer()),
    iat: Type.Optional(Type.Integer()),
    sub: Type.Optional(Type.String()),
    aud: Type.Optional(Type.String()),
    iss: Type.Optional(Type.String()),
    jti: Type.Optional(Type.String()),
  },
  { title: 'Introspection', examples: [{ active: false }] },
);
const words = (example: string) => Type.Array(Type.String({ examples: [example] }));
const keySetSchema = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.String({ examples: ['EC'] }),
        kid: Type.String({ examples: ['2026-01-31-Zk3p'] }),
        alg: Type.Optional(Type.String({ examples: ['ES256'] })),
        use: Type.Optional(Type.String({ examples: ['sig'] })),
      }),
    ),
  },
  { title: 'KeySet' },
);
const url = (path: string) => Type.String({ examples: [`http://127.0.0.1:8080/realms/heliograph${path}`] });
const metadataSchema = Type.Object(
  {
    issuer: url(''),
    token_endpoint: url('/protocol/openid-connect/token'),
    revocation_endpoint: url('/protocol/openid-connect/revoke'),
    introspection_endpoint: url('/protocol/openid-connect/token/introspect'),
    jwks_uri: url('/protocol/openid-connect/certs'),
    grant_types_supported: words('client_credentials'),
    response_types_supported: Type.Array(Type.String(), { examples: [[]] }),
    scopes_supported: words('openid'),
    subject_types_supported: words('public'),
    id_token_signing_alg_values_supported: words('ES256'),
    token_endpoint_auth_methods_supported: words('client_secret_basic'),
    revocation_endpoint_auth_methods_supported: words('client_secret_basic'),
    introspection_endpoint_auth_methods_supported: words('client_secret_basic'),
    token_endpoint_auth_signing_alg_values_supported: words('ES256'),
    revocation_endpoint_auth_signing_alg_values_supported: words('ES256'),
    introspection_endpoint_auth_signing_alg_values_supported: words('ES256'),
    claims_supported: words('iss'),
  },
  { title: 'IdentityMetadata' },
);
const longest = Object.entries({ ...tokenForm.properties, ...tokenRequest.properties }).map(([name, schema]) => ({
  name,
  maxLength: 'maxLength' in schema ? Number(schema.maxLength) : 64,
}));

export function createIdentityRoutes(options: {
  tokens: TokenService;
  signingKeys: SigningKeys;
  realm: string;
  issuer: string;
  help: HelpLinks;
  nowMs: () => number;
}): Route[] {
  const { tokens, signingKeys, realm, issuer, help, nowMs } = options;
  const base = `/realms/${realm}/protocol/openid-connect`;
  const shared = { auth: { kind: 'client' }, tag: 'Identity', consumes: 'form', errors: 'oauth' } as const;
  const open = { auth: { kind: 'none' }, tag: 'Identity' } as const;

  return [
    route({
      method: 'POST',
      path: `${base}/token`,
      ...shared,
      operationId: 'getToken',
      summary: 'Get an access token',
      description: 'Send the client credentials in the form, by HTTP Basic or as an assertion, in one way only.',
      body: tokenRequest,
      answers: { 200: { description: 'The token', schema: tokenSchema }, ...refusals },
      handler: (call) => tokens.issueToken(requestOf(call)).then((outcome) => reply(call, outcome, help)),
    }),
    route({
      method: 'POST',
      path: `${base}/revoke`,
      ...shared,
      operationId: 'revokeToken',
      summary: 'Revoke an access token; every node refuses it once this is answered',
      body: tokenForm,
      answers: {
        200: { description: 'Revoked, or not a token of this service', schema: revokedSchema },
        ...refusals,
      },
      // RFC 7009 gives the body no meaning, but simple-oauth2 fails on an answer that is not JSON.
      handler: async (call) => reply(call, (await tokens.revoke(requestOf(call))) ?? {}, help),
    }),
    route({
      method: 'POST',
      path: `${base}/token/introspect`,
      ...shared,
      operationId: 'introspectToken',
      summary: 'Check whether an access token is active',
      body: tokenForm,
      answers: {
        200: {
          description: 'The claims of an active token, or only active: false',
          schema: introspectionSchema,
        },
        ...refusals,
      },
      handler: async (call) => reply(call, await tokens.introspect(requestOf(call)), help),
    }),
    route({
      method: 'GET',
      path: `${base}/certs`,
      ...open,
      operationId: 'getSigningKeys',
      summary: 'The public keys that sign tokens (JWKS)',
      answers: { 200: { description: 'The keys', type: 'application/json', schema: keySetSchema } },
      handler: async () => {
        const keys = signingKeys.loaded() ?? (await signingKeys.load());
        const live = keys.filter(({ kid }) => verifyingKey(keys, kid, nowMs()) !== undefined);
        return json({ keys: live.map(({ publicJwk }) => publicJwk) });
      },
    }),
    route({
      method: 'GET',
      path: `/realms/${realm}/.well-known/openid-configuration`,
      ...open,
      operationId: 'getOpenIdConfiguration',
      summary: 'Metadata of this identity provider',
      answers: {
        200: { description: 'OpenID Connect Discovery 1.0', type: 'application/json', schema: metadataSchema },
      },
      handler: () => json(discoveryOf(issuer)),
    }),
    route({
      method: 'GET',
      path: `/.well-known/oauth-authorization-server/realms/${realm}`,
      ...open,
      operationId: 'getAuthorizationServerMetadata',
      summary: 'The same metadata at the path of RFC 8414',
      answers: {
        200: {
          description: 'OAuth 2.0 Authorization Server Metadata',
          type: 'application/json',
          schema: metadataSchema,
        },
      },
      handler: () => json(discoveryOf(issuer)),
    }),
  ];
}

function requestOf(call: Call): TokenRequest {
  return { form: withinBounds(call.body as URLSearchParams), client: requireClient(call) };
}

/** Replaces a value that is too long by one character that no valid value contains, so that later steps stay cheap. */
function withinBounds(form: URLSearchParams): URLSearchParams {
  for (const { name, maxLength } of longest) {
    const value = form.get(name);
    if (value !== null && value.length > maxLength && form.getAll(name).length === 1) form.set(name, '\ufffd');
  }
  return form;
}

function reply(call: Call, outcome: object | OAuthRefusal, help: HelpLinks): Reply {
  const noStore = { Pragma: 'no-cache' };
  if (!('error' in outcome)) return { status: 200, body: outcome, headers: noStore };
  const { status, ...body } = outcome;
  // RFC 6749, section 5.2: send a challenge only if the client used Basic. With any challenge, openid-client shows its
  // user the challenge instead of `invalid_client`, so a form request gets none (RFC 9110 would require one).
  const usedHeader = status === 401 && requireClient(call).basic !== undefined;
  const headers = { ...noStore, ...help[outcome.error] };
  return {
    status,
    body,
    headers: usedHeader ? { ...headers, 'WWW-Authenticate': 'Basic realm="heliograph"' } : headers,
  };
}

/** Public, so pages of any origin may read it. It rarely changes: caches may keep it for five minutes. */
function json(document: object): Reply {
  const headers = { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' };
  return { status: 200, content: { type: 'application/json', data: JSON.stringify(document), headers } };
}

function discoveryOf(issuer: string): object {
  const base = `${issuer}/protocol/openid-connect`;
  const methods = ['client_secret_post', 'client_secret_basic', 'private_key_jwt'];
  // RFC 9864 writes Ed25519 for what RFC 8037 wrote EdDSA: clients may use either.
  const algs = [...clientKeyAlgs, 'Ed25519'];
  return {
    issuer,
    token_endpoint: `${base}/token`,
    revocation_endpoint: `${base}/revoke`,
    introspection_endpoint: `${base}/token/introspect`,
    jwks_uri: `${base}/certs`,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    scopes_supported: ['openid', ...apiScopes],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256', 'RS256'],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: algs,
    revocation_endpoint_auth_signing_alg_values_supported: algs,
    introspection_endpoint_auth_signing_alg_values_supported: algs,
    claims_supported: ['iss', 'sub', 'aud', 'client_id', 'azp', 'scope', 'iat', 'exp', 'jti'],
  };
}
