import type { Api } from '../http/route.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { type Database, type Note, noted, type Tx } from '../platform/database/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { ApiKeys } from './api-key.ts';
import type { ChangeFeed } from './change-feed.ts';
import * as store from './credential-store.ts';
import { allApplications } from './directory.ts';
import { newClientSecret } from './oauth-client.ts';
import type { OwnApplications } from './own-applications.ts';
import { findRegistration, listRegistrations } from './registry-store.ts';
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

export interface CredentialServiceOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  apiKeys: ApiKeys;
  feed: Pick<ChangeFeed, 'change'>;
  own: OwnApplications;
}

export type CredentialService = ReturnType<typeof createCredentialService>;

type ClientSecretRow = store.ClientRow['secrets'][number];

const liveCredentials = 20;

/** API keys, clients and their secrets. After a call returns, no node acts on the old state. */
export function createCredentialService(options: CredentialServiceOptions) {
  const { database, clock, keys, apiKeys, feed, own } = options;

  async function issueKey(tx: Tx, applicationId: string, name: string | null = null): Promise<NewApiKey> {
    const { key, hash, prefix, lastFour } = apiKeys.create();
    const shown = { id: newId('key', clock), name, prefix, lastFour, createdAtMs: clock.nowMs() };
    await store.insertApiKey(tx, { applicationId, hash, ...shown });
    return { type: 'api_key', apiKey: key, ...shown };
  }

  async function issueSecret(tx: Tx, clientId: string, api: Exclude<Api, 'sms'>): Promise<NewCredential> {
    const { secret, ...row } = newClientSecret(keys);
    await store.insertClientSecret(tx, { id: newId('sec', clock), clientId, createdAtMs: clock.nowMs(), ...row });
    return { type: 'client', clientId, clientSecret: secret, api };
  }

  return {
    /** Issues the credential that this API needs, unless the application already has one. */
    async issueMissing(tx: Tx, applicationId: string, api: Api): Promise<NewCredential | null> {
      const nowMs = clock.nowMs();
      if (api === 'sms') {
        const existing = await store.listApiKeys(tx, applicationId, nowMs);
        return existing.length > 0 ? null : issueKey(tx, applicationId);
      }
      if ((await store.findClient(tx, applicationId, nowMs)) !== undefined) return null;
      const clientId = newId('cli', clock);
      await store.insertClient(tx, clientId, applicationId);
      return issueSecret(tx, clientId, api);
    },

    async listKeys(accountId: string, id: string) {
      await own.require(accountId, id);
      return store.listApiKeys(database, id, clock.nowMs());
    },

    /** The older keys end after the overlap; without one (null), they stay. */
    createKey: (
      accountId: string,
      id: string,
      { name, overlapSeconds }: { name: string | null; overlapSeconds: number | null },
      note?: Note<NewApiKey>,
    ): Promise<NewApiKey> =>
      own.change(
        accountId,
        id,
        async (tx) => {
          const nowMs = clock.nowMs();
          if ((await findRegistration(tx, id, 'sms')) === undefined) throw notRegistered('the sms API');
          if (overlapSeconds !== null) await store.endApiKeys(tx, id, nowMs + overlapSeconds * 1000);
          await store.deleteExpired(tx, id, nowMs);
          if ((await store.listApiKeys(tx, id, nowMs)).length >= liveCredentials) throw tooMany('keys');
          return issueKey(tx, id, name);
        },
        note,
      ),

    deleteKey: (accountId: string, id: string, keyId: string, note?: Note): Promise<void> =>
      own.change(
        accountId,
        id,
        async (tx) => {
          if (!(await store.deleteApiKey(tx, id, keyId))) throw notFound();
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
      own.change(
        accountId,
        id,
        async (tx) => {
          const nowMs = clock.nowMs();
          const client = await store.findClient(tx, id, nowMs);
          if (client === undefined) throw notRegistered('the verify or the messaging API');
          if (overlapSeconds !== null) await store.endClientSecrets(tx, client.id, nowMs + overlapSeconds * 1000);
          await store.deleteExpired(tx, id, nowMs);
          if (overlapSeconds === 0) await store.raiseCredentialVersion(tx, client.id);
          else if (client.secrets.length >= liveCredentials) throw tooMany('secrets');
          const registrations = await listRegistrations(tx, id);
          const api = registrations.some((each) => each.api === 'verify') ? 'verify' : 'messaging';
          return issueSecret(tx, client.id, api);
        },
        note,
      ),

    /** Also ends all tokens of the client: a token does not show which secret it was issued for. */
    deleteSecret: (accountId: string, id: string, secretId: string, note?: Note): Promise<void> =>
      own.change(
        accountId,
        id,
        async (tx) => {
          const nowMs = clock.nowMs();
          const client = await store.findClient(tx, id, nowMs);
          if (client === undefined || !(await store.deleteClientSecret(tx, client.id, secretId, nowMs)))
            throw notFound();
          await store.raiseCredentialVersion(tx, client.id);
        },
        note,
      ),

    enableKey: (accountId: string, id: string, keyId: string, note?: Note): Promise<store.ApiKeyRow> =>
      own.change(
        accountId,
        id,
        async (tx) => {
          const keys = await store.listApiKeys(tx, id, clock.nowMs());
          const key = keys.find((each) => each.id === keyId);
          if (key === undefined) throw notFound();
          if (!(await suspended.enableApiKey(tx, keyId))) throw isEnabled('API key');
          return { ...key, suspendedAtMs: null };
        },
        note,
      ),

    enableSecret: (accountId: string, id: string, secretId: string, note?: Note): Promise<ClientSecretRow> =>
      own.change(
        accountId,
        id,
        async (tx) => {
          const client = await store.findClient(tx, id, clock.nowMs());
          const secret = client?.secrets.find((each) => each.id === secretId);
          if (secret === undefined) throw notFound();
          if (!(await suspended.enableClientSecret(tx, secretId))) throw isEnabled('client secret');
          return { ...secret, suspendedAtMs: null };
        },
        note,
      ),

    /** Enables all credentials of an account. Returns how many were suspended. */
    enableAll: (accountId: string, note?: Note<number>): Promise<number> =>
      feed.change(
        allApplications,
        noted((tx) => suspended.enableAll(tx, accountId), note),
      ),

    countSuspended: (accountId: string) => suspended.countSuspended(database, accountId),
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
