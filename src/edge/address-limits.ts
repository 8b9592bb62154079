import type { Arrival, LimitDecision, Limits } from '../http/admission.ts';
import { fingerprint } from '../platform/crypto/secrets.ts';
import type { OwnedText } from '../platform/owned-text.ts';
import { addressKey } from './address-key.ts';
import { credentialKey } from './credential-charges.ts';
import type { Windows } from './windows.ts';

/** The limits of addresses, for callers that are not known. */
export interface AddressLimits {
  charge(arrival: Arrival): LimitDecision | Promise<LimitDecision>;
  /** Charges an unknown credential once, even if many requests with it arrive meanwhile. */
  chargeCredential(arrival: Arrival, credential: OwnedText): LimitDecision | Promise<LimitDecision>;
  /** The state of an address. Charges nothing. */
  peek(address: OwnedText): LimitDecision | Promise<LimitDecision>;
}

export function createAddressLimits(windows: Windows, limits: Limits): AddressLimits {
  return {
    charge: ({ address, informedAtMs }) => windows.decide(addressKey(address), limits, informedAtMs),
    chargeCredential: ({ address, informedAtMs }, credential) =>
      windows.decide(credentialKey(addressKey(address), fingerprint(credential)), limits, informedAtMs),
    peek: (address) => windows.peek(addressKey(address), limits),
  };
}
