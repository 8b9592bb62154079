import type { PageRequest } from '../http/list-page.ts';
import type { Api } from '../http/route.ts';
import type { Clock } from '../platform/clock.ts';
import { type Database, type Note, noted, type Tx } from '../platform/database/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { isId, newId } from '../platform/ids.ts';
import type { PlanName } from '../settings/settings.ts';
import {
  type Allowances,
  type Application,
  afterApproval,
  afterPlanRequest,
  afterRejection,
  credentialFor,
  isWaiting,
  type Registration,
  type RegistrationState,
} from './application.ts';
import { listApplications } from './application-list-store.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { CredentialService, NewCredential } from './credential-service.ts';
import * as credentials from './credential-store.ts';
import { allApplications } from './directory.ts';
import type { OwnApplications } from './own-applications.ts';
import * as store from './registry-store.ts';

/** A registration that an operator decided, and its account. */
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
  feed: Pick<ChangeFeed, 'change'>;
  own: OwnApplications;
  issueMissing: CredentialService['issueMissing'];
  environment: 'sandbox' | 'production';
}

export type RegistryService = ReturnType<typeof createRegistryService>;

/** Applications per account. Each can be traced and listed, so this bounds what one account costs others. */
const ownApplications = 100;

/**
 * Applications and their registrations. Every change of an existing application goes through the feed, so after
 * a call returns, no node acts on the old state. Another account's application is not found.
 */
export function createRegistryService(options: RegistryServiceOptions) {
  const { database, clock, feed, own, issueMissing, environment } = options;

  async function put(
    tx: Tx,
    { applicationId, api }: Pick<Registration, 'applicationId' | 'api'>,
    rule: (existing: Registration | undefined) => RegistrationState,
  ) {
    const nowMs = clock.nowMs();
    const existing = await store.findRegistration(tx, applicationId, api);
    const registration: Registration = {
      id: existing?.id ?? newId('reg', clock),
      applicationId,
      api,
      createdAtMs: existing?.createdAtMs ?? nowMs,
      updatedAtMs: nowMs,
      ...rule(existing),
    };
    await store.putRegistration(tx, registration);
    return { existing, registration };
  }

  async function register(tx: Tx, applicationId: string, api: Api, plan: PlanName): Promise<Registered> {
    const { existing, registration } = await put(tx, { applicationId, api }, (before) =>
      afterPlanRequest(before, plan, environment),
    );
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

  async function createApplication(
    tx: Tx,
    accountId: string,
    name: string,
    id: string = newId('app', clock),
  ): Promise<Application> {
    const nowMs = clock.nowMs();
    const application = { id, name, helpText: null, assurance: null, createdAtMs: nowMs, updatedAtMs: nowMs };
    await store.insertApplication(tx, accountId, application);
    return application;
  }

  return {
    register,

    createApplication,

    /**
     * Creates an application within the account's limit, which is exact: the count runs under a lock. `id` is for a
     * caller that has named it to others before.
     */
    async createOwnApplication(tx: Tx, accountId: string, name: string, id?: string): Promise<Application> {
      await store.lockApplicationsOf(tx, accountId);
      const count = await store.countApplications(tx, accountId, ownApplications);
      if (count >= ownApplications) throw tooManyApplications();
      return createApplication(tx, accountId, name, id);
    },

    requireOwn: own.require,

    changeOwn: own.change,

    listApplications: (accountId: string, page: PageRequest) => listApplications(database, accountId, page),

    async requireApplication(accountId: string, id: string) {
      const application = await own.require(accountId, id);
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
      own.change(
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
      own.change(
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
      own.change(accountId, id, (tx) => register(tx, id, api, plan), note),

    /** An operator registers an application with this plan, approved at once. Issues no credential. */
    giveOwn: (accountId: string, id: string, { api, plan }: WantedRegistration, note?: Note<Registration>) =>
      own.change(
        accountId,
        id,
        async (tx) => {
          const given = { plan, status: 'approved', requestedPlan: null, reason: null } as const;
          return (await put(tx, { applicationId: id, api }, () => given)).registration;
        },
        note,
      ),

    /** Issues the credential of this API if the application has none; else null. */
    issueOwn: (accountId: string, id: string, api: Api, note?: Note<NewCredential | null>) =>
      own.change(accountId, id, (tx) => issueMissing(tx, id, api), note),

    async listRegistrations(accountId: string, id: string): Promise<Registration[]> {
      await own.require(accountId, id);
      return store.listRegistrations(database, id);
    },

    /** Also deletes the credentials that only this registration needed. */
    unregister: (accountId: string, id: string, api: Api, note?: Note<Registration>): Promise<Registration> =>
      own.change(
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

    /** Changes what nodes know of an account's applications: credentials of a disabled account open nothing. */
    changeAccount: <Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> => feed.change(allApplications, work),

    countByAccount: (accountIds: string[]) => store.countByAccount(database, accountIds),

    listApplicationIds: (accountId: string) => store.listApplicationIds(database, accountId),

    count: (most: number) => store.countRegistry(database, most),

    listWaiting: (page: PageRequest) => store.listWaiting(database, page),
    /** `seen` is the plan that the operator saw: the developer may ask for another one meanwhile. */
    approve: (registrationId: string, seen?: PlanName, note?: Note<DecidedRegistration>) =>
      decide(
        registrationId,
        (existing) => {
          const after = afterApproval(existing);
          if (seen !== undefined && after.plan !== seen)
            throw new ApiError(
              'INCOMPATIBLE_STATE',
              `The developer asks for the plan ${after.plan} now. Reload the list.`,
            );
          return after;
        },
        note,
      ),
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

function tooManyApplications(): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    `Your account has ${ownApplications} applications, the maximum. Delete one, then try again.`,
  );
}
