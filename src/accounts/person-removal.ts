// Tests: test/contract/portal-person.test.ts
import type { Database, Note, Tx } from '../platform/database/database.ts';
import { ApiError } from '../platform/errors.ts';
import * as members from './people/member-store.ts';
import * as people from './people/person-store.ts';
import { deleteSignInsOf } from './sign-in/store.ts';

export interface PersonRemovalOptions {
  database: Database;
  registry: {
    listApplicationIds(accountId: string): Promise<string[]>;
    deleteApplication(accountId: string, id: string): Promise<unknown>;
    /** False when the account has applications. None can be added until the transaction ends. */
    hasNoApplications(tx: Tx, accountId: string): Promise<boolean>;
  };
}

/**
 * Deletes a person, and accounts without other members. Applications go first, one by one: after each, every node
 * refuses its credentials. After a crash, the person repeats the request.
 */
export function createPersonRemoval({ database, registry }: PersonRemovalOptions) {
  /** Accounts with no other member. Throws if other members would be left without an owner. */
  async function ownAccounts(tx: Tx, personId: string): Promise<string[]> {
    const own: string[] = [];
    for (const { accountId, accountName, role } of await members.listMemberships(tx, personId)) {
      if ((await members.countMembers(tx, accountId)) === 1) own.push(accountId);
      else if (role === 'owner' && (await members.countOwners(tx, accountId)) === 1) throw lastOwner(accountName);
    }
    return own;
  }

  async function deleteApplications(accountId: string): Promise<void> {
    for (const id of await registry.listApplicationIds(accountId)) await registry.deleteApplication(accountId, id);
  }

  return async function remove(personId: string, note?: Note): Promise<void> {
    for (const accountId of await ownAccounts(database, personId)) await deleteApplications(accountId);
    await database.transaction(async (tx) => {
      await people.lockPerson(tx, personId);
      const person = await people.findPerson(tx, personId);
      const memberships = await members.listMemberships(tx, personId);
      // Sorted, so that two people who leave the same accounts do not deadlock.
      for (const { accountId } of memberships.toSorted(byAccount)) await members.lockAccount(tx, accountId);
      for (const accountId of await ownAccounts(tx, personId)) {
        if (!(await registry.hasNoApplications(tx, accountId))) throw changedMeanwhile();
        await members.deleteAccount(tx, accountId);
      }
      // Before the person is deleted: the audit entry copies the e-mail from the person's row.
      await note?.(tx, undefined);
      await people.deletePerson(tx, personId);
      if (person !== undefined) await deleteSignInsOf(tx, person);
    });
  };
}

function byAccount(one: members.Membership, other: members.Membership): number {
  return one.accountId < other.accountId ? -1 : 1;
}

function lastOwner(accountName: string): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    `You are the last owner of ${accountName}, which has other members. Make one of them an owner, or remove them first.`,
  );
}

function changedMeanwhile(): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', 'An application was created meanwhile. Try again.');
}
