// Tests: test/twilio/account.test.ts
import { type Static, Type } from 'typebox';
import type { Audit } from '../../../accounts/audit/audit.ts';
import { nullable } from '../../../http/list-page.ts';
import { exampleSid } from '../../../http/openapi/field-examples.ts';
import { type Call, type Route, requireDeveloper, route } from '../../../http/route.ts';
import { timestampOrNull, toTimestamp } from '../../../platform/clock.ts';
import type { TwilioAccount, TwilioAccounts } from '../../../twilio/account-service.ts';
import { applicationParams } from '../application-api.ts';

const path = '/portal/v1/applications/{id}/twilio';
const sid = (prefix: string, description: string) => Type.String({ description, examples: [exampleSid(prefix)] });

const accountSchema = Type.Object(
  {
    account_sid: sid('AC', "The user name for Twilio's libraries"),
    service_sid: sid('VA', 'The Verify service'),
    messaging_service_sid: sid('MG', "Stands for the application's first sender"),
    base_url: Type.String({
      description: 'The base address to set in the library',
      examples: ['http://127.0.0.1:8080/twilio'],
    }),
    tokens: Type.Array(
      Type.Object(
        { created_at: Type.String(), ends_at: nullable(Type.String({ description: 'Null for the newest' })) },
        { title: 'TwilioToken' },
      ),
      { description: 'In force now, newest first' },
    ),
  },
  { title: 'TwilioAccount' },
);
export type TwilioAccountRecord = Static<typeof accountSchema>;
const newAccountSchema = Type.Object(
  {
    ...accountSchema.properties,
    auth_token: Type.String({ description: 'Shown only once', examples: ['0123456789abcdef0123456789abcdef'] }),
  },
  { title: 'NewTwilioAccount' },
);
export type NewTwilioAccountRecord = Static<typeof newAccountSchema>;
const overlapSeconds = Type.Integer({
  minimum: 0,
  maximum: 2_592_000,
  default: 0,
  expected: 'the seconds during which the older tokens are valid too: 0 to 2592000 (30 days)',
});

function toRecord({ accountSid, serviceSid, messagingServiceSid, baseUrl, tokens }: TwilioAccount) {
  return {
    account_sid: accountSid,
    service_sid: serviceSid,
    messaging_service_sid: messagingServiceSid,
    base_url: baseUrl,
    tokens: tokens.map(({ createdAtMs, endsAtMs }) => ({
      created_at: toTimestamp(createdAtMs),
      ends_at: timestampOrNull(endsAtMs),
    })),
  };
}

const ownedBy = (call: Call<{ id: string }>) => ({
  accountId: requireDeveloper(call).accountId,
  applicationId: call.params.id,
});

/** The credentials for Twilio's libraries (section 19 of the contract). */
export function createTwilioAccountRoutes(accounts: TwilioAccounts, audit: Audit): Route[] {
  const shared = {
    auth: { kind: 'developer' },
    tag: "Developer portal: Twilio's shape",
    params: applicationParams,
  } as const;
  return [
    route({
      ...shared,
      method: 'POST',
      path,
      operationId: 'createTwilioAccount',
      summary: "Create the credentials for Twilio's libraries",
      answers: {
        201: { description: 'With the token, shown only once', schema: newAccountSchema, headers: ['Location'] },
      },
      refuses: { ALREADY_EXISTS: 'The application has them already' },
      handler: async (call) => {
        const { id } = call.params;
        const note = audit.note(call, { act: 'twilio.created', id, details: { application_id: id } });
        const { authToken, ...made } = await accounts.create(ownedBy(call), note);
        const location = `/portal/v1/applications/${id}/twilio`;
        return { status: 201, location, body: { ...toRecord(made), auth_token: authToken } };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path,
      operationId: 'getTwilioAccount',
      summary: "Read the sids for Twilio's libraries, without the token",
      answers: { 200: { description: 'The sids, and which tokens are in force', schema: accountSchema } },
      handler: async (call) => ({ status: 200, body: toRecord(await accounts.read(ownedBy(call))) }),
    }),
    route({
      ...shared,
      method: 'DELETE',
      path,
      operationId: 'deleteTwilioAccount',
      summary: "Delete the credentials for Twilio's libraries; no call is admitted after the answer",
      answers: { 204: { description: 'Deleted' } },
      handler: async (call) => {
        const { id } = call.params;
        const note = audit.note(call, { act: 'twilio.deleted', id, details: { application_id: id } });
        await accounts.remove(ownedBy(call), note);
        return { status: 204 };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${path}/tokens`,
      operationId: 'createTwilioToken',
      summary: 'Create a token; the older ones are valid too until the overlap ends',
      description: 'The newest token signs the callbacks at once.',
      body: Type.Object({ overlap_seconds: overlapSeconds }, { title: 'TwilioTokenToCreate' }),
      answers: { 201: { description: 'With the token, shown only once', schema: newAccountSchema } },
      refuses: { INCOMPATIBLE_STATE: 'The application has 5 tokens in force' },
      handler: async (call) => {
        const { id } = call.params;
        const { overlap_seconds } = call.body;
        const details = { application_id: id, overlap_seconds };
        const note = audit.note(call, { act: 'twilio.token_created', id, details });
        const { authToken, ...made } = await accounts.rotate(ownedBy(call), overlap_seconds, note);
        return { status: 201, body: { ...toRecord(made), auth_token: authToken } };
      },
    }),
  ];
}
