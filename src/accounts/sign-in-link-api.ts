// Tests: test/contract/sign-in-link.test.ts
import { Type } from 'typebox';
import { type Route, route } from '../http/route.ts';
import { createSignInReply, linkToken, signInAnswers } from './account-record.ts';
import type { PersonService } from './person-service.ts';

/** Sandbox only: there the first start prints a link. */
export function createSignInLinkRoutes(people: PersonService): Route[] {
  const answerSignIn = createSignInReply(people);
  return [
    route({
      method: 'POST',
      path: '/portal/v1/sessions/link',
      auth: { kind: 'visitor' },
      tag: 'Developer portal: account',
      operationId: 'signInByLink',
      summary: 'Sign in by a one-time link',
      description:
        'The first start of a sandbox prints the link, for its demo account. It works once, within 15 minutes. In production there is none.',
      body: Type.Object({ token: linkToken }),
      answers: { 201: signInAnswers[201] },
      handler: async ({ body, address }) => answerSignIn(await people.useSignInLink(body.token, address)),
    }),
  ];
}
