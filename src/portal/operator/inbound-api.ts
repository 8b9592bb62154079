// Tests: test/contract/inbound.test.ts
import { type Static, Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { nullable, pageQuery, pageSchema, pathParameter, readPage, toPage } from '../../http/list-page.ts';
import { type Api, type Route, requireDeveloper, route } from '../../http/route.ts';
import type { Inbound } from '../../inbound/inbound.ts';
import {
  inboundFilters,
  inboundSchema,
  optOutSchema,
  readFilter,
  toInboundRecord,
  toOptOutRecord,
} from '../../inbound/inbound-record.ts';
import { listInbound } from '../../inbound/inbound-store.ts';
import { findKeywordKinds } from '../../inbound/keyword-of-text.ts';
import type { OptOut } from '../../inbound/opt-out.ts';
import { requireNumberIn } from '../../inbound/opt-out-api.ts';
import type { OptOuts } from '../../inbound/opt-outs.ts';
import type { WordKind } from '../../inbound/words.ts';
import { carrierNameOf } from '../../messages/message.ts';
import type { Database } from '../../platform/database/database.ts';

export interface PortalInboundOptions {
  database: Database;
  optOuts: OptOuts;
  /** Throws a 404 for an application of another account. */
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

const anyApi = Type.Optional(
  Type.Unsafe<Exclude<Api, 'verify'>>({
    type: 'string',
    enum: ['sms', 'messaging'],
    expected: 'one of sms, messaging',
    description: 'The API that got the texts',
  }),
);
const listedSchema = Type.Object(
  {
    ...inboundSchema.properties,
    api: nullable(Type.String()),
    word: Type.Unsafe<WordKind | null>({
      type: ['string', 'null'],
      enum: ['stop', 'start', 'help', null],
      description: 'stop: the person opted out by this text',
    }),
  },
  { title: 'ListedInboundText' },
);
export type ListedInbound = Static<typeof listedSchema>;

const strangeSchema = Type.Object(
  { ...inboundSchema.properties, carrier: Type.String() },
  { title: 'UnassignedInboundText' },
);
export type UnassignedInbound = Static<typeof strangeSchema>;

const operatorOptOutSchema = Type.Object(
  {
    ...optOutSchema.properties,
    scope: Type.String({ examples: ['application'], description: 'sender or application' }),
    sender: nullable(Type.String()),
    application_id: nullable(Type.String()),
  },
  { title: 'OptOutForOperators' },
);
export type OperatorOptOut = Static<typeof operatorOptOutSchema>;

const optOutsPath = '/portal/v1/operator/opt-outs';

/** Texts from phones and opt-outs, for developers and operators. */
export function createPortalInboundRoutes(
  { database, optOuts, requireOwn }: PortalInboundOptions,
  audit: Audit,
): Route[] {
  const operator = { auth: { kind: 'operator' }, tag: 'Developer portal: operators' } as const;
  return [
    route({
      method: 'GET',
      path: '/portal/v1/applications/{id}/inbound',
      auth: { kind: 'developer' },
      tag: 'Developer portal: records',
      operationId: 'listApplicationInbound',
      summary: 'List the texts that people sent to an application, newest first',
      params: Type.Object({ id: pathParameter }),
      query: Type.Object({ api: anyApi, ...inboundFilters, ...pageQuery }),
      answers: { 200: { description: 'A page of texts', schema: pageSchema(listedSchema) } },
      handler: async (call) => {
        const { id: applicationId } = call.params;
        await requireOwn(requireDeveloper(call).accountId, applicationId);
        const { limit, after } = readPage(call.query);
        const { api, from, to } = call.query;
        const filter = { applicationId, ...(api && { api }), from: readFilter(from), to: readFilter(to) };
        const rows = await listInbound(database, filter, { limit: limit + 1, after });
        const words = await findKeywordKinds(database, rows);
        return { status: 200, body: toPage(rows, limit, (row) => toListed(row, words)) };
      },
    }),
    route({
      ...operator,
      method: 'GET',
      path: '/portal/v1/operator/inbound',
      operationId: 'listUnassignedInbound',
      summary: 'List texts to numbers that no application holds, newest first',
      query: Type.Object({
        unassigned: Type.Literal(true, { default: true, expected: 'true', description: 'Only these are listed' }),
        ...inboundFilters,
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of texts', schema: pageSchema(strangeSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const filter = { applicationId: null, from: readFilter(call.query.from), to: readFilter(call.query.to) };
        const rows = await listInbound(database, filter, { limit: limit + 1, after });
        return { status: 200, body: toPage(rows, limit, toStrange) };
      },
    }),
    route({
      ...operator,
      method: 'GET',
      path: optOutsPath,
      operationId: 'listOptOuts',
      summary: 'List opt-outs, newest first',
      query: Type.Object({
        number: Type.Optional(Type.String({ maxLength: 32, description: 'A phone number' })),
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of opt-outs', schema: pageSchema(operatorOptOutSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const number = readFilter(call.query.number);
        const rows = await optOuts.list({ number }, { limit: limit + 1, after });
        return { status: 200, body: toPage(rows, limit, (row) => toOperatorOptOut(row, number)) };
      },
    }),
    route({
      ...operator,
      method: 'DELETE',
      path: `${optOutsPath}/{number}`,
      operationId: 'deleteOptOut',
      summary: 'Opt a number in again, for every sender and application',
      description: 'The reason is kept for good, with the operator who gave it.',
      params: Type.Object({ number: pathParameter }),
      query: Type.Object({
        reason: Type.String({
          description: 'Why, in a few words',
          minLength: 1,
          maxLength: 256,
          pattern: '^[^\\u0000-\\u0020][^\\u0000-\\u001f]*$',
        }),
      }),
      answers: { 204: { description: 'Opted in' } },
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const number = requireNumberIn(call.params.number);
        const { reason } = call.query;
        // The log outlives the number's retention, so it has only the last digits.
        const note = audit.note(call, { act: 'opt_out.deleted', id: `…${number.slice(-4)}`, details: { reason } });
        await optOuts.removeAll(number, reason, accountId, note);
        return { status: 204 };
      },
    }),
  ];
}

function toListed(inbound: Inbound, words: ReadonlyMap<string, WordKind>) {
  return { ...toInboundRecord(inbound), api: inbound.api, word: words.get(inbound.id) ?? null };
}

function toStrange(inbound: Inbound) {
  return { ...toInboundRecord(inbound), carrier: carrierNameOf(inbound.carrier) };
}

function toOperatorOptOut(optOut: OptOut, asked: string | undefined): OperatorOptOut {
  const { kind, subject, number } = optOut;
  return {
    ...toOptOutRecord({ ...optOut, number: asked ?? number }),
    scope: kind,
    sender: kind === 'sender' ? subject : null,
    application_id: kind === 'application' ? subject : null,
  };
}
