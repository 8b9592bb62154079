// Tests: test/contract/verifications.test.ts
import { Type } from 'typebox';
import { nullable } from '../../http/list-page.ts';
import { channelExpected, channelNames, rightChannel, type SendingChannel } from '../../messages/channel.ts';
import type { StartClient } from '../../messages/client-scope.ts';
import {
  longestNumber,
  numberPattern,
  numberProblem,
  recipientForm,
  rightNumber,
} from '../../messages/numbers/phone-number.ts';
import { referenceProblem, storablePattern } from '../../messages/reference.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { paymentProblems, paymentToConfirm } from '../assurance/payment.ts';
import { fallbackProblems, fallbackSchema, unsupportedSteps } from '../fallback/rules.ts';
import {
  androidHashProblem,
  domainProblem,
  embeddedProblem,
  rightDomain,
  rightHash,
  shownAutofill,
} from '../texts/autofill.ts';
import { localePattern, localeProblem, longestLocale } from '../texts/translations.ts';
import type { VerificationTemplate } from '../texts/verification-text.ts';
import { longestTtlSeconds } from '../verification.ts';

export const codePattern = '^[0-9]{4,10}$';
export const codeForm = new RegExp(codePattern);
const rightCode = '4 to 10 digits, as a string';

const longestOfClient = 512;
/** Any text, because applications identify people in their own ways. */
const ofClient = (about: string, example: string) => ({
  type: ['string', 'null'],
  maxLength: longestOfClient,
  expected: `text of at most ${longestOfClient} characters`,
  examples: [example],
  description: about,
});
const clientSchema = Type.Unsafe<StartClient | null>({
  title: 'StartClient',
  type: ['object', 'null'],
  properties: {
    ip: ofClient('The IP address of the person', '203.0.113.7'),
    user_agent: ofClient('The user agent of their browser or app', 'Mozilla/5.0'),
    device_id: ofClient('Your id of their device', 'd-81f2'),
  },
  description: 'Who requested the code. Only the guard uses it, as keyed hashes, and forgets it after 24 hours.',
});

export type StartRules = ReturnType<typeof createStartRules>;

const isOneOf = (names: readonly string[], name: string) => names.includes(name);

/**
 * Rules for a request to start: the schema checks types, the functions the rest, and the caller sees all bad fields at
 * once.
 */
export function createStartRules(
  environment: 'sandbox' | 'production',
  workingChannels: () => readonly SendingChannel[],
) {
  const checkNumber = ({ to }: Record<string, unknown>): FieldProblem[] => {
    const problem = typeof to === 'string' ? numberProblem(to, environment) : undefined;
    return problem === undefined ? [] : [{ field: 'to', message: problem }];
  };

  function check(body: Record<string, unknown>): FieldProblem[] {
    const problems = checkNumber(body);
    const add = (field: string, problem: string | undefined) => {
      if (problem !== undefined) problems.push({ field, message: problem });
    };
    const { locale, autofill, reference, code, code_length } = body;
    if (typeof code === 'string' && codeForm.test(code) && typeof code_length === 'number')
      add('code_length', code_length === code.length ? undefined : `must be the length of code (${code.length})`);
    if (typeof reference === 'string') add('reference', referenceProblem(reference));
    if (typeof locale === 'string') add('locale', localeProblem(locale));
    if (typeof autofill === 'object' && autofill !== null) {
      const { domain, android_hash, embedded_in } = autofill as Record<string, unknown>;
      if ((domain === undefined) === (android_hash === undefined))
        add('autofill', 'must have either domain or android_hash');
      else if (embedded_in != null && typeof domain !== 'string')
        add('autofill.embedded_in', 'needs domain: the host of the page in the frame');
      else if (embedded_in != null && typeof embedded_in !== 'string')
        add('autofill.embedded_in', `must be ${rightDomain}`);
      else if (typeof embedded_in === 'string' && typeof domain === 'string' && domainProblem(domain) === undefined)
        add('autofill.embedded_in', embeddedProblem(embedded_in, domain));
      else if (domain !== undefined)
        add('autofill.domain', typeof domain === 'string' ? domainProblem(domain) : `must be ${rightDomain}`);
      else
        add(
          'autofill.android_hash',
          typeof android_hash === 'string' ? androidHashProblem(android_hash) : `must be ${rightHash}`,
        );
    }
    problems.push(...paymentProblems(body.payment));
    if (body.channel === 'inbound' && code != null) add('code', 'must be absent: the person sends a text, and no code');
    if (body.payment != null && code != null)
      add('payment', 'cannot be combined with code: a payment needs a code of ours');
    for (const { field, message } of fallbackProblems(body.fallback, body.channel)) add(field, message);
    // A bad channel alone is UNSUPPORTED_CHANNEL; among other bad fields it is one more field problem.
    const { channel } = body;
    const working = workingChannels();
    const named = environment === 'sandbox' ? [...working, 'inbound'] : working;
    if (problems.length > 0 && typeof channel === 'string' && channel !== 'inbound' && !isOneOf(working, channel))
      add('channel', channelExpected(named));
    if (problems.length > 0) problems.push(...unsupportedSteps(body.fallback, working));
    return problems;
  }

  const to = Type.String({
    maxLength: longestNumber,
    expected: rightNumber,
    shownPattern: numberPattern,
    examples: ['+447700900123'],
    description: `Mobile number: ${recipientForm(environment)}`,
  });

  return {
    to,
    checkNumber,
    schema: Type.Object(
      {
        to,
        channel: Type.String({
          maxLength: 1024,
          expected: rightChannel(channelNames),
          shown: { enum: channelNames },
          examples: ['sms'],
          description:
            'How the code is sent; with inbound the person sends a text instead. Another channel continues a pending verification at once, with the same code.',
        }),
        reference: Type.Optional(
          nullable(
            Type.String({
              maxLength: 128,
              shown: { pattern: storablePattern },
              description: 'Your own reference for the verification',
            }),
          ),
        ),
        locale: Type.Optional(
          nullable(
            Type.String({
              maxLength: longestLocale,
              shown: { pattern: localePattern },
              description: 'Language of the text: a BCP 47 tag, like de or pt-BR',
            }),
          ),
        ),
        // Without a default: a caller who gives another length than that of the code gets a 400.
        code_length: Type.Optional(
          Type.Integer({
            minimum: 4,
            maximum: 10,
            description: 'Digits of the code (default: 6, or those of code)',
            expected: 'a whole number from 4 to 10',
          }),
        ),
        code: Type.Optional(
          nullable(
            Type.String({
              maxLength: 10,
              pattern: codePattern,
              expected: rightCode,
              examples: ['482913'],
              description:
                'A code that you made and check yourself or here. Another code replaces a pending one and is sent at once; the same code is sent again after 60 seconds.',
            }),
          ),
        ),
        ttl_seconds: Type.Integer({
          minimum: 60,
          maximum: longestTtlSeconds,
          default: longestTtlSeconds,
          description: 'How long the code works',
          expected: `a whole number of seconds from 60 to ${longestTtlSeconds}`,
        }),
        autofill: Type.Optional(
          Type.Unsafe<VerificationTemplate['autofill']>({
            title: 'Autofill',
            type: ['object', 'null'],
            shown: shownAutofill,
            examples: [{ domain: 'example.com' }],
            description:
              '{"domain"} for WebOTP, with "embedded_in" in a frame, or {"android_hash"} for the SMS Retriever',
          }),
        ),
        client: Type.Optional(clientSchema),
        payment: paymentToConfirm,
        fallback: fallbackSchema,
      },
      { title: 'VerificationToStart', check },
    ),
    explainSchema: Type.Object({ to }, { title: 'NumberToExplain', check: checkNumber }),
  };
}
