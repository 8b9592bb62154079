// Tests: test/contract/portal-sign-in.test.ts
import { type Static, Type } from 'typebox';
import { nullable, pageQuery, pageSchema, readPage, recordId, toPage } from '../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { notFound } from '../platform/errors.ts';
import { longestEmail, requireEmail } from './people/email.ts';
import type { PersonService } from './person-service.ts';
import { listSignIns, type SignInRow } from './sign-in/store.ts';
import { type SignInOutcome, type SignInWay, signInOutcomes, signInWays } from './sign-in/way.ts';

const signInSchema = Type.Object(
  {
    id: recordId('sin'),
    time: Type.String(),
    address: Type.String({ description: 'Where it came from', examples: ['203.0.113.9'] }),
    way: Type.Unsafe<SignInWay>({ type: 'string', enum: [...signInWays], description: 'The credential used' }),
    outcome: Type.Unsafe<SignInOutcome>({
      type: 'string',
      enum: [...signInOutcomes],
      description: '`code_needed`: the password or the link was right, and a code of the second factor had to follow',
    }),
  },
  { title: 'SignIn' },
);
export type SignInRecord = Static<typeof signInSchema>;

const operatedSchema = Type.Object(
  {
    ...signInSchema.properties,
    email: Type.String({ description: 'The e-mail that was given', examples: ['you@example.com'] }),
    person_id: nullable(recordId('per', 'Null when no person had this e-mail')),
  },
  { title: 'OperatedSignIn' },
);
export type OperatedSignIn = Static<typeof operatedSchema>;

/** Sign-ins, failed and successful: a person sees its own, an operator all. */
export function createSignInRoutes(people: PersonService, database: Database): Route[] {
  const kept = 'Sign-ins of the last 90 days: for each e-mail at most 200 with the right password and 200 without.';
  return [
    route({
      method: 'GET',
      path: '/portal/v1/me/sign-ins',
      auth: { kind: 'person' },
      tag: 'Developer portal: account',
      operationId: 'listSignIns',
      summary: 'List sign-ins with your e-mail, failed and successful, newest first',
      description: kept,
      query: Type.Object(pageQuery),
      answers: { 200: { description: 'A page of sign-ins', schema: pageSchema(signInSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const rows = await people.listSignIns(requireDeveloper(call).personId, { limit: limit + 1, after });
        if (rows === undefined) throw notFound();
        return { status: 200, body: toPage(rows, limit, toRecord) };
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/operator/sign-ins',
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: 'listAllSignIns',
      summary: 'List sign-ins of everyone, failed and successful, newest first',
      description: `${kept} Includes e-mails that no person has.`,
      query: Type.Object({
        email: Type.Optional(
          Type.String({ maxLength: longestEmail, description: 'With this e-mail', examples: ['you@example.com'] }),
        ),
        address: Type.Optional(
          Type.String({
            maxLength: 64,
            description: 'From this address',
            pattern: '^[0-9A-Fa-f:.]*$',
            expected: 'an IP address',
            examples: ['203.0.113.9'],
          }),
        ),
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of sign-ins', schema: pageSchema(operatedSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const { email, address } = call.query;
        const filter = { email: email === undefined ? undefined : requireEmail(email), address };
        const rows = await listSignIns(database, filter, { limit: limit + 1, after });
        return { status: 200, body: toPage(rows, limit, toOperated) };
      },
    }),
  ];
}

function toRecord({ id, createdAtMs, address, way, outcome }: SignInRow): SignInRecord {
  return { id, time: toTimestamp(createdAtMs), address, way, outcome };
}

function toOperated(row: SignInRow): OperatedSignIn {
  return { ...toRecord(row), email: row.email, person_id: row.personId };
}
