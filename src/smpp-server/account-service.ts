// Tests: test/smpp-server/accounts.test.ts
import type { Clock } from '../platform/clock.ts';
import type { Database, Note, Tx } from '../platform/database/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { isId, newId } from '../platform/ids.ts';
import { findRegistration } from '../registry/registry-store.ts';
import { mostAccounts, mostPasswords, type SmppAccount, type SmppPassword } from './account.ts';
import * as store from './account-store.ts';
import type { SmppCredentials } from './credentials.ts';

export interface SmppAccountDetail extends SmppAccount {
  /** In force, newest first. */
  passwords: SmppPassword[];
}

export interface NewSmppAccount extends SmppAccountDetail {
  password: string;
}

/** The application of an account of the portal. */
export interface Owned {
  accountId: string;
  applicationId: string;
}

export interface SmppAccountOptions {
  database: Database;
  clock: Clock;
  credentials: SmppCredentials;
  /** Changes the account's application; after it resolves no node acts on the old state. */
  change: <Result>(
    accountId: string,
    applicationId: string,
    work: (tx: Tx) => Promise<Result>,
    note?: Note<Result>,
  ) => Promise<Result>;
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

export type SmppAccounts = ReturnType<typeof createSmppAccounts>;

/** The SMPP accounts of applications; one of another account is a 404. */
export function createSmppAccounts({ database, clock, credentials, change, requireOwn }: SmppAccountOptions) {
  async function require(tx: Tx, applicationId: string, id: string): Promise<SmppAccount> {
    const found = isId('smp', id) ? await store.findAccount(tx, applicationId, id) : undefined;
    if (found === undefined) throw notFound();
    return found;
  }

  async function addPassword(tx: Tx, { id, systemId }: SmppAccount): Promise<string> {
    const password = credentials.newPassword();
    const hash = credentials.hash({ systemId, password });
    await store.insertPassword(tx, id, { id: newId('sec', clock), hash, createdAtMs: clock.nowMs() });
    return password;
  }

  async function detail(tx: Tx, account: SmppAccount): Promise<SmppAccountDetail> {
    const passwords = await store.listPasswords(tx, [account.id], clock.nowMs());
    return { ...account, passwords: passwords.get(account.id) ?? [] };
  }

  return {
    create(
      { accountId, applicationId }: Owned,
      given: Pick<SmppAccount, 'binds' | 'addresses'>,
      note?: Note<SmppAccountDetail>,
    ): Promise<NewSmppAccount> {
      return change(
        accountId,
        applicationId,
        async (tx) => {
          await requireRegistered(tx, applicationId);
          const others = await store.listAccounts(tx, applicationId, mostAccounts);
          if (others.length >= mostAccounts)
            throw new ApiError('INCOMPATIBLE_STATE', `The application has ${mostAccounts} SMPP accounts, the maximum.`);
          const account: SmppAccount = {
            id: newId('smp', clock),
            applicationId,
            systemId: credentials.newSystemId(),
            ...given,
            createdAtMs: clock.nowMs(),
          };
          await store.insertAccount(tx, account);
          const password = await addPassword(tx, account);
          return { ...(await detail(tx, account)), password };
        },
        note,
      );
    },

    async list({ accountId, applicationId }: Owned): Promise<SmppAccountDetail[]> {
      await requireOwn(accountId, applicationId);
      const accounts = await store.listAccounts(database, applicationId, mostAccounts);
      const ids = accounts.map(({ id }) => id);
      const passwords = await store.listPasswords(database, ids, clock.nowMs());
      return accounts.map((account) => ({ ...account, passwords: passwords.get(account.id) ?? [] }));
    },

    async read({ accountId, applicationId }: Owned, id: string): Promise<SmppAccountDetail> {
      await requireOwn(accountId, applicationId);
      return detail(database, await require(database, applicationId, id));
    },

    /** The older passwords are valid until the overlap ends. */
    rotate(
      { accountId, applicationId }: Owned,
      id: string,
      overlapSeconds: number,
      note?: Note<SmppAccountDetail>,
    ): Promise<NewSmppAccount> {
      return change(
        accountId,
        applicationId,
        async (tx) => {
          const account = await require(tx, applicationId, id);
          const nowMs = clock.nowMs();
          await store.endPasswords(tx, id, nowMs + overlapSeconds * 1000, nowMs);
          const { passwords } = await detail(tx, account);
          if (passwords.length >= mostPasswords)
            throw new ApiError(
              'INCOMPATIBLE_STATE',
              `The account has ${mostPasswords} passwords in force, the maximum.`,
            );
          const password = await addPassword(tx, account);
          return { ...(await detail(tx, account)), password };
        },
        note,
      );
    },

    remove({ accountId, applicationId }: Owned, id: string, note?: Note): Promise<void> {
      return change(
        accountId,
        applicationId,
        async (tx) => {
          await require(tx, applicationId, id);
          await store.deleteAccount(tx, applicationId, id);
        },
        note,
      );
    },
  };
}

/** Without an approved registration, the account's binds would be refused as if the password were wrong. */
async function requireRegistered(tx: Tx, applicationId: string): Promise<void> {
  const registration = await findRegistration(tx, applicationId, 'sms');
  if (registration?.status === 'approved') return;
  throw new ApiError(
    'INCOMPATIBLE_STATE',
    registration?.status === 'pending'
      ? 'The registration for SMS Messaging is not approved yet. Create the SMPP account once it is.'
      : 'The application is not registered for SMS Messaging. Register it for SMS Messaging first.',
  );
}
