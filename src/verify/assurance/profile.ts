// Tests: test/contract/assurance.test.ts
import { typeOf } from '../../messages/numbers/phone-number.ts';
import { ApiError, type FieldProblem } from '../../platform/errors.ts';
import type { Config } from '../../settings/settings.ts';

/** NIST SP 800-63B-4, section 3.1.3: codes over the telephone network. docs/assurance.md lists its rules. */
export const nist = 'nist-800-63b-4';

/** Whether a profile can hold: production needs a risk check. */
export function mayAssure({ environment, risk }: Pick<Config, 'environment' | 'risk'>): boolean {
  return environment === 'sandbox' || risk !== undefined;
}

const leastDigits = 6;
/** The profile requires the public telephone network. */
const channels = ['sms', 'voice'];

/** The parts of a start that the profile's rules check. */
export interface StartToAssure {
  to: string;
  channel: string;
  /** The fallback steps. */
  fallback?: readonly { channel: string }[] | null | undefined;
  codeLength: number;
  code?: string | null | undefined;
}

/** Throws a 400 that names every rule of the profile that the start would break. */
export function requireAssured(profile: string | null, start: StartToAssure): void {
  if (profile === null) return;
  const problems: FieldProblem[] = [];
  const add = (field: string, rule: string) =>
    problems.push({ field, message: `${rule} (assurance profile ${profile})` });
  if (start.codeLength < leastDigits)
    add('code_length', `must be at least ${leastDigits}: a code has at least that many digits`);
  if (start.code != null)
    add(
      'code',
      'must be absent: the verifier makes the code at random, and counts its failures, which no new code resets',
    );
  if (!channels.includes(start.channel))
    add('channel', `must be ${channels.join(' or ')}: the code is sent over the public telephone network`);
  start.fallback?.forEach(({ channel }, index) => {
    if (!channels.includes(channel))
      add(
        `fallback.${index}.channel`,
        `must be ${channels.join(' or ')}: the code is sent over the public telephone network`,
      );
  });
  if (typeOf(start.to) === 'VOIP') add('to', 'must be the number of a phone: an Internet phone proves no device');
  if (problems.length > 0)
    throw new ApiError('INVALID_ARGUMENT', 'The assurance profile of the application refuses this start.', {
      details: problems,
    });
}
