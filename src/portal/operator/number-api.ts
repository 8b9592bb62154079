// Tests: test/contract/inbound.test.ts
import { type Static, Type } from 'typebox';
import type { Audit, AuditEntry } from '../../accounts/audit/audit.ts';
import { nullable, pageQuery, pageSchema, pathParameter, readPage, toPage } from '../../http/list-page.ts';
import { type Api, type Route, route } from '../../http/route.ts';
import type { NumberService } from '../../inbound/number-service.ts';
import type { OwnNumber } from '../../inbound/own-number.ts';
import { longestKeyword, removableWords } from '../../inbound/words.ts';
import { toTimestamp } from '../../platform/clock.ts';

const api = Type.Unsafe<Exclude<Api, 'verify'>>({
  type: 'string',
  enum: ['sms', 'messaging'],
  default: 'sms',
  description: 'The API that gets the texts',
  expected: 'one of sms, messaging',
});

const numberSchema = Type.Object(
  {
    number: Type.String({ examples: ['80123'] }),
    application_id: Type.String(),
    api,
    carrier: nullable(Type.String({ description: 'Only texts from this carrier; null: from any carrier' })),
    keyword: nullable(Type.String({ description: 'Only texts that begin with this word; null: all others' })),
    ignored_words: Type.Array(Type.String(), { examples: [[]] }),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { title: 'OwnNumber' },
);
export type NumberRecord = Static<typeof numberSchema>;

const carrierName = Type.String({ maxLength: 32, description: 'The name of a carrier', examples: ['acme'] });
const keyword = Type.String({
  maxLength: longestKeyword,
  description: 'Only texts that begin with this word',
  examples: ['INFO'],
});
const path = '/portal/v1/operator/numbers';
const params = Type.Object({ number: pathParameter });
/** Selects one of the entries of a number. */
const entryQuery = Type.Object({ keyword: Type.Optional(keyword), carrier: Type.Optional(carrierName) });

/** Assigns a number to an application. */
export const numberBody = Type.Object(
  {
    application_id: Type.String({ maxLength: 64 }),
    api,
    carrier: Type.Optional(nullable(carrierName)),
    keyword: Type.Optional(nullable(keyword)),
    ignored_words: Type.Array(Type.String({ maxLength: 32 }), {
      maxItems: removableWords.length,
      default: [],
      description: `Keywords to ignore for this entry, of ${removableWords.join(', ')}`,
    }),
  },
  { title: 'NumberToGive' },
);

/** Numbers that people text to, for operators (section 15 of the contract). */
export function createNumberRoutes(numbers: NumberService, audit: Audit): Route[] {
  const shared = { auth: { kind: 'operator' }, tag: 'Developer portal: operators' } as const;
  const found = { 200: { description: 'The number and its application', schema: numberSchema } };
  return [
    route({
      ...shared,
      method: 'GET',
      path,
      operationId: 'listNumbers',
      summary: 'List the numbers assigned to applications, newest first',
      query: Type.Object({
        number: Type.Optional(Type.String({ maxLength: 32, description: 'The number or short code' })),
        application_id: Type.Optional(Type.String({ maxLength: 64, description: 'The id of an application' })),
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of numbers', schema: pageSchema(numberSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const { number, application_id: applicationId } = call.query;
        const filter = { number: number?.replace(/^ /, '+'), applicationId };
        const rows = await numbers.list(filter, { limit: limit + 1, after });
        return { status: 200, body: toPage(rows, limit, toRecord) };
      },
    }),
    route({
      ...shared,
      method: 'PUT',
      path: `${path}/{number}`,
      operationId: 'putNumber',
      summary: 'Assign a number or short code to an application',
      description: 'A number can be shared: by carrier, and by the first word of a text.',
      params,
      body: numberBody,
      answers: found,
      refuses: { INCOMPATIBLE_STATE: 'The number has the maximum of assignments' },
      handler: async (call) => {
        const { application_id, api, carrier = null, keyword = null, ignored_words } = call.body;
        const given = { applicationId: application_id, api, carrier, keyword, ignoredWords: ignored_words };
        const note = audit.note(call, entryOf('number.given'));
        return { status: 200, body: toRecord(await numbers.put(call.params.number, given, note)) };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${path}/{number}`,
      operationId: 'getNumber',
      summary: 'Read the application of a number',
      params,
      query: entryQuery,
      answers: found,
      handler: async (call) => {
        const { keyword = null, carrier = null } = call.query;
        return { status: 200, body: toRecord(await numbers.require(call.params.number, keyword, carrier)) };
      },
    }),
    route({
      ...shared,
      method: 'DELETE',
      path: `${path}/{number}`,
      operationId: 'deleteNumber',
      summary: 'Withdraw a number from its application',
      description: 'Deletes the entry with this keyword and carrier; without them, the entry that has neither.',
      params,
      query: entryQuery,
      answers: { 204: { description: 'Withdrawn' } },
      handler: async (call) => {
        const { keyword = null, carrier = null } = call.query;
        await numbers.remove(call.params.number, keyword, carrier, audit.note(call, entryOf('number.taken_back')));
        return { status: 204 };
      },
    }),
  ];
}

const entryOf =
  (act: AuditEntry['act']) =>
  ({ number, applicationId, api, keyword, carrier }: OwnNumber): AuditEntry => ({
    act,
    id: number,
    details: { application_id: applicationId, api, keyword, carrier },
  });

function toRecord({ number, applicationId, api, carrier, keyword, ignoredWords, ...times }: OwnNumber): NumberRecord {
  return {
    number,
    application_id: applicationId,
    api,
    carrier,
    keyword,
    ignored_words: ignoredWords,
    created_at: toTimestamp(times.createdAtMs),
    updated_at: toTimestamp(times.updatedAtMs),
  };
}
