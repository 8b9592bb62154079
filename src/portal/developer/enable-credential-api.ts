// Tests: test/contract/backup.test.ts
import { Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { pathParameter } from '../../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import type { CredentialService } from '../../registry/credential-service.ts';
import { applicationParams, secretSchema, toSecret } from './application-api.ts';
import { keySchema, toKey } from './credential-api.ts';

/** Credentials that a restored backup suspended, until their owner or an operator enables them. */
export function createEnableCredentialRoutes(credentials: CredentialService, audit: Audit): Route[] {
  const owners = { auth: { kind: 'developer' }, tag: 'Developer portal: credentials' } as const;
  const refuses = { INCOMPATIBLE_STATE: 'It is not suspended' };
  return [
    route({
      method: 'POST',
      path: '/portal/v1/applications/{id}/keys/{key_id}/enable',
      ...owners,
      operationId: 'enableKey',
      summary: 'Enable an API key that is suspended since a backup was restored',
      params: Type.Object({ ...applicationParams.properties, key_id: pathParameter }),
      answers: { 200: { description: 'The key; it works on every node', schema: keySchema } },
      refuses,
      handler: async (call) => {
        const { id, key_id } = call.params;
        const note = audit.note(call, { act: 'key.enabled', id: key_id, details: { application_id: id } });
        const key = await credentials.enableKey(requireDeveloper(call).accountId, id, key_id, note);
        return { status: 200, body: toKey(key) };
      },
    }),
    route({
      method: 'POST',
      path: '/portal/v1/applications/{id}/client-secrets/{secret_id}/enable',
      ...owners,
      operationId: 'enableClientSecret',
      summary: 'Enable a client secret that is suspended since a backup was restored',
      params: Type.Object({ ...applicationParams.properties, secret_id: pathParameter }),
      answers: { 200: { description: 'The secret; it works on every node', schema: secretSchema } },
      refuses,
      handler: async (call) => {
        const { id, secret_id } = call.params;
        const note = audit.note(call, { act: 'client_secret.enabled', id: secret_id, details: { application_id: id } });
        const secret = await credentials.enableSecret(requireDeveloper(call).accountId, id, secret_id, note);
        return { status: 200, body: toSecret(secret) };
      },
    }),
  ];
}
