import { type KnownCaller, windowKeyOf } from '../http/admission.ts';
import type { Api, CallingApplication } from '../http/route.ts';
import type { SendingRights } from '../http/sending-rights.ts';
import { createBoundedMap } from '../platform/bounded-map.ts';
import type { Database, Statement } from '../platform/database/database.ts';
import type { PlanLimits, PlanName, Plans } from '../settings/settings.ts';
import type { Change, ChangeFeed } from './change-feed.ts';
import type { StoredSecret } from './oauth-client.ts';
import type { ChangedPlans } from './plan-store.ts';
import { jsonRows, type RightsConfig, type RightsRow, rightsColumns, toRights } from './sending-rights.ts';

/** What the edge needs to know of a caller: read once, cached until it changes. */
export interface KnownApplication {
  id: string;
  name: string;
  /** Whether its account is disabled: then it has no registrations, and its credentials open nothing. */
  disabled: boolean;
  /** Whether it may send texts of high priority. */
  highPriority: boolean;
  /** Senders, templates and the daily limit. */
  rights: SendingRights;
  registrations: Partial<Record<Api, KnownRegistration>>;
  client: { id: string; credentialVersion: number; secrets: StoredSecret[] } | undefined;
}

/** An approved registration. Pending and rejected ones are left out. */
export interface KnownRegistration {
  id: string;
  limits: PlanLimits;
}

/** Names a change of all applications in the feed: of a plan. */
export const allApplications = 'all';

/** Reads applications from Postgres, and keeps one object for each. */
export interface Directory {
  /** The owner of an API key, found by its hashes. */
  readKey(hashes: Buffer[]): Promise<FoundKey | undefined>;
  readClient(clientId: string): Promise<KnownApplication | undefined>;
  readApplication(id: string): Promise<KnownApplication | undefined>;
  /** An application of an account. */
  readOwn(accountId: string, id: string): Promise<KnownApplication | undefined>;
  /** Whether this object is the current state of its application, as far as this node can know. */
  isCurrent(application: KnownApplication): boolean;
  /** Makes this object the one for its application. */
  keep(application: KnownApplication): void;
  /** The change feed calls this: every credential that refers to the old object is then outdated. */
  forget(change: Change): void;
  forgetAll(): void;
  readonly size: number;
}

export interface FoundKey {
  keyId: string;
  /** Suspended by a restore: it opens nothing until it is enabled. */
  suspended: boolean;
  expiresAtMs: number | null;
  application: KnownApplication;
}

interface DirectoryOptions {
  database: Database;
  /** The plans of the settings, which apply until an operator changes them. */
  plans: Plans;
  config: RightsConfig;
  /** A function, because the feed and the directory need each other. */
  feed: () => Pick<ChangeFeed, 'isTrusted'>;
  /** Applications to remember. */
  most?: number;
}

export function createDirectory(options: DirectoryOptions): Directory {
  const { database, plans, config, feed, most = 200_000 } = options;
  // A full map drops the least used applications. Their credentials then need a new lookup.
  const applications = createBoundedMap<string, KnownApplication>(most);

  function isCurrent(application: KnownApplication): boolean {
    return feed().isTrusted() && applications.get(application.id) === application;
  }

  function limitsOf(plan: PlanName, changed: ChangedPlans): PlanLimits {
    const newest = changed[plan];
    return newest === undefined ? plans[plan] : { perMinute: newest.perMinute, burst: newest.burst };
  }

  function toApplication(row: ApplicationRow): KnownApplication {
    const shared = applications.get(row.applicationId);
    if (shared !== undefined && isCurrent(shared)) return shared;
    const registrations: KnownApplication['registrations'] = {};
    // The change that enables an account restores what is left out here.
    for (const { id, api, plan } of row.disabled ? [] : row.registrations)
      registrations[api] = { id, limits: limitsOf(plan, row.changedPlans) };
    const secrets = row.disabled ? [] : row.secrets.map(toSecret);
    const client =
      row.clientId === null ? undefined : { id: row.clientId, credentialVersion: row.credentialVersion ?? 0, secrets };
    // The sandbox needs no permission of an operator.
    const highPriority = config.environment === 'sandbox' || row.highPriority;
    const rights = toRights(
      row,
      row.registrations.map(({ plan }) => plan),
      config,
    );
    return {
      ...{ id: row.applicationId, name: row.name, disabled: row.disabled },
      ...{ highPriority, rights, registrations, client },
    };
  }

  return {
    async readKey(hashes) {
      const { rows } = await database.query<KeyRow>(selectByKey, [hashes]);
      const [row] = rows;
      if (row === undefined) return undefined;
      const { keyId, suspended, keyExpiresAtMs: expiresAtMs } = row;
      return { keyId, suspended, expiresAtMs, application: toApplication(row) };
    },
    async readClient(clientId) {
      const { rows } = await database.query<ApplicationRow>(selectByClient, [clientId]);
      return rows[0] && toApplication(rows[0]);
    },
    async readApplication(id) {
      const { rows } = await database.query<ApplicationRow>(selectById, [id]);
      return rows[0] && toApplication(rows[0]);
    },
    async readOwn(accountId, id) {
      const { rows } = await database.query<ApplicationRow>(selectOwn, [id, accountId]);
      return rows[0] && toApplication(rows[0]);
    },
    isCurrent,
    keep: (application) => applications.set(application.id, application),
    forget({ applicationId }) {
      if (applicationId === allApplications) applications.clear();
      else applications.delete(applicationId);
    },
    forgetAll: () => applications.clear(),
    get size() {
      return applications.size;
    },
  };
}

/** The caller of an application's credential. Null if it has no approved registration for this API. */
export function callerOf(application: KnownApplication, api: Api, scopes: string[] | undefined): KnownCaller | null {
  const registration = application.registrations[api];
  if (registration === undefined) return null;
  const caller: CallingApplication = {
    kind: 'application',
    applicationId: application.id,
    applicationName: application.name,
    registrationId: registration.id,
    windowKey: windowKeyOf(application.id, api),
    api,
    highPriority: application.highPriority,
    rights: application.rights,
  };
  return { caller, limits: registration.limits, scopes };
}

interface ApplicationRow extends RightsRow {
  applicationId: string;
  name: string;
  highPriority: boolean;
  /** Whether its account is disabled. */
  disabled: boolean;
  registrations: { id: string; api: Api; plan: PlanName }[];
  clientId: string | null;
  credentialVersion: number | null;
  secrets: { id: string; hash: string; ring_version: number; expires_at_ms: number | null; suspended: boolean }[];
}

interface KeyRow extends ApplicationRow {
  keyId: string;
  suspended: boolean;
  keyExpiresAtMs: number | null;
}

function toSecret(row: ApplicationRow['secrets'][number]): StoredSecret {
  return {
    id: row.id,
    hash: Buffer.from(row.hash, 'hex'),
    ringVersion: row.ring_version,
    expiresAtMs: row.expires_at_ms,
    suspended: row.suspended,
  };
}

const registrationRows = jsonRows(`select json_build_object('id', r.id, 'api', r.api, 'plan', r.plan)
  from registration r where r.application_id = a.id and r.status = 'approved'`);
const secretRows = jsonRows(`select json_build_object('id', s.id, 'hash', encode(s.hash, 'hex'), 'ring_version',
    s.ring_version, 'expires_at_ms', floor(extract(epoch from s.expires_at) * 1000), 'suspended', s.suspended_at is not null)
  from client_secret s where s.client_id = c.id`);
const applicationColumns = `a.id as "applicationId", a.name, a.high_priority as "highPriority", ${rightsColumns},
  exists (select from account o where o.id = a.account_id and o.disabled_at is not null) as disabled,
  ${registrationRows} as registrations, c.id as "clientId", c.credential_version as "credentialVersion",
  ${secretRows} as secrets`;

const selectByKey: Statement = {
  name: 'select-application-by-key',
  planOnce: true,
  text: `select k.id as "keyId", k.expires_at as "keyExpiresAtMs", k.suspended_at is not null as suspended, ${applicationColumns}
    from api_key k join application a on a.id = k.application_id left join oauth_client c on c.application_id = a.id
    where k.hash = any($1)`,
};

const selectByClient: Statement = {
  name: 'select-application-by-client',
  planOnce: true,
  text: `select ${applicationColumns}
    from oauth_client c join application a on a.id = c.application_id where c.id = $1`,
};

const selectById: Statement = {
  name: 'select-application-by-id',
  planOnce: true,
  text: `select ${applicationColumns}
    from application a left join oauth_client c on c.application_id = a.id where a.id = $1`,
};

const selectOwn: Statement = {
  name: 'select-own-application',
  planOnce: true,
  text: `select ${applicationColumns}
    from application a left join oauth_client c on c.application_id = a.id where a.id = $1 and a.account_id = $2`,
};
