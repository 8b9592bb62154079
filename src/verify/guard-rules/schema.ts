import { type Static, Type } from 'typebox';
import { nullable } from '../../http/list-page.ts';
import { isCountry } from '../../messages/numbers/phone-number.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import type { GuardSettings } from '../../settings/settings.ts';

const mostCountries = 250;
const mostBlocked = 1000;
const numberTypes = [
  ...['MOBILE', 'FIXED_LINE', 'FIXED_LINE_OR_MOBILE', 'PREMIUM_RATE', 'TOLL_FREE', 'SHARED_COST', 'VOIP'],
  ...['PERSONAL_NUMBER', 'PAGER', 'UAN', 'VOICEMAIL', 'UNKNOWN'],
];

const orSettings = 'or null for that of HELIOGRAPH_GUARD';
const count = Type.Optional(
  nullable(
    Type.Integer({ minimum: 1, maximum: 1_000_000, expected: `a whole number from 1 to 1000000, ${orSettings}` }),
  ),
);

/** The guard's rules in a configuration file. A missing rule stays as it is; null restores the rule of the settings. */
export const guardRulesSchema = Type.Object(
  {
    countries: Type.Optional(
      nullable(
        Type.Array(Type.String({ maxLength: 2, expected: 'an ISO country code, like GB' }), {
          maxItems: mostCountries,
          expected: `a list of up to ${mostCountries} ISO country codes, ${orSettings}`,
        }),
      ),
    ),
    blocked: Type.Optional(
      nullable(
        Type.Array(
          Type.String({
            maxLength: 16,
            pattern: '^\\+[1-9][0-9]{0,14}$',
            expected: 'the first digits of numbers, like +4477',
          }),
          { maxItems: mostBlocked, expected: `a list of up to ${mostBlocked} beginnings of numbers, ${orSettings}` },
        ),
      ),
    ),
    per_number: count,
    per_prefix: count,
    number_types: Type.Optional(
      nullable(
        Type.Array(
          Type.String({
            maxLength: 32,
            pattern: `^(?:${numberTypes.join('|')})$`,
            expected: `one of ${numberTypes.join(', ')}`,
          }),
          { maxItems: numberTypes.length, expected: `a list of types of numbers, ${orSettings}` },
        ),
      ),
    ),
  },
  { check: checkCountries, expected: 'an object with countries, blocked, per_number, per_prefix or number_types' },
);
export type WrittenRules = Static<typeof guardRulesSchema>;

function checkCountries({ countries }: Record<string, unknown>): FieldProblem[] {
  if (!Array.isArray(countries) || countries.length > mostCountries) return [];
  return countries.flatMap((code, index) =>
    typeof code !== 'string' || isCountry(code.toUpperCase())
      ? []
      : [{ field: `countries/${index}`, message: 'must be an ISO country code, like GB' }],
  );
}

/** The rules after a file is applied: its own, and those set before that it does not name. */
export function mergedRules(before: GuardSettings, written: WrittenRules): GuardSettings {
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(written)) {
    if (value === undefined) continue;
    if (value === null) delete merged[name];
    else merged[name] = value;
  }
  return merged;
}
