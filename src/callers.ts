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
  function toFound(key: KnownKey | null): Found | null {
    if (key === null || (key.expiresAtMs !== null && key.expiresAtMs <= clock.nowMs())) return null;
    const found = asCaller(key.application, 'sms', undefined);
    if (found !== null) lastUsed.note(key.id);
    return found;
  }
  return finder(
    apiKeys.isWellFormed,
    directory.rememberedKey,
    directory.keyWasGood,
    createSharedLookup(feed, clock, directory.lookUpKey),
    toFound,
  );
}

/** The edge's question "whose is this token?", answered by the identity provider. */
export function findByToken(verifier: TokenVerifier): FindCaller {
  const toFound = (verified: VerifiedToken | null) =>
    verified === null ? null : asCaller(verified.application, verified.token.api, verified.token.scopes);
  return finder(isTokenShaped, verifier.remembered, verifier.wasGood, verifier.look, toFound);
}

function finder<Known>(
  isWellFormed: (text: string) => boolean,
  remembered: (text: string) => Known | null | undefined,
  wasGood: (text: string) => boolean,
  lookUp: (text: string) => Promise<Known | null>,
  toFound: (known: Known | null) => Found | null,
): FindCaller {
  return {
    isWellFormed,
    remembered(text) {
      const known = remembered(text);
      return known === undefined ? undefined : toFound(known);
    },
    wasGood,
    // What is looked up is remembered.
    lookUp: async (text) => toFound(await lookUp(ownCopy(text))),
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
