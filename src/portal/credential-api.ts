import { type Static, Type } from 'typebox';
import { nullable, pageSchema, pathParameter, recordId } from '../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../http/route.ts';
import { timestampOrNull, toTimestamp } from '../platform/clock.ts';
import type { ApiKeyRow } from '../registry/credential-store.ts';
import type { RegistryService } from '../registry/registry-service.ts';
import { applicationParams } from './application-api.ts';
import { clientCredentialSchema, toCredential } from './registration-api.ts';

const overlap = Type.Object(
  {
    overlap_seconds: Type.Integer({
      minimum: 0,
      maximum: 2_592_000,
      default: 0,
      expected: 'the seconds until the older ones expire: 0 to 2592000 (30 days)',
    }),
  },
  { title: 'Rotation' },
);

const keySchema = Type.Object(
  {
    id: recordId('key'),
    prefix: Type.String({ examples: ['hg_sandbox_'] }),
    last_four: Type.String(),
    created_at: Type.String(),
    last_used_at: nullable(Type.String()),
    expires_at: nullable(Type.String()),
  },
  { title: 'ApiKey' },
);
export type ApiKeyRecord = Static<typeof keySchema>;

const newKeySchema = Type.Object(
  {
    ...keySchema.properties,
    api_key: Type.String({ description: 'Shown only once', examples: ['hg_sandbox_example_example'] }),
  },
  { title: 'NewApiKey' },
);
export type NewApiKeyRecord = Static<typeof newKeySchema>;

export function createCredentialRoutes(registry: RegistryService, tokenUrl: string): Route[] {
  const tag = 'Developer portal: credentials';
  const auth = { kind: 'developer' } as const;
  return [
    route({
      method: 'POST',
      path: '/portal/v1/applications/{id}/keys',
      auth,
      tag,
      operationId: 'createKey',
      summary: 'Create an API key; the older ones expire after the overlap',
      params: applicationParams,
      body: overlap,
      answers: { 201: { description: 'The key, shown only once', schema: newKeySchema } },
      refuses: {
        INCOMPATIBLE_STATE: 'The application is not registered for SMS, or has as many live keys as it may have',
      },
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const key = await registry.rotateKey(accountId, call.params.id, call.body.overlap_seconds);
        const row = { ...key, lastUsedAtMs: null, expiresAtMs: null };
        return { status: 201, body: { ...toKey(row), api_key: key.apiKey } };
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/applications/{id}/keys',
      auth,
      tag,
      operationId: 'listKeys',
      summary: 'List the live API keys of an application, newest first',
      params: applicationParams,
      answers: {
        200: {
          description: 'The keys without their secret part',
          schema: pageSchema(keySchema),
        },
      },
      handler: async (call) => {
        const rows = await registry.listKeys(requireDeveloper(call).accountId, call.params.id);
        return { status: 200, body: { data: rows.map(toKey), next_cursor: null } };
      },
    }),
    route({
      method: 'DELETE',
      path: '/portal/v1/applications/{id}/keys/{key_id}',
      auth,
      tag,
      operationId: 'deleteKey',
      summary: 'Delete an API key; it stops working at once',
      params: Type.Object({ ...applicationParams.properties, key_id: pathParameter }),
      answers: { 204: { description: 'Deleted' } },
      handler: async (call) => {
        await registry.deleteKey(requireDeveloper(call).accountId, call.params.id, call.params.key_id);
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      path: '/portal/v1/applications/{id}/client-secrets',
      auth,
      tag,
      operationId: 'createClientSecret',
      summary: 'Create a client secret; the older ones expire after the overlap',
      description: 'Without overlap, the old secret and every token of the client stop working at once.',
      params: applicationParams,
      body: overlap,
      answers: { 201: { description: 'The secret, shown only once', schema: clientCredentialSchema } },
      refuses: {
        INCOMPATIBLE_STATE:
          'The application is registered for no API with tokens, or has as many live secrets as it may have',
      },
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const credential = await registry.rotateSecret(accountId, call.params.id, call.body.overlap_seconds);
        return { status: 201, body: toCredential(credential, tokenUrl) };
      },
    }),
  ];
}

function toKey(key: ApiKeyRow) {
  return {
    id: key.id,
    prefix: key.prefix,
    last_four: key.lastFour,
    created_at: toTimestamp(key.createdAtMs),
    last_used_at: timestampOrNull(key.lastUsedAtMs),
    expires_at: timestampOrNull(key.expiresAtMs),
  };
}
