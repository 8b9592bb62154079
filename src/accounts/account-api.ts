// Tests: test/contract/portal-accounts.test.ts
import { type Static, Type } from 'typebox';
import { nullable } from '../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../http/route.ts';
import {
  accountSchema,
  createSignInReply,
  emailSchema,
  exampleChallenge,
  linkToken,
  newPassword,
  readAccount,
  secondFactorCode,
  signInAnswers,
} from './account-record.ts';
import type { Audit } from './audit/audit.ts';
import { longestEmail } from './people/email.ts';
import type { Owner, PersonService } from './person-service.ts';
import { challengeLength } from './sign-in/challenge.ts';
import type { MadeLink } from './sign-in/one-time-links.ts';
import type { SsoService } from './sso/service.ts';

const shownLinkSchema = Type.Object(
  {
    email: Type.String({ description: 'The person whose password it sets and whose sessions it ends' }),
    makes_operator: Type.Boolean(),
    removes_second_factor: Type.Boolean(),
  },
  { title: 'ShownPasswordReset' },
);
export type ShownPasswordReset = Static<typeof shownLinkSchema>;

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
