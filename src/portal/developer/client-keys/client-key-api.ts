// Tests: test/contract/identity-client-keys.test.ts
import { type Static, Type } from 'typebox';
import type { Audit } from '../../../accounts/audit/audit.ts';
import { nullable, pageSchema, pathParameter, recordId } from '../../../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../../../http/route.ts';
import { timestampOrNull, toTimestamp } from '../../../platform/clock.ts';
import { type ClientKeyAlg, clientKeyAlgs, longestPublicKey } from '../../../registry/client-keys/public-key.ts';
import type { ClientKeyService } from '../../../registry/client-keys/service.ts';
import type { ClientKeyRow } from '../../../registry/client-keys/store.ts';
import { applicationParams, namePattern, suspendedAt } from '../application-api.ts';

const examplePem = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8xOUetsCa8EfOlDEBAfREhJqspDo
yEh6Szz2in47Tv5n52m9dLYyPCbqZkOB5nTSqtscpkQD/HpykCggvx09iQ==
-----END PUBLIC KEY-----
`;
const exampleThumbprint = 'pLUh4nTd2cOEwM4bWyA6vF4YQDnGqJtGf0kV1l1sX5A';

const algSchema = Type.Unsafe<ClientKeyAlg>({
  type: 'string',
  enum: [...clientKeyAlgs],
  expected: `one of ${clientKeyAlgs.join(', ')}`,
  description: 'The one algorithm that assertions of this key may have',
});

const clientKeySchema = Type.Object(
  {
    id: recordId('cky'),
    name: nullable(Type.String({ examples: ['Production server'] })),
    kid: Type.String({
      description: 'How an assertion may name the key: the `kid` of the JWK, else the thumbprint',
      examples: [exampleThumbprint],
    }),
    thumbprint: Type.String({ description: 'RFC 7638', examples: [exampleThumbprint] }),
    alg: algSchema,
    created_at: Type.String(),
    last_used_at: nullable(Type.String()),
    suspended_at: suspendedAt,
  },
  { title: 'ClientKey' },
);
export type ClientKeyRecord = Static<typeof clientKeySchema>;

const toAddSchema = Type.Object(
  {
    name: Type.Optional(
      nullable(
        Type.String({
          minLength: 1,
          maxLength: 64,
          pattern: namePattern,
          examples: ['Production server'],
          expected: 'a name (1–64 characters), or null',
        }),
      ),
    ),
    public_key: Type.String({
      maxLength: longestPublicKey,
      description: 'PEM, or a JWK as text: P-256, Ed25519, or RSA of 2048 to 4096 bits',
      expected: 'a public key in PEM, or a JWK as text',
      examples: [examplePem],
    }),
    alg: Type.Optional(
      Type.Unsafe<ClientKeyAlg>({ ...algSchema, description: 'For an RSA key `RS256` (the default) or `PS256`' }),
    ),
  },
  { title: 'ClientKeyToAdd', examples: [{ name: 'Production server', public_key: examplePem }] },
);

/** Public keys by which a client may sign in to the identity provider, instead of by a secret. */
export function createClientKeyRoutes(clientKeys: ClientKeyService, audit: Audit): Route[] {
  const shared = { auth: { kind: 'developer' }, tag: 'Developer portal: credentials' } as const;
  const base = '/portal/v1/applications/{id}/client-keys';
  const params = Type.Object({ ...applicationParams.properties, key_id: pathParameter });
  return [
    route({
      method: 'POST',
      path: base,
      ...shared,
      operationId: 'addClientKey',
      summary: 'Add a public key of the client, for private_key_jwt',
      params: applicationParams,
      body: toAddSchema,
      answers: { 201: { description: 'The key', schema: clientKeySchema } },
      refuses: {
        ALREADY_EXISTS: 'The client has this key, or another one with its `kid`',
        INCOMPATIBLE_STATE:
          'The application is registered for no API with tokens, or has the maximum number of public keys',
      },
      handler: async (call) => {
        const { id } = call.params;
        const { name = null, public_key: publicKey, alg } = call.body;
        const note = audit.note<ClientKeyRow>(call, (added) => ({
          act: 'client_key.added',
          id: added.id,
          details: { name, alg: added.alg, thumbprint: added.thumbprint, application_id: id },
        }));
        const added = await clientKeys.add(requireDeveloper(call).accountId, id, { name, publicKey, alg }, note);
        return { status: 201, body: toRecord(added) };
      },
    }),
    route({
      method: 'GET',
      path: base,
      ...shared,
      operationId: 'listClientKeys',
      summary: 'List the public keys of the client, newest first',
      params: applicationParams,
      answers: { 200: { description: 'The keys', schema: pageSchema(clientKeySchema) } },
      handler: async (call) => {
        const rows = await clientKeys.list(requireDeveloper(call).accountId, call.params.id);
        return { status: 200, body: { data: rows.map(toRecord), next_cursor: null } };
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{key_id}`,
      ...shared,
      operationId: 'deleteClientKey',
      summary: 'Delete a public key of the client; it stops working at once',
      description: 'Every token of the client stops working too: get a new one with another key or a secret.',
      params,
      answers: { 204: { description: 'Deleted' } },
      handler: async (call) => {
        const { id, key_id } = call.params;
        const note = audit.note(call, { act: 'client_key.deleted', id: key_id, details: { application_id: id } });
        await clientKeys.delete(requireDeveloper(call).accountId, id, key_id, note);
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      path: `${base}/{key_id}/enable`,
      ...shared,
      operationId: 'enableClientKey',
      summary: 'Enable a public key that is suspended since a backup was restored',
      params,
      answers: { 200: { description: 'The key; it works on every node', schema: clientKeySchema } },
      refuses: { INCOMPATIBLE_STATE: 'It is not suspended' },
      handler: async (call) => {
        const { id, key_id } = call.params;
        const note = audit.note(call, { act: 'client_key.enabled', id: key_id, details: { application_id: id } });
        const key = await clientKeys.enable(requireDeveloper(call).accountId, id, key_id, note);
        return { status: 200, body: toRecord(key) };
      },
    }),
  ];
}

function toRecord(key: ClientKeyRow): ClientKeyRecord {
  return {
    id: key.id,
    name: key.name,
    kid: key.kid,
    thumbprint: key.thumbprint,
    alg: key.alg,
    created_at: toTimestamp(key.createdAtMs),
    last_used_at: timestampOrNull(key.lastUsedAtMs),
    suspended_at: timestampOrNull(key.suspendedAtMs),
  };
}
