// Tests: test/contract/senders.test.ts
import { type Static, Type } from 'typebox';
import type { Audit, AuditEntry } from '../../accounts/audit/audit.ts';
import { reasonSchema } from '../../accounts/audit/reason.ts';
import { findOwnerEmails } from '../../accounts/people/member-store.ts';
import { nullable, pageQuery, pageSchema, pathParameter, readPage, toPage } from '../../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError, invalidField } from '../../platform/errors.ts';
import { type Sender, type SenderStatus, senderStatuses } from '../../registry/sender.ts';
import type { DecidedSender, SenderService } from '../../registry/sender-service.ts';
import { applicationParams } from './application-api.ts';
import { senderBody, senderSchema, toSender } from './sender-record.ts';

export interface SenderRoutesOptions {
  database: Database;
  senders: SenderService;
  /** Throws a 404 if there is no carrier with this name. */
  requireCarrier: (name: string) => Promise<unknown>;
}

const operatorSenders = '/portal/v1/operator/senders';

const operatorSchema = Type.Object(
  {
    ...senderSchema.properties,
    carriers: Type.Array(Type.String({ examples: ['acme'] }), {
      description: 'The carriers that accept it; empty for all',
    }),
  },
  { title: 'SenderForOperators' },
);
const listedSchema = Type.Object(
  {
    ...operatorSchema.properties,
    application_id: Type.String(),
    application_name: Type.String(),
    account_email: Type.String(),
  },
  { title: 'ListedSender' },
);
export type ListedSenderRecord = Static<typeof listedSchema>;

const approvalBody = Type.Object(
  {
    carriers: Type.Array(Type.String({ maxLength: 32, expected: 'the name of a carrier' }), {
      maxItems: 20,
      default: [],
      expected: 'a list of up to 20 names of carriers; empty for all',
    }),
    registration: Type.Optional(nullable(Type.String({ maxLength: 128 }))),
    per_second: Type.Optional(
      nullable(Type.Integer({ minimum: 1, maximum: 10_000, expected: 'a whole number from 1 to 10000, or null' })),
    ),
  },
  { title: 'SenderApproval', examples: [{ carriers: [], registration: 'C1A2B3', per_second: 10 }] },
);

/** Senders that applications hold (section 14 of the contract). */
export function createSenderRoutes(options: SenderRoutesOptions, audit: Audit): Route[] {
  return [...developerRoutes(options, audit), ...operatorRoutes(options, audit)];
}

function developerRoutes({ senders }: SenderRoutesOptions, audit: Audit): Route[] {
  const shared = { auth: { kind: 'developer' }, tag: 'Developer portal: applications' } as const;
  return [
    route({
      method: 'POST',
      path: '/portal/v1/applications/{id}/senders',
      ...shared,
      operationId: 'askForSender',
      summary: 'Request a sender',
      description: 'An operator approves it; the sandbox approves it at once. Without countries it is for all.',
      params: applicationParams,
      body: senderBody,
      answers: { 201: { description: 'The sender', schema: senderSchema } },
      refuses: {
        ALREADY_EXISTS: 'The application has this sender for these countries, or has requested it',
        INCOMPATIBLE_STATE: 'The application has the maximum number of senders',
      },
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const note = audit.note<Sender>(call, ({ id, sender, countries }) => ({
          act: 'sender.requested',
          id,
          details: { sender, countries, application_id: call.params.id },
        }));
        return { status: 201, body: toSender(await senders.ask(accountId, call.params.id, call.body, note)) };
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/applications/{id}/senders',
      ...shared,
      operationId: 'listSenders',
      summary: 'List the senders of an application, oldest first',
      params: applicationParams,
      answers: { 200: { description: 'All of them', schema: pageSchema(senderSchema) } },
      handler: async (call) => {
        const rows = await senders.listOwn(requireDeveloper(call).accountId, call.params.id);
        return { status: 200, body: { data: rows.map(toSender), next_cursor: null } };
      },
    }),
    route({
      method: 'DELETE',
      path: '/portal/v1/applications/{id}/senders/{sender_id}',
      ...shared,
      operationId: 'deleteSender',
      summary: 'Delete a sender',
      params: Type.Object({ id: pathParameter, sender_id: pathParameter }),
      answers: { 204: { description: 'Deleted' } },
      handler: async (call) => {
        const { id, sender_id } = call.params;
        const note = audit.note(call, { act: 'sender.deleted', id: sender_id, details: { application_id: id } });
        await senders.removeOwn(requireDeveloper(call).accountId, id, sender_id, note);
        return { status: 204 };
      },
    }),
  ];
}

function operatorRoutes({ database, senders, requireCarrier }: SenderRoutesOptions, audit: Audit): Route[] {
  const shared = { auth: { kind: 'operator' }, tag: 'Developer portal: operators' } as const;
  const params = Type.Object({ id: pathParameter });
  const decided = { 200: { description: 'The sender as it is now', schema: operatorSchema } };
  return [
    route({
      method: 'GET',
      path: operatorSenders,
      ...shared,
      operationId: 'listAllSenders',
      summary: 'List senders of all applications, newest first',
      query: Type.Object({
        status: Type.Unsafe<SenderStatus>({
          type: 'string',
          enum: [...senderStatuses],
          default: 'pending',
          description: 'The decision',
          expected: 'pending, approved or rejected',
        }),
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of senders', schema: pageSchema(listedSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const rows = await senders.list(call.query.status, { limit: limit + 1, after });
        const emails = await findOwnerEmails(
          database,
          rows.map(({ accountId }) => accountId),
        );
        const body = toPage(rows, limit, (row) => ({
          ...{ ...toSender(row), carriers: row.carriers, application_id: row.applicationId },
          ...{ application_name: row.applicationName, account_email: emails.get(row.accountId) ?? '' },
        }));
        return { status: 200, body };
      },
    }),
    route({
      method: 'POST',
      path: `${operatorSenders}/{id}/approve`,
      ...shared,
      operationId: 'approveSender',
      summary: 'Approve a sender, or change an approval',
      params,
      body: approvalBody,
      answers: decided,
      handler: async (call) => {
        const { carriers, registration = null, per_second: perSecond = null } = call.body;
        await checkCarriers(carriers, requireCarrier);
        const note = audit.note(call, decision('sender.approved', { carriers }));
        const sender = await senders.approve(call.params.id, { carriers, registration, perSecond }, note);
        return { status: 200, body: { ...toSender(sender), carriers: sender.carriers } };
      },
    }),
    route({
      method: 'POST',
      path: `${operatorSenders}/{id}/reject`,
      ...shared,
      operationId: 'rejectSender',
      summary: 'Reject a sender, or withdraw its approval',
      params,
      body: Type.Object({
        reason: reasonSchema,
      }),
      answers: decided,
      handler: async (call) => {
        const { reason } = call.body;
        const sender = await senders.reject(
          call.params.id,
          reason,
          audit.note(call, decision('sender.rejected', { reason })),
        );
        return { status: 200, body: { ...toSender(sender), carriers: sender.carriers } };
      },
    }),
  ];
}

const decision =
  (act: AuditEntry['act'], details: object) =>
  ({ id, sender, applicationId, accountId }: DecidedSender): AuditEntry => ({
    ...{ act, id, accountId },
    details: { sender, application_id: applicationId, ...details },
  });

async function checkCarriers(names: string[], requireCarrier: SenderRoutesOptions['requireCarrier']): Promise<void> {
  for (const [index, name] of names.entries()) {
    await requireCarrier(name).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === 'NOT_FOUND')) throw error;
      throw invalidField(`carriers.${index}`, 'must be the name of a carrier');
    });
  }
}
