import { type Static, Type } from 'typebox';
import { nullable, recordId } from '../../http/list-page.ts';
import { isCountry } from '../../messages/numbers/phone-number.ts';
import { longestSender, rightSender, senderProblem, shownSender } from '../../messages/numbers/sender.ts';
import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import type { Sender } from '../../registry/sender.ts';

export const senderSchema = Type.Object(
  {
    id: recordId('snd'),
    sender: Type.String(),
    countries: Type.Array(Type.String({ examples: ['GB'] }), { description: 'ISO codes; empty for every country' }),
    status: Type.String({ examples: ['pending'], description: 'pending, approved or rejected' }),
    registration: nullable(Type.String({ description: 'Its registration id at carriers or authorities' })),
    per_second: nullable(Type.Integer({ description: 'Texts a second, over all nodes; null for no limit of its own' })),
    reason: nullable(Type.String({ description: 'Why an operator rejected it' })),
    created_at: Type.String(),
    decided_at: nullable(Type.String()),
  },
  { title: 'Sender' },
);
export type SenderRecord = Static<typeof senderSchema>;

export function toSender(sender: Sender): SenderRecord {
  const { id, countries, status, registration, perSecond, reason, createdAtMs, decidedAtMs } = sender;
  return {
    ...{ id, sender: sender.sender, countries, status, registration, per_second: perSecond, reason },
    ...{ created_at: toTimestamp(createdAtMs), decided_at: timestampOrNull(decidedAtMs) },
  };
}

const rightCountries = 'a list of up to 250 ISO country codes, like GB; empty for every country';

/** What a developer requests. */
export const senderBody = Type.Object(
  {
    sender: Type.String({
      maxLength: longestSender,
      expected: rightSender,
      shown: shownSender,
      examples: ['ACME'],
    }),
    countries: Type.Array(Type.String({ maxLength: 2, expected: 'an ISO country code, like GB' }), {
      maxItems: 250,
      default: [],
      expected: rightCountries,
    }),
  },
  { title: 'SenderToAskFor', examples: [{ sender: 'ACME', countries: ['GB'] }], check: checkSender },
);

/** What an operator decides when approving a sender. */
export const senderApproval = {
  carriers: Type.Array(Type.String({ maxLength: 32, expected: 'the name of a carrier' }), {
    maxItems: 20,
    expected: 'a list of up to 20 names of carriers; empty for all',
  }),
  registration: nullable(Type.String({ maxLength: 128 })),
  per_second: nullable(
    Type.Integer({ minimum: 1, maximum: 10_000, expected: 'a whole number from 1 to 10000, or null' }),
  ),
};

export function checkSender({ sender, countries }: Record<string, unknown>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const problem = typeof sender === 'string' ? senderProblem(sender) : undefined;
  if (problem !== undefined) problems.push({ field: 'sender', message: problem });
  if (Array.isArray(countries) && countries.length <= 250) {
    const unknown = countries.findIndex((code) => typeof code === 'string' && !isCountry(code));
    if (unknown >= 0) problems.push({ field: `countries.${unknown}`, message: 'must be an ISO country code, like GB' });
  }
  return problems;
}
