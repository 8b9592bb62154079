import { createBoundedMap } from '../platform/bounded-map.ts';
import { type Clock, minuteMs } from '../platform/clock.ts';
import type { LocalWindows } from './windows.ts';

/** Between an address and the fingerprint of a credential. No address contains it. */
const between = '#';
/** Credentials that are remembered. One that is forgotten charges its address again. */
const most = 50_000;

/** The key of an unknown credential at an address. */
export function credentialKey(addressKey: string, fingerprint: string): string {
  return `${addressKey}${between}${fingerprint}`;
}

/**
 * Windows of addresses in which a credential charges its address once a minute, for any number of requests and in
 * whichever process of the node. Else a caller's first burst with a new token would be refused by its address.
 */
export function chargeOncePerCredential(windows: LocalWindows, clock: Clock): LocalWindows {
  const chargedAtMs = createBoundedMap<string, number>(most, { clock, unusedMs: minuteMs });
  return {
    get size() {
      return windows.size;
    },
    decide(key, limits, informedAtMs) {
      const end = key.indexOf(between);
      if (end === -1) return windows.decide(key, limits, informedAtMs);
      const address = key.slice(0, end);
      const nowMs = clock.steadyMs();
      const charged = chargedAtMs.get(key);
      if (charged !== undefined && nowMs - charged < minuteMs)
        return { ...windows.peek(address, limits), admitted: true };
      const decision = windows.decide(address, limits, informedAtMs);
      if (decision.admitted) chargedAtMs.set(key, nowMs);
      return decision;
    },
    peek: windows.peek,
    giveBack: windows.giveBack,
  };
}
