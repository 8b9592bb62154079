// Tests: test/contract/portal-applications.test.ts, test/contract/portal-operators.test.ts
import { type Static, Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { nullable, pageSchema, pathParameter, recordId } from '../../http/list-page.ts';
import { exampleId } from '../../http/openapi/field-examples.ts';
import { type Api, type Route, requireDeveloper, route } from '../../http/route.ts';
import { toTimestamp } from '../../platform/clock.ts';
import { apis, planNames, type Registration, scopeFor } from '../../registry/application.ts';
import type { NewCredential } from '../../registry/credential-service.ts';
import type { Registered, RegistryService } from '../../registry/registry-service.ts';

export const registeredApi = anyCaseOf(apis, 'one of sms, verify, messaging');
export const registeredPlan = anyCaseOf(planNames, 'one of free, pro, enterprise');

/** Accepts names in any case; answers use lower case. */
function anyCaseOf(names: readonly string[], expected: string) {
  const spellings = names.map((name) => name.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`));
  const maxLength = Math.max(...names.map(({ length }) => length));
  return Type.String({ pattern: `^(?:${spellings.join('|')})$`, maxLength, expected, examples: [...names] });
}

/** The name of an API in answers, always in lower case. */
export const apiName = Type.Unsafe<Api>({ type: 'string', enum: [...apis] });

export const registrationSchema = Type.Object(
  {
    id: recordId('reg'),
    api: apiName,
    plan: Type.String(),
    status: Type.String({ examples: ['approved'], description: 'approved, pending or rejected' }),
    requested_plan: nullable(Type.String({ description: 'The requested plan, until an operator decides' })),
    reason: nullable(
      Type.String({ description: 'Why an operator rejected it or the last change of plan, until you ask again' }),
    ),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { title: 'Registration' },
);
/** A registration in lists of applications. */
export const listedRegistration = Type.Object({
  api: apiName,
  plan: Type.String(),
  status: Type.String({ examples: ['approved'], description: 'approved, pending or rejected' }),
});
export type RegistrationRecord = Static<typeof registrationSchema>;

export const clientCredentialSchema = Type.Object(
  {
    type: Type.Literal('client'),
    client_id: Type.String(),
    client_secret: Type.String({ description: 'Shown only once', examples: ['hgs_example'] }),
    token_url: Type.String(),
    scope: Type.String(),
  },
  { title: 'ClientCredential' },
);
export type ClientCredential = Static<typeof clientCredentialSchema>;
export type Credential = { type: 'api_key'; id: string; api_key: string } | ClientCredential;

const credentialSchema = Type.Unsafe<Credential | null>({
  title: 'Credential',
  examples: [{ type: 'api_key', id: exampleId('key'), api_key: 'hg_sandbox_example_example' }],
  description: 'Shown only once; null when the application already has it',
  type: ['object', 'null'],
  properties: {
    type: { type: 'string', enum: ['api_key', 'client'] },
    id: { type: 'string' },
    api_key: { type: 'string' },
    client_id: { type: 'string' },
    client_secret: { type: 'string' },
    token_url: { type: 'string' },
    scope: { type: 'string' },
  },
});

const registeredSchema = Type.Object(
  { ...registrationSchema.properties, credential: credentialSchema },
  { title: 'RegistrationWithCredential' },
);
export type RegisteredRecord = Static<typeof registeredSchema>;
const params = Type.Object({ id: pathParameter });

export function createRegistrationRoutes(registry: RegistryService, tokenUrl: string, audit: Audit): Route[] {
  const tag = 'Developer portal: registrations';
  const auth = { kind: 'developer' } as const;
  return [
    route({
      method: 'POST',
      path: '/portal/v1/applications/{id}/registrations',
      auth,
      tag,
      operationId: 'registerApplication',
      summary: 'Register an application against an API and a plan',
      description: 'The credential is shown only once. Registering again changes the plan and issues no credential.',
      params,
      body: Type.Object({ api: registeredApi, plan: registeredPlan }, { title: 'RegistrationToCreate' }),
      answers: {
        200: { description: 'Already registered: same credential, new plan', schema: registeredSchema },
        201: { description: 'Registered', schema: registeredSchema },
      },
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const wanted = {
          api: call.body.api.toLowerCase() as Registration['api'],
          plan: call.body.plan.toLowerCase() as Registration['plan'],
        };
        const note = audit.note<Registered>(call, ({ created, registration, credential }) => ({
          act: created ? 'registration.created' : 'registration.plan_requested',
          id: registration.id,
          details: { ...wanted, application_id: call.params.id, credential: credential?.type ?? null },
        }));
        const { created, registration, credential } = await registry.registerOwn(
          accountId,
          call.params.id,
          wanted,
          note,
        );
        const body = {
          ...toRegistration(registration),
          credential: credential === null ? null : toCredential(credential, tokenUrl),
        };
        return { status: created ? 201 : 200, body };
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/applications/{id}/registrations',
      auth,
      tag,
      operationId: 'listRegistrations',
      summary: 'List the registrations of an application',
      params,
      answers: {
        200: {
          description: 'All registrations, at most one per API',
          schema: pageSchema(registrationSchema),
        },
      },
      handler: async (call) => {
        const rows = await registry.listRegistrations(requireDeveloper(call).accountId, call.params.id);
        return { status: 200, body: { data: rows.reverse().map(toRegistration), next_cursor: null } };
      },
    }),
    route({
      method: 'DELETE',
      path: '/portal/v1/applications/{id}/registrations/{api}',
      auth,
      tag,
      operationId: 'deleteRegistration',
      summary: 'End a registration; credentials that only it used stop working at once',
      params: Type.Object({ ...params.properties, api: pathParameter }),
      answers: { 204: { description: 'Ended' } },
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const { id } = call.params;
        const note = audit.note<Registration>(call, (ended) => ({
          act: 'registration.deleted',
          id: ended.id,
          details: { api: ended.api, plan: ended.plan, application_id: id },
        }));
        await registry.unregister(accountId, id, call.params.api.toLowerCase() as Registration['api'], note);
        return { status: 204 };
      },
    }),
  ];
}

export function toRegistration(registration: Registration) {
  const { id, api, plan, status, requestedPlan, reason, createdAtMs, updatedAtMs } = registration;
  return {
    id,
    api,
    plan,
    status,
    requested_plan: requestedPlan,
    reason,
    created_at: toTimestamp(createdAtMs),
    updated_at: toTimestamp(updatedAtMs),
  };
}

export function toCredential(credential: NewCredential, tokenUrl: string): Credential {
  if (credential.type === 'api_key') return { type: 'api_key', id: credential.id, api_key: credential.apiKey };
  return {
    type: 'client',
    client_id: credential.clientId,
    client_secret: credential.clientSecret,
    token_url: tokenUrl,
    scope: scopeFor(credential.api),
  };
}
