// Tests: test/contract/portal-members.test.ts, test/contract/operator-accounts.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import * as members from './member-store.ts';

/**
 * The account of a new session: the one used last, else the oldest. A person without an account gets a new one. If all
 * accounts of the person are disabled, the sign-in is refused.
 */
export async function chooseAccount(tx: Tx, clock: Clock, person: { id: string; email: string }): Promise<string> {
  const memberships = await members.lockMemberships(tx, person.id);
  const [first] = memberships;
  if (first === undefined) return createOwnAccount(tx, clock, person);
  const usable = memberships.find(({ disabledReason }) => disabledReason === null);
  if (usable === undefined) throw disabledAccount(first.disabledReason ?? '');
  return usable.accountId;
}

export function disabledAccount(reason: string): ApiError {
  return new DisabledAccount(
    'PERMISSION_DENIED',
    `An operator has disabled this account: ${reason}. Ask your administrator to enable it.`,
  );
}

/** Marks sign-ins that failed because the account is disabled. */
export class DisabledAccount extends ApiError {}

export async function createOwnAccount(tx: Tx, clock: Clock, person: { id: string; email: string }): Promise<string> {
  const nowMs = clock.nowMs();
  const account = { id: newId('acc', clock), name: person.email, createdAtMs: nowMs };
  await members.insertAccount(tx, account);
  await members.insertMember(tx, { accountId: account.id, personId: person.id, role: 'owner', nowMs });
  return account.id;
}
