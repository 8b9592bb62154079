import { type Static, Type } from 'typebox';
import { nullable, recordId } from '../http/list-page.ts';
import { exampleId } from '../http/openapi/field-examples.ts';
import { timestampOrNull, toTimestamp } from '../platform/clock.ts';
import { notFound } from '../platform/errors.ts';
import { emailPattern, longestEmail } from './people/email.ts';
import { roleSchema } from './people/role.ts';
import type { PersonService } from './person-service.ts';
import type { Challenged, SignedIn } from './sign-in/sign-in.ts';

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

export const accountSchema = Type.Object(
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
      required: Type.Boolean({
        description: 'Whether the person must have a second factor: the service can require one of operators',
      }),
      can_set_up: Type.Boolean({
        description:
          'False for an operator without a second factor, unless a link made on the machine opened this session',
      }),
      set_up_until: nullable(
        Type.String({
          description: 'Until when this session can set up a second factor; null unless such a link opened it',
        }),
      ),
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

export const exampleChallenge = `${exampleId('per')}.1764590000000.${'Zk3pQ7'.repeat(7)}A`;

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

/** 201: signed in. 202: the password is right, and a code of the second factor has to follow. */
export const signInAnswers = {
  201: { description: 'The account, signed in', schema: accountSchema, headers: ['Set-Cookie' as const] },
  202: { description: 'The password is right. The person has a second factor: send its code', schema: challengeSchema },
};

type OwnedSession = Pick<SignedIn, 'personId' | 'accountId' | 'sessionHash'>;

/** The signed-in person, or the challenge for a code. */
export function createSignInReply(people: PersonService) {
  return async function answerSignIn(outcome: SignedIn | Challenged) {
    if ('challenge' in outcome) return { status: 202, body: { challenge: outcome.challenge } };
    return { status: 201, body: await readAccount(people, outcome), cookie: outcome.cookie };
  };
}

export async function readAccount(people: PersonService, session: OwnedSession): Promise<AccountRecord> {
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
