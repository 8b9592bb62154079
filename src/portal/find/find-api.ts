// Tests: test/contract/find.test.ts
import { Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { carrierIdsKeptMs } from '../../delivery/receipts/unreported.ts';
import { pageQuery, pathParameter, readPage } from '../../http/list-page.ts';
import { exampleId } from '../../http/openapi/field-examples.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import { dayMs } from '../../platform/clock.ts';
import { createFindService, type FindOptions } from './find-service.ts';
import { findSchema } from './found.ts';
import { createRecordOpening, openedSchema } from './record-opening.ts';
import { longestSearch } from './search-text.ts';

const query = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: longestSearch,
    pattern: '^[^\\u0000]*$',
    expected: `a text of 1 to ${longestSearch} characters`,
    description: 'A number in any spelling, an id of any kind, or part of a name',
    examples: [exampleId('req')],
  }),
  ...pageQuery,
});

const answers = { 200: { description: 'What was found; records of a number are newest first', schema: findSchema } };

/** Find: by a number, an id, a correlation id or a name. */
export function createFindRoutes(options: FindOptions, audit: Audit): Route[] {
  const service = createFindService(options);
  const open = createRecordOpening({ ...options, audit, service });
  return [
    route({
      method: 'GET',
      path: '/portal/v1/find',
      auth: { kind: 'developer' },
      tag: 'Developer portal: records',
      operationId: 'find',
      summary: 'Find texts, verifications, requests and applications of your account',
      description:
        'Numbers are found until they are masked at the end of the retention time. A cursor searches further back.',
      query,
      answers,
      handler: async (call) => {
        const request = { text: call.query.q, ...readPage(call.query) };
        return { status: 200, body: await service.find({ accountId: requireDeveloper(call).accountId }, request) };
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/operator/find',
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: 'findInAll',
      summary: 'Find texts, verifications, requests, applications and accounts of all accounts',
      description: `Numbers are masked. The id that a carrier gave to a text finds it for ${carrierIdsKeptMs / dayMs} days; part of an e-mail finds an account.`,
      query,
      answers,
      handler: async (call) => {
        const request = { text: call.query.q, ...readPage(call.query) };
        return { status: 200, body: await service.find('all', request) };
      },
    }),
    route({
      method: 'POST',
      path: '/portal/v1/operator/records/{id}/open',
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: 'openRecord',
      summary: 'Open a text, a verification or a request of any account, with its number',
      description: 'The audit log gets an entry, which the owners of the account see.',
      params: Type.Object({ id: pathParameter }),
      answers: { 200: { description: 'The record as it is now, and its timeline', schema: openedSchema } },
      handler: async (call) => ({ status: 200, body: await open(call, call.params.id) }),
    }),
  ];
}
