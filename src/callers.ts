import type { FindCaller, Found } from './edge/find-caller.ts';
import type { RegistrationWindows } from './edge/windows.ts';
import type { Meter } from './http/gate.ts';
import type { Api, CallingApplication } from './http/route.ts';
import { isTokenShaped } from './identity/access-token.ts';
import type { TokenVerifier, VerifiedToken } from './identity/token-verifier.ts';
import { createBoundedMap } from './platform/bounded-map.ts';
import type { Clock } from './platform/clock.ts';
import { ownCopy } from './platform/own-copy.ts';
import type { ChangeFeed } from './registry/change-feed.ts';
import type { KnownApplication, KnownKey } from './registry/directory.ts';
import type { LastUsed } from './registry/last-used.ts';
import type { Registry } from './registry/registry.ts';
import { createSharedLookup } from './registry/shared-lookup.ts';

export interface FindOptions {
  clock: Clock;
  /** Holds each registration's rate window. */
  windows: RegistrationWindows;
  meterOf: (caller: CallingApplication) => Meter;
}

const endOf = ({ expiresAtMs }: KnownKey) => expiresAtMs ?? Number.POSITIVE_INFINITY;

/** Finds the caller by API key, in the registry. */
export function findByKey(
  { apiKeys, directory, feed }: Registry,
  lastUsed: LastUsed,
  options: FindOptions,
): FindCaller {
  const { clock } = options;
  return {
    isWellFormed: apiKeys.isWellFormed,
    // Not checked here: an API key's format already contains a checksum.
    isPlausible: () => true,
    wasGood: directory.keyWasGood,
    ...finder<KnownKey>(feed, options, {
      remembered: directory.rememberedKey,
      lookUp: createSharedLookup(feed, clock, directory.lookUpKey),
      foundAs: (key) => (endOf(key) > clock.nowMs() ? asFound(key.application, 'sms', undefined, options) : null),
      endsAtMs: endOf,
      noteUse: (key) => lastUsed.note(key.id),
    }),
  };
}

/** Finds the caller by access token, at the identity provider. */
export function findByToken(verifier: TokenVerifier, feed: ChangeFeed, options: FindOptions): FindCaller {
  return {
    isWellFormed: isTokenShaped,
    isPlausible: verifier.isPlausible,
    wasGood: verifier.wasGood,
    ...finder<VerifiedToken>(feed, options, {
      remembered: verifier.remembered,
      lookUp: verifier.look,
      foundAs: ({ application, token }) => asFound(application, token.api, token.scopes, options),
      endsAtMs: verifier.endsAtMs,
      noteUse: () => {},
    }),
  };
}

/** Looks up one kind of credential. */
interface Keeper<Known> {
  remembered(text: string): Known | null | undefined;
  lookUp(text: string): Promise<Known | null>;
  /** Null when the credential is no longer valid. */
  foundAs(known: Known): Found | null;
  /** When the credential expires if nothing changes before. */
  endsAtMs(known: Known): number;
  noteUse(known: Known): void;
}

/** A credential that was found valid. Valid until any registry change, or its expiry. */
interface Met<Known> {
  text: string;
  known: Known;
  found: Found;
  generation: number;
  endsAtMs: number;
  notedMs: number;
}

/** The same number as the registry's directory. */
const mostMet = 200_000;
/** Only people read when a credential was last used, so one note a second is enough. */
const noteEveryMs = 1000;

function finder<Known>(
  feed: ChangeFeed,
  { clock }: FindOptions,
  keeper: Keeper<Known>,
): Pick<FindCaller, 'remembered' | 'lookUp'> {
  const met = createBoundedMap<string, Met<Known>>(mostMet);

  function use(known: Known | null): Found | null {
    if (known === null) return null;
    const found = keeper.foundAs(known);
    if (found !== null) keeper.noteUse(known);
    return found;
  }

  /** Asks the keeper, which checks everything the credential depends on. */
  function meet(text: string, nowMs: number): Found | null | undefined {
    const known = keeper.remembered(text);
    if (known === undefined) return undefined;
    const found = use(known);
    if (known === null || found === null) return null;
    const [own, endsAtMs] = [ownCopy(text), keeper.endsAtMs(known)];
    met.set(handleOf(own), { text: own, known, found, generation: feed.generation, endsAtMs, notedMs: nowMs });
    return found;
  }

  return {
    remembered(text) {
      const nowMs = clock.nowMs();
      const last = met.get(handleOf(text));
      const holds =
        last !== undefined && last.text === text && last.endsAtMs > nowMs && feed.isUnchanged(last.generation);
      if (!holds) return meet(text, nowMs);
      if (Math.abs(nowMs - last.notedMs) >= noteEveryMs) {
        keeper.noteUse(last.known);
        last.notedMs = nowMs;
      }
      return last.found;
    },
    // The keeper caches what it looks up.
    lookUp: async (text) => use(await keeper.lookUp(ownCopy(text))),
  };
}

/**
 * Keys tokens by the end of their signature: hashing 32 characters is cheaper than a whole token. The caller then
 * compares the full text.
 */
function handleOf(text: string): string {
  return text.length > 64 ? text.slice(-32) : text;
}

function asFound(
  application: KnownApplication,
  api: Api,
  scopes: string[] | undefined,
  { windows, meterOf }: FindOptions,
): Found | null {
  const registration = application.registrations[api];
  if (registration === undefined) return null;
  const caller = {
    kind: 'application',
    applicationId: application.id,
    applicationName: application.name,
    registrationId: registration.id,
    api,
  } as const;
  return { caller, limits: registration.limits, scopes, window: windows.of(registration.id), meter: meterOf(caller) };
}
