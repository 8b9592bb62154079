import type { Api } from '../http/route.ts';
import { type BoundedMap, createBoundedMap } from '../platform/bounded-map.ts';
import type { PlanLimits, PlanName, Plans } from '../platform/config.ts';
import type { Database } from '../platform/database.ts';
import type { ApiKeys } from './api-key.ts';
import type { Change, ChangeFeed } from './change-feed.ts';
import type { StoredSecret } from './oauth-client.ts';

/** What the edge needs to know of a caller: read once, cached until it changes. */
export interface KnownApplication {
  id: string;
  name: string;
  registrations: Partial<Record<Api, KnownRegistration>>;
  client: { id: string; credentialVersion: number; secrets: StoredSecret[] } | undefined;
}

/** An approved registration. Pending and rejected ones are left out. */
export interface KnownRegistration {
  id: string;
  plan: PlanName;
  limits: PlanLimits;
}

export interface KnownKey {
  id: string;
  expiresAtMs: number | null;
  application: KnownApplication;
}

export interface Directory {
  /**
   * The cached owner of a key; null for a key known not to exist; undefined for "look it up". Null stays valid for
   * ever, even without trust: keys are random, and none is issued twice.
   */
  rememberedKey(key: string): KnownKey | null | undefined;
  /** Whether the key existed at the last lookup. */
  keyWasGood(key: string): boolean;
  lookUpKey(key: string): Promise<KnownKey | null>;
  rememberedClient(clientId: string): KnownApplication | null | undefined;
  lookUpClient(clientId: string): Promise<KnownApplication | null>;
  /** Whether this object is still the current state of its application. */
  isCurrent(application: KnownApplication): boolean;
  /** For the change feed. */
  forget(change: Change): void;
  forgetAll(): void;
  readonly size: number;
}

interface DirectoryOptions {
  database: Database;
  apiKeys: ApiKeys;
  plans: Plans;
  /** A function, because the feed and the directory need each other. */
  feed: () => ChangeFeed;
  maxRemembered?: number;
}

export function createDirectory({
  database,
  apiKeys,
  plans,
  feed,
  maxRemembered = 200_000,
}: DirectoryOptions): Directory {
  const keys = createBoundedMap<string, KnownKey | null>(maxRemembered);
  const clients = createBoundedMap<string, KnownApplication | null>(maxRemembered);
  // One object per application, shared by all its cache entries. An entry that holds another object is outdated, so one
  // deletion (by a change, or for lack of room) invalidates all of them.
  const applications = createBoundedMap<string, KnownApplication>(maxRemembered);

  function isCurrent(application: KnownApplication): boolean {
    return feed().isTrusted() && applications.get(application.id) === application;
  }

  function remembered<Value>(
    map: BoundedMap<string, Value | null>,
    text: string,
    of: (value: Value) => KnownApplication,
  ) {
    const value = map.get(text);
    if (value === undefined || value === null) return value;
    return isCurrent(of(value)) ? value : undefined;
  }

  /**
   * Reads the database and caches the result, unless something changed meanwhile: a state read before a change must not
   * be cached after it.
   */
  async function lookUp<Value>(
    map: BoundedMap<string, Value | null>,
    text: string,
    read: () => Promise<Value | null>,
    of: (value: Value) => KnownApplication,
  ): Promise<Value | null> {
    const { generation } = feed();
    const value = await read();
    if (feed().generation !== generation) return value;
    map.set(text, value);
    if (value !== null) applications.set(of(value).id, of(value));
    return value;
  }

  function toApplication(row: ApplicationRow): KnownApplication {
    const shared = applications.get(row.applicationId);
    if (shared !== undefined && isCurrent(shared)) return shared;
    const registrations: KnownApplication['registrations'] = {};
    for (const { id, api, plan } of row.registrations) registrations[api] = { id, plan, limits: plans[plan] };
    const client =
      row.clientId === null
        ? undefined
        : { id: row.clientId, credentialVersion: row.credentialVersion ?? 0, secrets: row.secrets.map(toSecret) };
    return { id: row.applicationId, name: row.name, registrations, client };
  }

  async function readKey(key: string): Promise<KnownKey | null> {
    const { rows } = await database.query<ApplicationRow & { keyId: string; keyExpiresAtMs: number | null }>(
      selectByKey,
      [apiKeys.hashes(key)],
    );
    const row = rows[0];
    return row === undefined
      ? null
      : { id: row.keyId, expiresAtMs: row.keyExpiresAtMs, application: toApplication(row) };
  }

  async function readClient(clientId: string): Promise<KnownApplication | null> {
    const { rows } = await database.query<ApplicationRow>(selectByClient, [clientId]);
    return rows[0] === undefined ? null : toApplication(rows[0]);
  }

  const ofKey = (key: KnownKey) => key.application;
  const ofClient = (application: KnownApplication) => application;

  return {
    rememberedKey: (key) => remembered(keys, key, ofKey),
    keyWasGood: (key) => (keys.get(key) ?? null) !== null,
    lookUpKey: (key) => lookUp(keys, key, () => readKey(key), ofKey),
    rememberedClient: (clientId) => remembered(clients, clientId, ofClient),
    lookUpClient: (clientId) => lookUp(clients, clientId, () => readClient(clientId), ofClient),
    isCurrent,
    forget: ({ applicationId }) => applications.delete(applicationId),
    forgetAll() {
      keys.clear();
      clients.clear();
      applications.clear();
    },
    get size() {
      return keys.size + clients.size + applications.size;
    },
  };
}

interface ApplicationRow {
  applicationId: string;
  name: string;
  registrations: { id: string; api: Api; plan: PlanName }[];
  clientId: string | null;
  credentialVersion: number | null;
  secrets: { id: string; hash: string; ring_version: number; expires_at_ms: number | null }[];
}

function toSecret(row: ApplicationRow['secrets'][number]): StoredSecret {
  return {
    id: row.id,
    hash: Buffer.from(row.hash, 'hex'),
    ringVersion: row.ring_version,
    expiresAtMs: row.expires_at_ms,
  };
}

const applicationColumns = `a.id as "applicationId", a.name,
  coalesce((select json_agg(json_build_object('id', r.id, 'api', r.api, 'plan', r.plan))
    from registration r where r.application_id = a.id and r.status = 'approved'), '[]') as registrations,
  c.id as "clientId", c.credential_version as "credentialVersion",
  coalesce((select json_agg(json_build_object('id', s.id, 'hash', encode(s.hash, 'hex'), 'ring_version', s.ring_version,
      'expires_at_ms', floor(extract(epoch from s.expires_at) * 1000)))
    from client_secret s where s.client_id = c.id), '[]') as secrets`;

const selectByKey = {
  name: 'select-application-by-key',
  text: `select k.id as "keyId", k.expires_at as "keyExpiresAtMs", ${applicationColumns}
    from api_key k join application a on a.id = k.application_id left join oauth_client c on c.application_id = a.id
    where k.hash = any($1)`,
};

const selectByClient = {
  name: 'select-application-by-client',
  text: `select ${applicationColumns}
    from oauth_client c join application a on a.id = c.application_id where c.id = $1`,
};
