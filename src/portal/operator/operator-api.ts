// Tests: test/contract/portal-operators.test.ts
import { type Static, Type } from 'typebox';
import type { Audit, AuditEntry } from '../../accounts/audit/audit.ts';
import { reasonSchema } from '../../accounts/audit/reason.ts';
import { findOwnerEmails } from '../../accounts/people/member-store.ts';
import { pageQuery, pageSchema, pathParameter, readPage, toPage } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import type { Database } from '../../platform/database/database.ts';
import { planNames } from '../../registry/application.ts';
import type { DecidedRegistration, RegistryService } from '../../registry/registry-service.ts';
import type { PlanName } from '../../settings/settings.ts';
import { registrationSchema, toRegistration } from '../developer/registration-api.ts';
import { createAllowanceRoutes } from './allowance-api.ts';

const waitingSchema = Type.Object(
  {
    ...registrationSchema.properties,
    application_id: Type.String(),
    application_name: Type.String(),
    account_email: Type.String(),
  },
  { title: 'PendingRegistration' },
);
export type WaitingRegistration = Static<typeof waitingSchema>;

const params = Type.Object({ id: pathParameter });

export interface OperatorOptions {
  database: Database;
  registry: RegistryService;
  audit: Audit;
}

export function createOperatorRoutes({ database, registry, audit }: OperatorOptions): Route[] {
  const tag = 'Developer portal: operators';
  const auth = { kind: 'operator' } as const;
  const decided = { 200: { description: 'The registration as it is now', schema: registrationSchema } };
  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/registrations',
      auth,
      tag,
      operationId: 'listPendingRegistrations',
      summary: 'List pending registrations, newest first',
      query: Type.Object({
        status: Type.Literal('pending', { default: 'pending', description: 'Only pending ones are listed' }),
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of registrations', schema: pageSchema(waitingSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const rows = await registry.listWaiting({ limit: limit + 1, after });
        const emails = await findOwnerEmails(
          database,
          rows.map(({ accountId }) => accountId),
        );
        const body = toPage(rows, limit, (row) => ({
          ...toRegistration(row),
          application_id: row.applicationId,
          application_name: row.applicationName,
          account_email: emails.get(row.accountId) ?? '',
        }));
        return { status: 200, body };
      },
    }),
    route({
      method: 'POST',
      path: '/portal/v1/operator/registrations/{id}/approve',
      auth,
      tag,
      operationId: 'approveRegistration',
      summary: 'Approve a registration or a change of plan',
      params,
      query: Type.Object({
        plan: Type.Optional(
          Type.Unsafe<PlanName>({
            type: 'string',
            enum: [...planNames],
            expected: `one of ${planNames.join(', ')}`,
            description: 'The plan that you saw. If the developer asks for another one by now, nothing is approved',
          }),
        ),
      }),
      answers: decided,
      refuses: { INCOMPATIBLE_STATE: 'The registration needs no decision, or asks for another plan by now' },
      handler: async (call) => {
        const note = audit.note(call, decision('registration.approved'));
        return { status: 200, body: toRegistration(await registry.approve(call.params.id, call.query.plan, note)) };
      },
    }),
    route({
      method: 'POST',
      path: '/portal/v1/operator/registrations/{id}/reject',
      auth,
      tag,
      operationId: 'rejectRegistration',
      summary: 'Reject a registration or a change of plan',
      description: 'The developer reads the reason.',
      params,
      body: Type.Object({ reason: reasonSchema }, { title: 'Rejection' }),
      answers: decided,
      refuses: { INCOMPATIBLE_STATE: 'The registration needs no decision' },
      handler: async (call) => {
        const { reason } = call.body;
        const note = audit.note(call, decision('registration.rejected', { reason }));
        return { status: 200, body: toRegistration(await registry.reject(call.params.id, reason, note)) };
      },
    }),
    ...createAllowanceRoutes(registry, audit),
  ];
}

const decision =
  (act: AuditEntry['act'], details: object = {}) =>
  ({ id, applicationId, accountId, api, plan }: DecidedRegistration): AuditEntry => ({
    ...{ act, id, accountId },
    details: { application_id: applicationId, api, plan, ...details },
  });
