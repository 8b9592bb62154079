// Tests: test/contract/guard-conversion.test.ts
import type { GuardHold } from '../http/sending-rights.ts';
import { narrowGroupOf, wideGroupOf } from '../messages/numbers/number-prefix.ts';
import { routedCountryOf } from '../messages/numbers/phone-number.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { keyedHash } from '../platform/crypto/secrets.ts';

/** A number in a group that is held back. */
export interface HeldNumber {
  hold: GuardHold;
  /** Whether it is in the sample that passes, so that the share of approvals can recover. */
  isSample: boolean;
}

/** One in this many numbers passes: an attack may get 5 % through, and half of that is spent before it is detected. */
export const sampleOf = 50;

const countryLength = 2;

/** The facts of a start that decide whether a hold covers it. */
export interface HeldStart {
  to: string;
  /** The groups of its client. */
  clients: readonly string[];
}

/** The narrowest hold that applies to a start. Without holds it costs nothing. */
export function findHeld(
  keys: Pick<KeyRing, 'version' | 'keyFor'>,
  holds: readonly GuardHold[],
  { to, clients }: HeldStart,
  nowMs: number,
): HeldNumber | undefined {
  if (holds.length === 0) return undefined;
  const { byScope, ofCountries } = indexOf(holds);
  const lasting = (scope = '') => {
    const found = byScope.get(scope);
    return found !== undefined && found.untilMs > nowMs ? found : undefined;
  };
  let hold = lasting(narrowGroupOf(to)) ?? lasting(wideGroupOf(to));
  for (const client of clients) hold ??= lasting(client);
  // Last, because finding the country takes longer than all the rest.
  if (hold === undefined && ofCountries) hold = lasting(routedCountryOf(to));
  return hold && { hold, isSample: isSample(keys, hold, to) };
}

interface HoldIndex {
  byScope: ReadonlyMap<string, GuardHold>;
  ofCountries: boolean;
}

/** All callers of an application share one list, which a change replaces. */
const indexes = new WeakMap<readonly GuardHold[], HoldIndex>();

function indexOf(holds: readonly GuardHold[]): HoldIndex {
  let found = indexes.get(holds);
  if (found === undefined) {
    const byScope = new Map(holds.map((hold) => [hold.scope, hold]));
    found = { byScope, ofCountries: holds.some(({ scope }) => scope.length === countryLength) };
    indexes.set(holds, found);
  }
  return found;
}

/** A number has the same answer as long as the hold lasts, and a caller cannot compute it. */
function isSample(keys: Pick<KeyRing, 'version' | 'keyFor'>, { id }: GuardHold, to: string): boolean {
  return keyedHash(keys.keyFor('conversion', keys.version), `${id} ${to}`).readUInt32BE(0) % sampleOf === 0;
}
