// Tests: test/contract/templates.test.ts
import type { CountryTemplate, SendingRights } from '../../http/sending-rights.ts';
import { routedCountryOf } from '../../messages/numbers/phone-number.ts';
import { measure, textProblem } from '../../messages/text/text.ts';

export const longestTemplate = 320;
const longestCode = '0'.repeat(10);
const mostMinutes = 10;

/** Fills in one pass: a code has no braces, and a template only these. */
export function fillTemplate(text: string, code: string, minutes: number): string {
  return text.replace(/\{\{(code|minutes)\}\}/g, (_, place) => (place === 'code' ? code : String(minutes)));
}

/** Why a text cannot be a template of codes (completes "text …"), or undefined. */
export function templateProblem(text: string): string | undefined {
  if (text.length > longestTemplate) return `must have at most ${longestTemplate} characters`;
  const codes = text.split('{{code}}').length - 1;
  if (codes !== 1) return `must have {{code}} once, this has it ${codes === 0 ? 'not at all' : `${codes} times`}`;
  if (/[{}]/.test(fillTemplate(text, '', 1))) return 'must have no braces but those of {{code}} and {{minutes}}';
  const longest = fillTemplate(text, longestCode, mostMinutes);
  const { count, encoding } = measure(longest);
  const problem = textProblem(longest);
  if (problem !== undefined) return problem;
  if (count > 1) return `must fit one segment with a code of ten digits, this needs ${count} (${encoding})`;
  return undefined;
}

/** The operator's template for codes to this number, as part of a template. */
export function templateFor({ templates }: SendingRights, to: string): { own?: CountryTemplate } {
  // Most applications have none, and finding a number's country takes time.
  for (const _country in templates) {
    const own = templates[routedCountryOf(to) ?? ''];
    return own === undefined ? {} : { own };
  }
  return {};
}
