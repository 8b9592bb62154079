// Tests: test/smpp-server/accounts.test.ts
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { ChangeFeed } from '../registry/change-feed.ts';
import { type CredentialCache, createCredentialCache, type Finding } from '../registry/credential-cache.ts';
import { callerOf, type Directory } from '../registry/directory.ts';
import type { KnownAccount } from './account.ts';
import { findBySystemId } from './account-store.ts';
import { toBlockList } from './addresses.ts';
import type { Credential, SmppCredentials } from './credentials.ts';

export interface AccountLookupOptions {
  database: Database;
  clock: Clock;
  feed: ChangeFeed;
  directory: Directory;
  credentials: SmppCredentials;
  /** Credentials to remember. */
  most?: number;
}

export type AccountLookup = CredentialCache<KnownAccount>;

const dead: Finding<KnownAccount> = { value: null, application: undefined, endsAtMs: Number.POSITIVE_INFINITY };

export function keyOf({ systemId, password }: Credential): string {
  return `${systemId} ${password}`;
}

/**
 * Finds the account of a system_id and password. As with API keys, an account that changed, or whose application did, is
 * read again, so each submit counts on the plan of this moment.
 */
export function createAccountLookup(options: AccountLookupOptions): AccountLookup {
  const { database, clock, feed, directory, credentials, most = 20_000 } = options;

  async function read(text: string): Promise<Finding<KnownAccount>> {
    const [systemId = '', password = ''] = text.split(' ', 2);
    const found = await findBySystemId(database, systemId, clock.nowMs());
    const right = found?.passwords.find(({ hash }) => credentials.isRight({ systemId, password }, hash));
    const application = found && right && (await directory.readApplication(found.account.applicationId));
    // Remembered as dead: passwords are random and never reused, so one that is not in force now never will be.
    if (found === undefined || right === undefined || application === undefined) return dead;
    const known = callerOf(application, 'sms', undefined);
    const { account } = found;
    const value = known && { account, allowed: toBlockList(account.addresses), known };
    return { value, application, endsAtMs: right.endsAtMs ?? Number.POSITIVE_INFINITY };
  }

  return createCredentialCache<KnownAccount>({ read, feed, applications: directory, clock, most });
}
