// Tests: test/contract/portal-applications.test.ts
import { type Static, Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { nullable, pageSchema, pathParameter, recordId } from '../../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { CredentialService } from '../../registry/credential-service.ts';
import type { ApiKeyRow } from '../../registry/credential-store.ts';
import { applicationParams, namePattern, suspendedAt } from './application-api.ts';
import { clientCredentialSchema, toCredential } from './registration-api.ts';

const overlap = {
  overlap_seconds: nullable(
    Type.Integer({
      minimum: 0,
      maximum: 2_592_000,
      default: 0,
      examples: [86_400],
      expected: 'the seconds until the older ones expire: 0 to 2592000 (30 days), or null to keep them',
      description: 'The seconds until the older ones expire; null keeps them',
    }),
  ),
};

const keyName = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: namePattern,
  examples: ['Production server'],
  expected: 'a name (1–64 characters), or null',
  description: 'A name for the key, shown in lists',
});

export const keySchema = Type.Object(
  {
    id: recordId('key'),
    name: nullable(Type.String({ examples: ['Production server'] })),
    prefix: Type.String({ examples: ['hg_sandbox_'] }),
    last_four: Type.String(),
    created_at: Type.String(),
    last_used_at: nullable(Type.String()),
    expires_at: nullable(Type.String()),
    suspended_at: suspendedAt,
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

export function createCredentialRoutes(credentials: CredentialService, tokenUrl: string, audit: Audit): Route[] {
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
      body: Type.Object({ name: Type.Optional(nullable(keyName)), ...overlap }, { title: 'ApiKeyToCreate' }),
      answers: { 201: { description: 'The key, shown only once', schema: newKeySchema } },
      refuses: {
        INCOMPATIBLE_STATE: 'The application is not registered for SMS, or has the maximum number of live keys',
      },
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const { name = null, overlap_seconds } = call.body;
        const note = audit.note<{ id: string; lastFour: string }>(call, (made) => ({
          act: 'key.created',
          id: made.id,
          details: { name, last_four: made.lastFour, overlap_seconds, application_id: call.params.id },
        }));
        const asked = { name, overlapSeconds: overlap_seconds };
        const key = await credentials.createKey(accountId, call.params.id, asked, note);
        const row = { ...key, lastUsedAtMs: null, expiresAtMs: null, suspendedAtMs: null };
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
        const rows = await credentials.listKeys(requireDeveloper(call).accountId, call.params.id);
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
        const { id, key_id } = call.params;
        const note = audit.note(call, { act: 'key.deleted', id: key_id, details: { application_id: id } });
        await credentials.deleteKey(requireDeveloper(call).accountId, id, key_id, note);
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
      description: 'With an overlap of 0, the old secret and every token of the client stop working at once.',
      params: applicationParams,
      body: Type.Object(overlap, { title: 'Rotation' }),
      answers: { 201: { description: 'The secret, shown only once', schema: clientCredentialSchema } },
      refuses: {
        INCOMPATIBLE_STATE:
          'The application is registered for no API with tokens, or has the maximum number of live secrets',
      },
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const { id } = call.params;
        const { overlap_seconds } = call.body;
        const details = { overlap_seconds };
        const note = audit.note(call, { act: 'client_secret.created', id, details });
        const credential = await credentials.createSecret(accountId, id, overlap_seconds, note);
        return { status: 201, body: toCredential(credential, tokenUrl) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/portal/v1/applications/{id}/client-secrets/{secret_id}',
      auth,
      tag,
      operationId: 'deleteClientSecret',
      summary: 'Delete a client secret; it stops working at once',
      description: 'Every token of the client stops working too: get a new one with another secret.',
      params: Type.Object({ ...applicationParams.properties, secret_id: pathParameter }),
      answers: { 204: { description: 'Deleted' } },
      handler: async (call) => {
        const { id, secret_id } = call.params;
        const note = audit.note(call, { act: 'client_secret.deleted', id: secret_id, details: { application_id: id } });
        await credentials.deleteSecret(requireDeveloper(call).accountId, id, secret_id, note);
        return { status: 204 };
      },
    }),
  ];
}

export function toKey(key: ApiKeyRow) {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    last_four: key.lastFour,
    created_at: toTimestamp(key.createdAtMs),
    last_used_at: timestampOrNull(key.lastUsedAtMs),
    expires_at: timestampOrNull(key.expiresAtMs),
    suspended_at: timestampOrNull(key.suspendedAtMs),
  };
}
