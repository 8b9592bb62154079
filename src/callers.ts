import type { FindCaller, Found } from './edge/find-caller.ts';
import type { Api } from './http/route.ts';
import { isTokenShaped } from './identity/access-token.ts';
import type { TokenVerifier, VerifiedToken } from './identity/token-verifier.ts';
import type { Clock } from './platform/clock.ts';
import { ownCopy } from './platform/own-copy.ts';
import type { KnownApplication, KnownKey } from './registry/directory.ts';
import type { LastUsed } from './registry/last-used.ts';
import type { Registry } from './registry/registry.ts';
import { createSharedLookup } from './registry/shared-lookup.ts';

/** The edge's question "whose is this key?", answered by the registry. */
export function findByKey({ apiKeys, directory, feed }: Registry, lastUsed: LastUsed, clock: Clock): FindCaller {
  const callerOf = remember((key: KnownKey) => asCaller(key.application, 'sms', undefined));
  function toFound(key: KnownKey | null): Found | null {
    if (key === null || (key.expiresAtMs !== null && key.expiresAtMs <= clock.nowMs())) return null;
    const found = callerOf(key);
    if (found !== null) lastUsed.note(key.id);
    return found;
  }
  return {
    isWellFormed: apiKeys.isWellFormed,
    // Its form has a checksum in it.
    isPlausible: () => true,
    wasGood: directory.keyWasGood,
    ...finder(directory.rememberedKey, createSharedLookup(feed, clock, directory.lookUpKey), toFound),
  };
}

/** The edge's question "whose is this token?", answered by the identity provider. */
export function findByToken(verifier: TokenVerifier): FindCaller {
  const callerOf = remember(({ application, token }: VerifiedToken) => asCaller(application, token.api, token.scopes));
  const toFound = (verified: VerifiedToken | null) => (verified === null ? null : callerOf(verified));
  const { isPlausible, wasGood, remembered, look } = verifier;
  return { isWellFormed: isTokenShaped, isPlausible, wasGood, ...finder(remembered, look, toFound) };
}

function finder<Known>(
  remembered: (text: string) => Known | null | undefined,
  lookUp: (text: string) => Promise<Known | null>,
  toFound: (known: Known | null) => Found | null,
): Pick<FindCaller, 'remembered' | 'lookUp'> {
  return {
    remembered(text) {
      const known = remembered(text);
      return known === undefined ? undefined : toFound(known);
    },
    // What is looked up is remembered.
    lookUp: async (text) => toFound(await lookUp(ownCopy(text))),
  };
}

/** What is known of a credential never changes: after a change, something else is known of it. */
function remember<Known extends object>(read: (known: Known) => Found | null): (known: Known) => Found | null {
  const founds = new WeakMap<Known, Found | null>();
  return (known) => {
    let found = founds.get(known);
    if (found === undefined) {
      found = read(known);
      founds.set(known, found);
    }
    return found;
  };
}

function asCaller(application: KnownApplication, api: Api, scopes: string[] | undefined): Found | null {
  const registration = application.registrations[api];
  if (registration === undefined) return null;
  const caller = {
    kind: 'application',
    applicationId: application.id,
    applicationName: application.name,
    registrationId: registration.id,
    api,
  } as const;
  return { caller, limits: registration.limits, scopes };
}
