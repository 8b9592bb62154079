// Tests: test/contract/inbound.test.ts
import { Type } from 'typebox';
import { pageQuery, pageSchema, pathParameter, readPage, toPage } from '../http/list-page.ts';
import { type Api, type Auth, type Route, requireApplication, route } from '../http/route.ts';
import { longestNumber, numberForm, readNumber, rightNumber } from '../messages/numbers/phone-number.ts';
import { invalidField } from '../platform/errors.ts';
import { optOutSchema, readFilter, toOptOutRecord } from './inbound-record.ts';
import { applicationScope } from './opt-out.ts';
import type { OptOuts } from './opt-outs.ts';

export interface OptOutRoutesOptions {
  optOuts: OptOuts;
  /** Like `/sms/v1`. */
  base: string;
  api: Exclude<Api, 'verify'>;
  auth: Auth;
  tag: string;
}

const params = Type.Object({ number: pathParameter });

/** Opt-outs of an application. They apply to all its SMS and Messaging texts, whichever API is called. */
export function createOptOutRoutes({ optOuts, base, api, auth, tag }: OptOutRoutesOptions): Route[] {
  const word = api === 'sms' ? 'Sms' : 'Messaging';
  return [
    route({
      method: 'GET',
      path: `${base}/opt-outs`,
      auth,
      tag,
      bulkhead: 'side',
      shared: true,
      operationId: `list${word}OptOuts`,
      summary: 'List the people who want no texts of this application, newest first',
      query: Type.Object({
        to: Type.Optional(Type.String({ maxLength: longestNumber, description: `A number: ${numberForm}` })),
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of opt-outs', schema: pageSchema(optOutSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const number = readFilter(call.query.to);
        const scope = applicationScope(requireApplication(call).applicationId);
        const rows = await optOuts.list({ scope, number }, { limit: limit + 1, after });
        // A caller who filters by a number knows it, so it is shown unmasked.
        const body = toPage(rows, limit, (row) => toOptOutRecord({ ...row, number: number ?? row.number }));
        return { status: 200, body };
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/opt-outs/{number}`,
      auth,
      tag,
      operationId: `put${word}OptOut`,
      summary: 'Send no more texts to a number',
      description:
        'From now on a text of this application to that number fails with `blocked_by_recipient`. The person can undo it by a start word.',
      params,
      answers: { 200: { description: 'The opt-out', schema: optOutSchema } },
      refuses: { INVALID_ARGUMENT: 'The path has no phone number' },
      handler: async (call) => {
        const optOut = await optOuts.put(requireApplication(call), requireNumberIn(call.params.number));
        return { status: 200, body: toOptOutRecord(optOut) };
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/opt-outs/{number}`,
      auth,
      tag,
      operationId: `delete${word}OptOut`,
      summary: 'Undo an opt-out that this API has put',
      description:
        'An opt-out by the person stays (409): only the person, by a start word, or an operator, with a reason, can undo it.',
      params,
      answers: { 204: { description: 'Undone' } },
      refuses: {
        INVALID_ARGUMENT: 'The path has no phone number',
        INCOMPATIBLE_STATE: 'The person has opted out by a text or at the carrier',
      },
      handler: async (call) => {
        await optOuts.remove(requireApplication(call), requireNumberIn(call.params.number));
        return { status: 204 };
      },
    }),
  ];
}

/** The number in a path. */
export function requireNumberIn(text: string): string {
  const number = readNumber(text);
  if (number === undefined) throw invalidField('number', `must be ${rightNumber}`);
  return number;
}
