import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { Database } from '../platform/database.ts';
import { newId } from '../platform/ids.ts';
import type { KeyRing } from '../platform/keys.ts';
import type { Log } from '../platform/log.ts';
import { type ApiKeys, createApiKeys } from './api-key.ts';
import { type Change, type ChangeFeed, createChangeFeed } from './change-feed.ts';
import { createDirectory, type Directory } from './directory.ts';
import { createRegistryService, type RegistryService } from './registry-service.ts';

/** One node's registry: the state in Postgres, this node's cache of it, and the feed that keeps the cache current. */
export interface Registry {
  service: RegistryService;
  directory: Directory;
  feed: ChangeFeed;
  apiKeys: ApiKeys;
}

export interface RegistryOptions {
  database: Database;
  /** The pool for the portal's reads; by default `database`. */
  sideDatabase?: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  config: Pick<Config, 'environment' | 'plans'>;
  /** Called for every change, so that other caches can drop their entries. */
  onChange?: (change: Change) => void;
  onLost?: () => void;
  listen?: boolean;
}

export function createRegistry(options: RegistryOptions): Registry {
  const { database, sideDatabase = database, clock, keys, log, config, onChange, onLost, listen = true } = options;
  const apiKeys = createApiKeys(keys, config.environment);
  const directory = createDirectory({ database, apiKeys, plans: config.plans, feed: () => feed });
  const feed = createChangeFeed({
    database,
    clock,
    log,
    nodeId: newId('nod', clock),
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
  const service = createRegistryService({
    database: sideDatabase,
    clock,
    keys,
    apiKeys,
    feed,
    environment: config.environment,
  });
  return { service, directory, feed, apiKeys };
}
