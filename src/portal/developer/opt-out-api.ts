// Tests: test/contract/portal-opt-outs.test.ts
import { Type } from 'typebox';
import { pageQuery, pageSchema, pathParameter, readPage, toPage } from '../../http/list-page.ts';
import { type Api, type Call, type Route, requireDeveloper, route } from '../../http/route.ts';
import { optOutSchema, readFilter, toOptOutRecord } from '../../inbound/inbound-record.ts';
import { applicationScope } from '../../inbound/opt-out.ts';
import { requireNumberIn } from '../../inbound/opt-out-api.ts';
import type { OptOuts } from '../../inbound/opt-outs.ts';
import { longestNumber, numberForm } from '../../messages/numbers/phone-number.ts';

export interface DeveloperOptOutOptions {
  optOuts: OptOuts;
  /** Throws a 404 for an application of another account. */
  listRegistrations: (accountId: string, applicationId: string) => Promise<{ api: Api }[]>;
}

const path = '/portal/v1/applications/{id}/opt-outs';
const params = Type.Object({ id: pathParameter });
const numberParams = Type.Object({ ...params.properties, number: pathParameter });

/** Opt-outs of an application for its developer, by the rules of the API. */
export function createDeveloperOptOutRoutes({ optOuts, listRegistrations }: DeveloperOptOutOptions): Route[] {
  const shared = { auth: { kind: 'developer' }, tag: 'Developer portal: records' } as const;

  /** The application, and the API whose feed gets the event. */
  async function ownOf(call: Call<{ id: string }>): Promise<{ applicationId: string; api: Api }> {
    const registered = await listRegistrations(requireDeveloper(call).accountId, call.params.id);
    const hasSms = registered.some(({ api }) => api === 'sms');
    const hasMessaging = registered.some(({ api }) => api === 'messaging');
    return { applicationId: call.params.id, api: hasMessaging && !hasSms ? 'messaging' : 'sms' };
  }

  return [
    route({
      ...shared,
      method: 'GET',
      path,
      operationId: 'listApplicationOptOuts',
      summary: 'List the people who want no texts of an application, newest first',
      params,
      query: Type.Object({
        to: Type.Optional(Type.String({ maxLength: longestNumber, description: `A number: ${numberForm}` })),
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of opt-outs', schema: pageSchema(optOutSchema) } },
      handler: async (call) => {
        const { applicationId } = await ownOf(call);
        const { limit, after } = readPage(call.query);
        const number = readFilter(call.query.to);
        const scope = applicationScope(applicationId);
        const rows = await optOuts.list({ scope, number }, { limit: limit + 1, after });
        // A caller who filters by a number knows it, so it is shown unmasked.
        const body = toPage(rows, limit, (row) => toOptOutRecord({ ...row, number: number ?? row.number }));
        return { status: 200, body };
      },
    }),
    route({
      ...shared,
      method: 'PUT',
      path: `${path}/{number}`,
      operationId: 'putApplicationOptOut',
      summary: 'Send no more texts of an application to a number',
      params: numberParams,
      answers: { 200: { description: 'The opt-out', schema: optOutSchema } },
      refuses: { INVALID_ARGUMENT: 'The path has no phone number' },
      handler: async (call) => {
        const optOut = await optOuts.put(await ownOf(call), requireNumberIn(call.params.number));
        return { status: 200, body: toOptOutRecord(optOut) };
      },
    }),
    route({
      ...shared,
      method: 'DELETE',
      path: `${path}/{number}`,
      operationId: 'deleteApplicationOptOut',
      summary: 'Undo an opt-out that the application has put',
      description:
        'An opt-out by the person stays (409): only the person, by a start word, or an operator, with a reason, can undo it.',
      params: numberParams,
      answers: { 204: { description: 'Undone' } },
      refuses: {
        INVALID_ARGUMENT: 'The path has no phone number',
        INCOMPATIBLE_STATE: 'The person has opted out by a text or at the carrier',
      },
      handler: async (call) => {
        await optOuts.remove(await ownOf(call), requireNumberIn(call.params.number));
        return { status: 204 };
      },
    }),
  ];
}
