// Tests: test/contract/inbound.test.ts
import { Type } from 'typebox';
import { pageQuery, pageSchema, pathParameter, readPage, toPage } from '../http/list-page.ts';
import { type Api, type Auth, type Route, requireApplication, route } from '../http/route.ts';
import type { Database } from '../platform/database/database.ts';
import { notFound } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import { inboundFilters, inboundSchema, readFilter, toInboundRecord } from './inbound-record.ts';
import { findInbound, listInbound } from './inbound-store.ts';

export interface InboundRoutesOptions {
  database: Database;
  api: Exclude<Api, 'verify'>;
  /** Like `/sms/v1`. */
  base: string;
  auth: Auth;
  tag: string;
}

/** The texts that people sent to an application's numbers. Each API sees those of the numbers given to it. */
export function createInboundRoutes({ database, api, base, auth, tag }: InboundRoutesOptions): Route[] {
  const shared = { method: 'GET', auth, tag, bulkhead: 'side', shared: true } as const;
  return [
    route({
      ...shared,
      path: `${base}/inbound`,
      operationId: api === 'sms' ? 'listInboundSms' : 'listInboundMessages',
      summary: 'List the texts that people sent to your numbers, newest first',
      query: Type.Object({ ...inboundFilters, ...pageQuery }),
      answers: { 200: { description: 'A page of texts', schema: pageSchema(inboundSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const { applicationId } = requireApplication(call);
        const filter = { applicationId, api, from: readFilter(call.query.from), to: readFilter(call.query.to) };
        const rows = await listInbound(database, filter, { limit: limit + 1, after });
        return { status: 200, body: toPage(rows, limit, toInboundRecord) };
      },
    }),
    route({
      ...shared,
      path: `${base}/inbound/{id}`,
      operationId: api === 'sms' ? 'getInboundSms' : 'getInboundMessage',
      summary: 'Read a text that a person sent to your number',
      params: Type.Object({ id: pathParameter }),
      answers: { 200: { description: 'The text', schema: inboundSchema } },
      handler: async (call) => {
        const { id } = call.params;
        const found = isId('inb', id) ? await findInbound(database, id) : undefined;
        const { applicationId } = requireApplication(call);
        if (found === undefined || found.applicationId !== applicationId || found.api !== api) throw notFound();
        return { status: 200, body: toInboundRecord(found) };
      },
    }),
  ];
}
