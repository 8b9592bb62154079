import type { GuardHold } from '../http/sending-rights.ts';
import { narrowGroupOf, wideGroupOf } from '../messages/number-prefix.ts';
import { routedCountryOf } from '../messages/phone-number.ts';
import type { KeyRing } from '../platform/keys.ts';
import { keyedHash } from '../platform/secrets.ts';

/** A number in a group that is held back. */
export interface HeldNumber {
  hold: GuardHold;
  /** Whether it is one of those that pass, so that the share of approvals can recover. */
  isSample: boolean;
}

/** One number in so many passes. */
export const sampleOf = 10;

/** The hold that a number is under. A number without one costs nothing. */
export function findHeld(
  keys: Pick<KeyRing, 'version' | 'keyFor'>,
  holds: readonly GuardHold[],
  to: string,
  nowMs: number,
): HeldNumber | undefined {
  if (holds.length === 0) return undefined;
  const prefixes = [narrowGroupOf(to), wideGroupOf(to)];
  let country: string | undefined;
  const isIn = (scope: string) => {
    if (scope.startsWith('+')) return prefixes.includes(scope);
    // To tell the country takes longer than all the rest.
    country ??= routedCountryOf(to);
    return country === scope;
  };
  const hold = holds.find(({ scope, untilMs }) => untilMs > nowMs && isIn(scope));
  return hold && { hold, isSample: isSample(keys, hold, to) };
}

/** The same number has the same answer as long as the hold lasts, and its caller cannot compute which. */
function isSample(keys: Pick<KeyRing, 'version' | 'keyFor'>, { id }: GuardHold, to: string): boolean {
  return keyedHash(keys.keyFor('conversion', keys.version), `${id} ${to}`).readUInt32BE(0) % sampleOf === 0;
}
