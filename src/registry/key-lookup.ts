import type { KnownCaller } from '../http/admission.ts';
import { createBoundedMap } from '../platform/bounded-map.ts';
import type { Clock } from '../platform/clock.ts';
import type { ApiKeys } from './api-key.ts';
import type { ChangeFeed } from './change-feed.ts';
import { createCredentialCache, type Finding } from './credential-cache.ts';
import { callerOf, type Directory } from './directory.ts';
import type { LastUsed } from './last-used.ts';

export interface KeyLookupOptions {
  apiKeys: ApiKeys;
  directory: Directory;
  feed: ChangeFeed;
  clock: Clock;
  lastUsed: Pick<LastUsed, 'note'>;
  /** Keys to remember. */
  most?: number;
}

interface KnownKey extends KnownCaller {
  keyId: string;
}

export type KeyLookup = ReturnType<typeof createKeyLookup>;

/** Finds the caller of an API key. */
export function createKeyLookup(options: KeyLookupOptions) {
  const { apiKeys, directory, feed, clock, lastUsed, most = 200_000 } = options;
  /** Suspended keys: their callers get a message that explains it. */
  const suspendedKeys = createBoundedMap<string, true>(10_000);
  const cache = createCredentialCache<KnownKey>({ read, feed, applications: directory, clock, most });

  async function read(key: string): Promise<Finding<KnownKey>> {
    const found = await directory.readKey(apiKeys.hashes(key));
    // Keys are random, and none is issued twice: an unknown key stays unknown.
    if (found === undefined) return { value: null, application: undefined, endsAtMs: Number.POSITIVE_INFINITY };
    const { keyId, suspended, expiresAtMs, application } = found;
    const known = callerOf(application, 'sms', undefined);
    const value = known === null || suspended ? null : { ...known, keyId };
    if (suspended) suspendedKeys.set(key, true);
    else suspendedKeys.delete(key);
    return { value, application, endsAtMs: expiresAtMs ?? Number.POSITIVE_INFINITY };
  }

  function noteUse<Found extends KnownKey | null | undefined>(known: Found): Found {
    if (known) lastUsed.note(known.keyId);
    return known;
  }

  return {
    isWellFormed: apiKeys.isWellFormed,
    // A key's form already contains a checksum.
    isPlausible: () => true,
    remembered: (key: string) => noteUse(cache.remembered(key)),
    wasKnown: cache.wasKnown,
    isSuspended: (key: string) => suspendedKeys.get(key) === true,
    lookUp: async (key: string) => noteUse(await cache.lookUp(key)),
    get size() {
      return cache.size;
    },
  };
}
