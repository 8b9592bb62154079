import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { ChangeFeed } from '../change-feed.ts';
import { type CredentialCache, createCredentialCache } from '../credential-cache.ts';
import type { Directory, KnownApplication } from '../directory.ts';
import { readClientKeys, type StoredClientKey } from './store.ts';

export interface KnownClientKey extends Omit<StoredClientKey, 'spki'> {
  publicKey: KeyObject;
}

export interface KnownClientKeys {
  application: KnownApplication;
  keys: KnownClientKey[];
}

/** Remembers the public keys of clients that use them, so that all other lookups read nothing more. */
export function createKnownClientKeys(options: {
  database: Database;
  directory: Directory;
  feed: ChangeFeed;
  clock: Clock;
}): CredentialCache<KnownClientKeys> {
  const { database, directory, feed, clock } = options;
  return createCredentialCache<KnownClientKeys>({
    async read(clientId) {
      const endsAtMs = Number.POSITIVE_INFINITY;
      const application = await directory.readClient(clientId);
      if (application === undefined) return { value: null, application, endsAtMs };
      const stored = application.disabled ? [] : await readClientKeys(database, clientId);
      return { value: { application, keys: stored.map(toKnown) }, application, endsAtMs };
    },
    feed,
    applications: directory,
    clock,
    most: 20_000,
  });
}

function toKnown({ spki, ...stored }: StoredClientKey): KnownClientKey {
  return { ...stored, publicKey: createPublicKey({ key: spki, format: 'der', type: 'spki' }) };
}
