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
  /** Where callers are counted: each is told once. */
  windows: RegistrationWindows;
  meterOf: (caller: CallingApplication) => Meter;
}

const endOf = ({ expiresAtMs }: KnownKey) => expiresAtMs ?? Number.POSITIVE_INFINITY;

/** The edge's question "whose is this key?", answered by the registry. */
export function findByKey(
  { apiKeys, directory, feed }: Registry,
  lastUsed: LastUsed,
  options: FindOptions,
): FindCaller {
  const { clock } = options;
  return {
    isWellFormed: apiKeys.isWellFormed,
    // Its form has a checksum in it.
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

/** The edge's question "whose is this token?", answered by the identity provider. */
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

/** What the keeper of a kind of credential knows of it. */
interface Keeper<Known> {
  remembered(text: string): Known | null | undefined;
  lookUp(text: string): Promise<Known | null>;
  /** Null for one that opens nothing any more. */
  foundAs(known: Known): Found | null;
  /** When it ends by itself, if nothing changes before. */
  endsAtMs(known: Known): number;
  noteUse(known: Known): void;
}

/** A credential that was found to be good. It is as long as nothing at all has changed, and its time is not over. */
interface Met<Known> {
  text: string;
  known: Known;
  found: Found;
  generation: number;
  endsAtMs: number;
  notedMs: number;
}

/** As many as the registry remembers. */
const mostMet = 200_000;
/** When a credential was last used is for people to look at: it need not be noted more often. */
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

  /** Asks its keeper, who goes through all that it depends on. */
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
    // What is looked up is remembered.
    lookUp: async (text) => use(await keeper.lookUp(ownCopy(text))),
  };
}

/** A token is found by the end of its signature: to look at all of it is for the comparison, which is quicker. */
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
