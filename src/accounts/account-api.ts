// Tests: test/contract/portal-accounts.test.ts
import { type Static, Type } from 'typebox';
import { nullable, recordId } from '../http/list-page.ts';
import { exampleId } from '../http/openapi/field-examples.ts';
import { type Route, requireDeveloper, route } from '../http/route.ts';
import { timestampOrNull, toTimestamp } from '../platform/clock.ts';
import { notFound } from '../platform/errors.ts';
import type { Audit } from './audit/audit.ts';
import { emailPattern, longestEmail } from './people/email.ts';
import { roleSchema } from './people/role.ts';
import type { Owner, PersonService } from './person-service.ts';
import { challengeLength } from './sign-in/challenge.ts';
import type { MadeLink } from './sign-in/one-time-links.ts';
import type { Challenged, SignedIn } from './sign-in/sign-in.ts';
import type { SsoService } from './sso/service.ts';

export const emailSchema = Type.String({
  maxLength: longestEmail,
  pattern: emailPattern,
  expected: 'an email address, like you@example.com',
});
export const newPassword = Type.String({
  maxLength: 1024,
  description: 'At least 8 characters; a sentence of 15 or more is better',
});
export const linkToken = Type.String({
  maxLength: 128,
  description: 'The last part of the link',
  examples: ['Zk3pQ7'],
});
export const secondFactorCode = Type.String({
  maxLength: 16,
  description: 'Six digits of the authenticator app, or a recovery code',
  examples: ['123456'],
});

const accountSchema = Type.Object(
  {
    id: recordId('acc'),
    email: Type.String(),
    operator: Type.Boolean({ description: 'Whether it may call the routes of operators' }),
    created_at: Type.String(),
    person_id: recordId('per'),
    role: roleSchema,
    second_factor: Type.Object({
      enabled: Type.Boolean(),
      recovery_codes_left: Type.Integer(),
      required: Type.Boolean({ description: 'Whether the service requires one of the person: it does of operators' }),
      can_set_up: Type.Boolean({
        description: 'False for an operator without one, unless a link from the machine opened this session',
      }),
      set_up_until: nullable(Type.String({ description: 'When that ends; null for all other people' })),
    }),
    has_password: Type.Boolean(),
    sso: nullable(
      Type.Object(
        {
          joined: Type.Boolean({ description: 'Whether an identity at the provider is the person' }),
          session: Type.Boolean({ description: 'Whether single sign-on opened this session' }),
        },
        { description: 'Null where the service has no single sign-on' },
      ),
    ),
    accounts: Type.Array(Type.Object({ id: recordId('acc'), name: Type.String(), role: roleSchema }), {
      description: 'The accounts that the person belongs to, the one used last first',
    }),
  },
  { title: 'Account' },
);
export type AccountRecord = Static<typeof accountSchema>;

const exampleChallenge = `${exampleId('per')}.1764590000000.${'Zk3pQ7'.repeat(7)}A`;

const challengeSchema = Type.Object(
  {
    challenge: Type.String({
      description: 'Send it with a code to `/portal/v1/sessions/second-factor` within 5 minutes',
      examples: [exampleChallenge],
    }),
  },
  { title: 'SecondFactorChallenge' },
);

export type Challenge = Static<typeof challengeSchema>;

const shownLinkSchema = Type.Object(
  {
    email: Type.String({ description: 'The person whose password it sets and whose sessions it ends' }),
    makes_operator: Type.Boolean(),
    removes_second_factor: Type.Boolean(),
  },
  { title: 'ShownPasswordReset' },
);
export type ShownPasswordReset = Static<typeof shownLinkSchema>;

/** 201: signed in. 202: the password is right, and a code of the second factor has to follow. */
export const signInAnswers = {
  201: { description: 'The account, signed in', schema: accountSchema, headers: ['Set-Cookie' as const] },
  202: { description: 'The password is right. The person has a second factor: send its code', schema: challengeSchema },
};

export function createAccountRoutes(people: PersonService, audit: Audit, sso: SsoService | undefined): Route[] {
  const tag = 'Developer portal: account';
  const byVisitor = { auth: { kind: 'visitor' }, tag } as const;
  const byPerson = { auth: { kind: 'person' }, tag } as const;
  const answerSignIn = createSignInReply(people);
  return [
    route({
      ...byVisitor,
      method: 'POST',
      path: '/portal/v1/accounts',
      operationId: 'signUp',
      summary: 'Sign up',
      body: Type.Object({ email: emailSchema, password: newPassword }, { title: 'AccountToCreate' }),
      answers: { 201: signInAnswers[201] },
      refuses: { ALREADY_EXISTS: 'The email has an account' },
      handler: async (call) => {
        const { email, password } = call.body;
        const note = audit.note<Owner>(call, ({ personId, accountId }) => ({
          act: 'account.created',
          id: accountId,
          accountId,
          personId,
        }));
        return answerSignIn(await people.signUp(email, password, call.address, note));
      },
    }),
    route({
      ...byVisitor,
      method: 'POST',
      path: '/portal/v1/sessions',
      operationId: 'signIn',
      summary: 'Sign in',
      body: Type.Object({
        email: Type.String({ maxLength: longestEmail }),
        password: Type.String({ maxLength: 1024 }),
      }),
      answers: signInAnswers,
      refuses: { UNAUTHENTICATED: 'The email or the password is wrong' },
      handler: async ({ body, address }) => answerSignIn(await people.signIn(body.email, body.password, address)),
    }),
    route({
      ...byVisitor,
      method: 'POST',
      path: '/portal/v1/sessions/second-factor',
      operationId: 'completeSignIn',
      summary: 'Sign in with the code of the second factor',
      body: Type.Object({
        challenge: Type.String({ maxLength: challengeLength, examples: [exampleChallenge] }),
        code: secondFactorCode,
      }),
      answers: { 201: signInAnswers[201] },
      refuses: { UNAUTHENTICATED: 'The challenge is not valid or has expired' },
      handler: async ({ body: { challenge, code }, address }) => {
        const complete = challenge.startsWith('sso.') && sso !== undefined ? sso.completeSignIn : people.completeSignIn;
        return answerSignIn(await complete(challenge, code, address));
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/sessions/current',
      auth: { kind: 'visitor', session: true },
      bulkhead: 'side',
      tag,
      operationId: 'getSession',
      summary: 'Read who is signed in, if anyone is',
      answers: {
        200: {
          description: 'The signed-in account, or null',
          schema: Type.Object({ account: nullable(accountSchema) }, { title: 'CurrentSession' }),
        },
      },
      handler: async ({ caller }) => {
        if (caller.kind !== 'developer') return { status: 200, body: { account: null } };
        return { status: 200, body: { account: await readAccount(people, caller) } };
      },
    }),
    route({
      ...byPerson,
      method: 'DELETE',
      path: '/portal/v1/sessions/current',
      operationId: 'signOut',
      summary: 'Sign out',
      answers: { 204: { description: 'Signed out', headers: ['Set-Cookie'] } },
      handler: async (call) => ({ status: 204, ...(await people.signOut(requireDeveloper(call).sessionHash)) }),
    }),
    route({
      ...byPerson,
      method: 'GET',
      path: '/portal/v1/me',
      operationId: 'getAccount',
      summary: 'Read the signed-in account',
      answers: { 200: { description: 'The account', schema: accountSchema } },
      handler: async (call) => ({ status: 200, body: await readAccount(people, requireDeveloper(call)) }),
    }),
    route({
      ...byVisitor,
      method: 'POST',
      path: '/portal/v1/password-resets/look',
      operationId: 'readPasswordReset',
      summary: 'Read what a one-time link will do',
      body: Type.Object({ token: linkToken }),
      answers: { 200: { description: 'What it does when it is used', schema: shownLinkSchema } },
      handler: async (call) => {
        const { email, operator, makesOperator, removesSecondFactor } = await people.readLink(call.body.token);
        return {
          status: 200,
          body: {
            email,
            makes_operator: makesOperator && !operator,
            removes_second_factor: removesSecondFactor,
          },
        };
      },
    }),
    route({
      ...byVisitor,
      method: 'POST',
      path: '/portal/v1/password-resets',
      operationId: 'resetPassword',
      summary: 'Set a new password by a one-time link',
      description: 'The command `operator` or `reset-password` prints the link, on the machine of the service.',
      body: Type.Object({ token: linkToken, password: newPassword }),
      answers: {
        201: { ...signInAnswers[201], description: 'The account, signed in; all its other sessions have ended' },
        202: { ...signInAnswers[202], description: 'The password is set. Send a code of the second factor to sign in' },
      },
      handler: async (call) => {
        const { token, password } = call.body;
        const note = audit.note<MadeLink>(call, ({ personId, makesOperator, removesSecondFactor }) => ({
          act: 'password.reset',
          id: personId,
          personId,
          details: { makes_operator: makesOperator, removes_second_factor: removesSecondFactor },
        }));
        return answerSignIn(await people.useLink(token, password, call.address, note));
      },
    }),
  ];
}

type OwnedSession = Pick<SignedIn, 'personId' | 'accountId' | 'sessionHash'>;

/** The signed-in person, or the challenge for a code. */
export function createSignInReply(people: PersonService) {
  return async function answerSignIn(outcome: SignedIn | Challenged) {
    if ('challenge' in outcome) return { status: 202, body: { challenge: outcome.challenge } };
    return { status: 201, body: await readAccount(people, outcome), cookie: outcome.cookie };
  };
}

async function readAccount(people: PersonService, session: OwnedSession): Promise<AccountRecord> {
  const { personId, accountId } = session;
  const found = await people.describe(session);
  const current = found?.memberships.find((each) => each.accountId === accountId);
  if (found === undefined || current === undefined) throw notFound();
  const { person, memberships, factor, sso } = found;
  return {
    id: accountId,
    email: person.email,
    operator: person.operator,
    created_at: toTimestamp(person.createdAtMs),
    person_id: personId,
    role: current.role,
    second_factor: {
      enabled: factor.enabled,
      recovery_codes_left: factor.recoveryCodesLeft,
      required: factor.isRequired,
      can_set_up: factor.canSetUp,
      set_up_until: timestampOrNull(factor.setUpUntilMs),
    },
    has_password: person.passwordHash !== null,
    sso,
    accounts: memberships.map((each) => ({ id: each.accountId, name: each.accountName, role: each.role })),
  };
}
