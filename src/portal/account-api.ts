import { type Static, Type } from 'typebox';
import { recordId } from '../http/list-page.ts';
import { type Call, type Route, requireDeveloper, route } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import { notFound } from '../platform/errors.ts';
import type { DeveloperService } from './developer-service.ts';
import { emailPattern, longestEmail } from './email.ts';
import type { Account } from './portal-store.ts';
import type { SignedIn } from './sign-in.ts';

const email = Type.String({
  maxLength: longestEmail,
  pattern: emailPattern,
  expected: 'an email address, like you@example.com',
});
const password = Type.String({
  maxLength: 1024,
  description: 'At least 8 characters; a sentence of 15 or more is better',
});
const credentials = Type.Object({ email, password }, { title: 'AccountToCreate' });

const accountSchema = Type.Object(
  {
    id: recordId('acc'),
    email: Type.String(),
    operator: Type.Boolean({ description: 'Whether it may call the routes of operators' }),
    created_at: Type.String(),
  },
  { title: 'Account' },
);
export type AccountRecord = Static<typeof accountSchema>;

export function createAccountRoutes(developers: DeveloperService): Route[] {
  const tag = 'Developer portal: account';
  return [
    route({
      method: 'POST',
      path: '/portal/v1/accounts',
      auth: { kind: 'visitor' },
      tag,
      operationId: 'signUp',
      summary: 'Sign up',
      body: credentials,
      answers: { 201: { description: 'The account, signed in', schema: accountSchema, headers: ['Set-Cookie'] } },
      refuses: { ALREADY_EXISTS: 'The email has an account' },
      handler: async ({ body, address }) => signedIn(await developers.signUp(body.email, body.password, address)),
    }),
    route({
      method: 'POST',
      path: '/portal/v1/sessions',
      auth: { kind: 'visitor' },
      tag,
      operationId: 'signIn',
      summary: 'Sign in',
      body: Type.Object({
        email: Type.String({ maxLength: longestEmail }),
        password: Type.String({ maxLength: 1024 }),
      }),
      answers: { 201: { description: 'The account, signed in', schema: accountSchema, headers: ['Set-Cookie'] } },
      refuses: { UNAUTHENTICATED: 'The email or the password is wrong' },
      handler: async ({ body, address }) => signedIn(await developers.signIn(body.email, body.password, address)),
    }),
    route({
      method: 'DELETE',
      path: '/portal/v1/sessions/current',
      auth: { kind: 'developer' },
      tag,
      operationId: 'signOut',
      summary: 'Sign out',
      answers: { 204: { description: 'Signed out', headers: ['Set-Cookie'] } },
      handler: async (call) => ({ status: 204, ...(await developers.signOut(requireDeveloper(call).sessionHash)) }),
    }),
    route({
      method: 'GET',
      path: '/portal/v1/me',
      auth: { kind: 'developer' },
      tag,
      operationId: 'getAccount',
      summary: 'Read the signed-in account',
      answers: { 200: { description: 'The account', schema: accountSchema } },
      handler: (call) => readMe(developers, call),
    }),
    route({
      method: 'POST',
      path: '/portal/v1/password-resets',
      auth: { kind: 'visitor' },
      tag,
      operationId: 'resetPassword',
      summary: 'Set a new password by a one-time link',
      description: 'Create the link on the machine with `npm run operator` or `npm run reset-password`.',
      body: Type.Object({
        token: Type.String({ maxLength: 128, description: 'The last part of the link', examples: ['Zk3pQ7'] }),
        password,
      }),
      answers: {
        201: {
          description: 'The account, signed in; all its other sessions have ended',
          schema: accountSchema,
          headers: ['Set-Cookie'],
        },
      },
      handler: async ({ body, address }) => signedIn(await developers.useLink(body.token, body.password, address)),
    }),
  ];
}

async function readMe(developers: DeveloperService, call: Call) {
  const account = await developers.findAccount(requireDeveloper(call).accountId);
  if (account === undefined) throw notFound();
  return { status: 200, body: toAccount(account) };
}

function signedIn({ account, cookie }: SignedIn) {
  return { status: 201, body: toAccount(account), cookie };
}

function toAccount(account: Account) {
  const { id, email, operator, createdAtMs } = account;
  return { id, email, operator, created_at: toTimestamp(createdAtMs) };
}
