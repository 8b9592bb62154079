import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database } from '../platform/database/database.ts';
import { newId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Config } from '../settings/settings.ts';
import { type ApiKeys, createApiKeys } from './api-key.ts';
import { type AboutNode, type Change, type ChangeFeed, createChangeFeed } from './change-feed.ts';
import { createKnownClientKeys, type KnownClientKeys } from './client-keys/known-keys.ts';
import { type ClientKeyService, createClientKeyService } from './client-keys/service.ts';
import { type CredentialCache, createCredentialCache } from './credential-cache.ts';
import { type CredentialService, createCredentialService } from './credential-service.ts';
import { createDirectory, type Directory, type KnownApplication } from './directory.ts';
import { createKeyLookup, type KeyLookup } from './key-lookup.ts';
import { createLastUsed, type LastUsed } from './last-used.ts';
import { createOwnApplications } from './own-applications.ts';
import { createPlanService, type PlanService } from './plan-service.ts';
import { createRegistryService, type RegistryService } from './registry-service.ts';
import { createSenderService, type SenderService } from './sender-service.ts';
import { createSendingService, type SendingService } from './sending-service.ts';

/** One node's registry: the state in Postgres, this node's cache of it, and the feed that keeps the cache current. */
export interface Registry {
  service: RegistryService;
  credentials: CredentialService;
  /** Public keys for `private_key_jwt`. */
  clientKeys: ClientKeyService;
  senders: SenderService;
  sending: SendingService;
  plans: PlanService;
  directory: Directory;
  /** Applications by their client id. */
  clients: CredentialCache<KnownApplication>;
  knownClientKeys: CredentialCache<KnownClientKeys>;
  keyLookup: KeyLookup;
  lastUsed: LastUsed;
  feed: ChangeFeed;
  apiKeys: ApiKeys;
}

export interface RegistryOptions {
  database: Database;
  /** The pool for the portal's reads and for lookups of credentials; by default `database`. */
  sideDatabase?: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  config: Pick<Config, 'environment' | 'plans' | 'senders'>;
  /** Called for every change, so that other caches can drop their entries. */
  onChange?: (change: Change) => void;
  onLost?: () => void;
  listen?: boolean;
  about?: AboutNode;
}

export function createRegistry(options: RegistryOptions): Registry {
  const {
    database,
    sideDatabase = database,
    clock,
    keys,
    log,
    config,
    onChange,
    onLost,
    listen = true,
    about,
  } = options;
  const apiKeys = createApiKeys(keys, config.environment);
  const directory = createDirectory({
    // Lookups hold connections for statements that are planned once: in this pool a flood of keys takes none from texts.
    database: sideDatabase,
    plans: config.plans,
    config,
    feed: () => feed,
  });
  const feed = createChangeFeed({
    database,
    clock,
    log,
    nodeId: newId('nod', clock),
    about,
    onChange(change) {
      directory.forget(change);
      onChange?.(change);
    },
    onLost() {
      directory.forgetAll();
      onLost?.();
    },
    listen,
  });
  const clients = createCredentialCache<KnownApplication>({
    async read(clientId) {
      const application = await directory.readClient(clientId);
      return { value: application ?? null, application, endsAtMs: Number.POSITIVE_INFINITY };
    },
    feed,
    applications: directory,
    clock,
    most: 200_000,
  });
  const lastUsed = createLastUsed(sideDatabase, clock, log);
  const keyLookup = createKeyLookup({ apiKeys, directory, feed, clock, lastUsed });
  const shared = { database: sideDatabase, clock, feed, environment: config.environment };
  const own = createOwnApplications(sideDatabase, feed);
  const credentials = createCredentialService({ ...shared, keys, apiKeys, own });
  const clientKeys = createClientKeyService({ ...shared, own });
  const knownClientKeys = createKnownClientKeys({ database: sideDatabase, directory, feed, clock });
  const service = createRegistryService({ ...shared, own, issueMissing: credentials.issueMissing });
  const senders = createSenderService({ ...shared, own });
  const sending = createSendingService(shared);
  const plans = createPlanService({ ...shared, plans: config.plans });
  return {
    ...{ service, credentials, clientKeys, senders, sending, plans, directory },
    ...{ clients, knownClientKeys, keyLookup, lastUsed, feed, apiKeys },
  };
}
