import type { PageRequest } from '../http/list-page.ts';
import type { Api } from '../http/route.ts';
import type { Clock } from '../platform/clock.ts';
import type { PlanName } from '../platform/config.ts';
import { type Database, type Note, noted, type Tx } from '../platform/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { isId, newId } from '../platform/ids.ts';
import type { KeyRing } from '../platform/keys.ts';
import type { ApiKeys } from './api-key.ts';
import {
  type Allowances,
  type Application,
  afterApproval,
  afterPlanRequest,
  afterRejection,
  credentialFor,
  isWaiting,
  type Registration,
} from './application.ts';
import type { ChangeFeed } from './change-feed.ts';
import * as credentials from './credential-store.ts';
import { allApplications } from './directory.ts';
import { newClientSecret } from './oauth-client.ts';
import * as store from './registry-store.ts';
import * as suspended from './suspended-credentials.ts';

/** A new secret for its owner. It is shown once and not stored. */
export type NewCredential =
  | {
      type: 'api_key';
      id: string;
      name: string | null;
      apiKey: string;
      prefix: string;
      lastFour: string;
      createdAtMs: number;
    }
  | { type: 'client'; clientId: string; clientSecret: string; api: Exclude<Api, 'sms'> };

type NewApiKey = Extract<NewCredential, { type: 'api_key' }>;

/** A registration that an operator decided, and the account whose it is. */
export type DecidedRegistration = Registration & { accountId: string | null };

export interface WantedRegistration {
  api: Api;
  plan: PlanName;
}

export interface Registered {
  created: boolean;
  registration: Registration;
  /** Null when the application has it already. */
  credential: NewCredential | null;
}

export interface RegistryServiceOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  apiKeys: ApiKeys;
  feed: ChangeFeed;
  environment: 'sandbox' | 'production';
}

type ClientSecretRow = credentials.ClientRow['secrets'][number];

export type RegistryService = ReturnType<typeof createRegistryService>;

const liveCredentials = 20;
/** Applications per account. Each can be traced and listed, so this bounds what one account costs others. */
const ownApplications = 100;

/**
 * Applications, registrations and credentials. Every change of an existing application goes through the feed, so after
 * a call returns, no node acts on the old state. Another account's application is not found.
 */
export function createRegistryService(options: RegistryServiceOptions) {
  const { database, clock, keys, apiKeys, feed, environment } = options;

  /** Changes an application of this account; changes of one application run one at a time. */
  function changeOwn<Result>(
    accountId: string,
    id: string,
    work: (tx: Tx) => Promise<Result>,
    note?: Note<Result>,
  ): Promise<Result> {
    return feed.change(id, async (tx) => {
      if (!(await store.lockApplication(tx, accountId, id))) throw notFound();
      return noted(work, note)(tx);
    });
  }

  async function requireOwn(accountId: string, id: string): Promise<Application> {
    // Skip malformed ids: Postgres rejects NUL.
    const application = isId('app', id) ? await store.findApplication(database, accountId, id) : undefined;
    if (application === undefined) throw notFound();
    return application;
  }

  async function issueKey(tx: Tx, applicationId: string, name: string | null = null): Promise<NewApiKey> {
    const { key, hash, prefix, lastFour } = apiKeys.create();
    const shown = { id: newId('key', clock), name, prefix, lastFour, createdAtMs: clock.nowMs() };
    await credentials.insertApiKey(tx, { applicationId, hash, ...shown });
    return { type: 'api_key', apiKey: key, ...shown };
  }

  async function issueSecret(tx: Tx, clientId: string, api: Exclude<Api, 'sms'>): Promise<NewCredential> {
    const { secret, ...row } = newClientSecret(keys);
    await credentials.insertClientSecret(tx, { id: newId('sec', clock), clientId, createdAtMs: clock.nowMs(), ...row });
    return { type: 'client', clientId, clientSecret: secret, api };
  }

  /** Issues the credential that this API needs, unless the application already has one. */
  async function issueMissing(tx: Tx, applicationId: string, api: Api): Promise<NewCredential | null> {
    const nowMs = clock.nowMs();
    if (api === 'sms') {
      const existing = await credentials.listApiKeys(tx, applicationId, nowMs);
      return existing.length > 0 ? null : issueKey(tx, applicationId);
    }
    if ((await credentials.findClient(tx, applicationId, nowMs)) !== undefined) return null;
    const clientId = newId('cli', clock);
    await credentials.insertClient(tx, clientId, applicationId);
    return issueSecret(tx, clientId, api);
  }

  async function register(tx: Tx, applicationId: string, api: Api, plan: PlanName): Promise<Registered> {
    const nowMs = clock.nowMs();
    const existing = await store.findRegistration(tx, applicationId, api);
    const registration: Registration = {
      id: existing?.id ?? newId('reg', clock),
      applicationId,
      api,
      createdAtMs: existing?.createdAtMs ?? nowMs,
      updatedAtMs: nowMs,
      ...afterPlanRequest(existing, plan, environment),
    };
    await store.putRegistration(tx, registration);
    // A change of plan issues nothing, even if every key was revoked on purpose.
    const isLive = existing !== undefined && existing.status !== 'rejected';
    const credential = isLive ? null : await issueMissing(tx, applicationId, api);
    return { created: existing === undefined, registration, credential };
  }

  async function decide(
    id: string,
    rule: (existing: Registration) => Partial<Registration>,
    note?: Note<DecidedRegistration>,
  ): Promise<Registration> {
    const applicationId = await store.findApplicationOf(database, id);
    if (applicationId === undefined) throw notFound();
    return feed.change(applicationId, async (tx) => {
      const existing = await store.lockRegistration(tx, id);
      if (existing === undefined) throw notFound();
      if (!isWaiting(existing)) {
        throw new ApiError('INCOMPATIBLE_STATE', `This registration is ${existing.status} and needs no decision.`);
      }
      const decided = { ...existing, ...rule(existing), updatedAtMs: clock.nowMs() };
      await store.putRegistration(tx, decided);
      await note?.(tx, { ...decided, accountId: await store.findAccountOf(tx, applicationId) });
      return decided;
    });
  }

  async function createApplication(tx: Tx, accountId: string, name: string): Promise<Application> {
    const nowMs = clock.nowMs();
    const application = { id: newId('app', clock), name, helpText: null, createdAtMs: nowMs, updatedAtMs: nowMs };
    await store.insertApplication(tx, accountId, application);
    return application;
  }

  return {
    register,

    createApplication,

    /** Creates an application within the account's limit, which is exact: the count runs under a lock. */
    async createOwnApplication(tx: Tx, accountId: string, name: string): Promise<Application> {
      await store.lockApplicationsOf(tx, accountId);
      const count = await store.countApplications(tx, accountId, ownApplications);
      if (count >= ownApplications) throw tooManyApplications();
      return createApplication(tx, accountId, name);
    },

    requireOwn,

    listApplications: (accountId: string, page: PageRequest) => store.listApplications(database, accountId, page),

    async requireApplication(accountId: string, id: string) {
      const application = await requireOwn(accountId, id);
      const registrations = await store.listRegistrations(database, id);
      const client = await credentials.findClient(database, id, clock.nowMs());
      return { application, registrations, client };
    },

    changeApplication: (
      accountId: string,
      id: string,
      change: store.ApplicationChange,
      note?: Note<Application>,
    ): Promise<Application> =>
      changeOwn(
        accountId,
        id,
        async (tx) => {
          await store.changeApplication(tx, id, change, clock.nowMs());
          return (await store.findApplication(tx, accountId, id)) as Application;
        },
        note,
      ),

    /** False when the account has applications. None can be added until the transaction ends. */
    async hasNoApplications(tx: Tx, accountId: string): Promise<boolean> {
      await store.lockApplicationsOf(tx, accountId);
      return (await store.countApplications(tx, accountId, 1)) === 0;
    },

    deleteApplication: (accountId: string, id: string, note?: Note<Application>): Promise<Application> =>
      changeOwn(
        accountId,
        id,
        async (tx) => {
          const deleted = (await store.findApplication(tx, accountId, id)) as Application;
          await store.deleteApplication(tx, id);
          return deleted;
        },
        note,
      ),

    registerOwn: (accountId: string, id: string, { api, plan }: WantedRegistration, note?: Note<Registered>) =>
      changeOwn(accountId, id, (tx) => register(tx, id, api, plan), note),

    async listRegistrations(accountId: string, id: string): Promise<Registration[]> {
      await requireOwn(accountId, id);
      return store.listRegistrations(database, id);
    },

    /** Also deletes the credentials that only this registration needed. */
    unregister: (accountId: string, id: string, api: Api, note?: Note<Registration>): Promise<Registration> =>
      changeOwn(
        accountId,
        id,
        async (tx) => {
          const existing = await store.findRegistration(tx, id, api);
          if (existing === undefined) throw notFound();
          await store.deleteRegistration(tx, existing.id);
          const left = await store.listRegistrations(tx, id);
          if (left.some((other) => credentialFor(other.api) === credentialFor(api))) return existing;
          if (api === 'sms') await credentials.deleteApiKeys(tx, id);
          else await credentials.deleteClient(tx, id);
          return existing;
        },
        note,
      ),

    async listKeys(accountId: string, id: string) {
      await requireOwn(accountId, id);
      return credentials.listApiKeys(database, id, clock.nowMs());
    },

    /** The older keys end after the overlap; without one (null), they stay. */
    createKey: (
      accountId: string,
      id: string,
      { name, overlapSeconds }: { name: string | null; overlapSeconds: number | null },
      note?: Note<NewApiKey>,
    ): Promise<NewApiKey> =>
      changeOwn(
        accountId,
        id,
        async (tx) => {
          const nowMs = clock.nowMs();
          if ((await store.findRegistration(tx, id, 'sms')) === undefined) throw notRegistered('the sms API');
          if (overlapSeconds !== null) await credentials.endApiKeys(tx, id, nowMs + overlapSeconds * 1000);
          await credentials.deleteExpired(tx, id, nowMs);
          if ((await credentials.listApiKeys(tx, id, nowMs)).length >= liveCredentials) throw tooMany('keys');
          return issueKey(tx, id, name);
        },
        note,
      ),

    deleteKey: (accountId: string, id: string, keyId: string, note?: Note): Promise<void> =>
      changeOwn(
        accountId,
        id,
        async (tx) => {
          if (!(await credentials.deleteApiKey(tx, id, keyId))) throw notFound();
        },
        note,
      ),

    /** With an overlap of 0, the old secrets and all tokens of the client end at once; with null, the old secrets stay. */
    createSecret: (
      accountId: string,
      id: string,
      overlapSeconds: number | null,
      note?: Note<NewCredential>,
    ): Promise<NewCredential> =>
      changeOwn(
        accountId,
        id,
        async (tx) => {
          const nowMs = clock.nowMs();
          const client = await credentials.findClient(tx, id, nowMs);
          if (client === undefined) throw notRegistered('the verify or the messaging API');
          if (overlapSeconds !== null) await credentials.endClientSecrets(tx, client.id, nowMs + overlapSeconds * 1000);
          await credentials.deleteExpired(tx, id, nowMs);
          if (overlapSeconds === 0) await credentials.raiseCredentialVersion(tx, client.id);
          else if (client.secrets.length >= liveCredentials) throw tooMany('secrets');
          const registrations = await store.listRegistrations(tx, id);
          const api = registrations.some((each) => each.api === 'verify') ? 'verify' : 'messaging';
          return issueSecret(tx, client.id, api);
        },
        note,
      ),

    /** Changes what nodes know of an account's applications: credentials of a disabled account open nothing. */
    changeAccount: <Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> => feed.change(allApplications, work),

    countByAccount: (accountIds: string[]) => store.countByAccount(database, accountIds),

    /** Also ends all tokens of the client: a token does not tell which secret it was got with. */
    deleteSecret: (accountId: string, id: string, secretId: string, note?: Note): Promise<void> =>
      changeOwn(
        accountId,
        id,
        async (tx) => {
          const nowMs = clock.nowMs();
          const client = await credentials.findClient(tx, id, nowMs);
          if (client === undefined || !(await credentials.deleteClientSecret(tx, client.id, secretId, nowMs)))
            throw notFound();
          await credentials.raiseCredentialVersion(tx, client.id);
        },
        note,
      ),

    enableKey: (accountId: string, id: string, keyId: string, note?: Note): Promise<credentials.ApiKeyRow> =>
      changeOwn(
        accountId,
        id,
        async (tx) => {
          const keys = await credentials.listApiKeys(tx, id, clock.nowMs());
          const key = keys.find((each) => each.id === keyId);
          if (key === undefined) throw notFound();
          if (!(await suspended.enableApiKey(tx, keyId))) throw isEnabled('API key');
          return { ...key, suspendedAtMs: null };
        },
        note,
      ),

    enableSecret: (accountId: string, id: string, secretId: string, note?: Note): Promise<ClientSecretRow> =>
      changeOwn(
        accountId,
        id,
        async (tx) => {
          const client = await credentials.findClient(tx, id, clock.nowMs());
          const secret = client?.secrets.find((each) => each.id === secretId);
          if (secret === undefined) throw notFound();
          if (!(await suspended.enableClientSecret(tx, secretId))) throw isEnabled('client secret');
          return { ...secret, suspendedAtMs: null };
        },
        note,
      ),

    /** Enables all credentials of an account. Returns how many were suspended. */
    enableCredentials: (accountId: string, note?: Note<number>): Promise<number> =>
      feed.change(
        allApplications,
        noted((tx) => suspended.enableAll(tx, accountId), note),
      ),

    countSuspended: (accountId: string) => suspended.countSuspended(database, accountId),

    listApplicationIds: (accountId: string) => store.listApplicationIds(database, accountId),

    count: (most: number) => store.countRegistry(database, most),

    listWaiting: (page: PageRequest) => store.listWaiting(database, page),
    approve: (registrationId: string, note?: Note<DecidedRegistration>) => decide(registrationId, afterApproval, note),
    reject: (registrationId: string, reason: string, note?: Note<DecidedRegistration>) =>
      decide(registrationId, (existing) => afterRejection(existing, reason), note),

    async allowHighPriority(applicationId: string, allowed: boolean, note?: Note): Promise<Allowances> {
      if (!isId('app', applicationId)) throw notFound();
      const allow = async (tx: Tx) => {
        const changed = await store.allowHighPriority(tx, applicationId, allowed);
        if (changed === undefined) throw notFound();
        return changed;
      };
      return feed.change(applicationId, noted(allow, note));
    },
  };
}

function notRegistered(what: string): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', `The application is not registered for ${what}. Register it first.`);
}

function isEnabled(what: string): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', `This ${what} is not suspended.`);
}

function tooMany(what: string): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    `The application has ${liveCredentials} live ${what}, the maximum. Delete one first.`,
  );
}

function tooManyApplications(): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    `Your account has ${ownApplications} applications, the maximum. Delete one, then try again.`,
  );
}
