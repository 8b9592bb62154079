import type { Role } from '../../http/route.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';

export interface Membership {
  accountId: string;
  accountName: string;
  role: Role;
  /** Why an operator disabled the account; null when it is enabled. */
  disabledReason: string | null;
}

export interface Member {
  personId: string;
  email: string;
  role: Role;
  secondFactor: boolean;
  operator: boolean;
  joinedAtMs: number;
}

export async function insertAccount(tx: Tx, account: { id: string; name: string; createdAtMs: number }): Promise<void> {
  await tx.query('insert into account (id, name, created_at) values ($1, $2, $3)', [
    account.id,
    account.name,
    toTimestamp(account.createdAtMs),
  ]);
}

/** False when the person already is a member. */
export async function insertMember(
  tx: Tx,
  member: { accountId: string; personId: string; role: Role; nowMs: number },
): Promise<boolean> {
  const { count } = await tx.query(
    `insert into member (account_id, person_id, role, joined_at) values ($1, $2, $3, $4)
     on conflict (account_id, person_id) do nothing`,
    [member.accountId, member.personId, member.role, toTimestamp(member.nowMs)],
  );
  return count > 0;
}

/** Changes of an account's members run one at a time, so that the last owner stays. */
export async function lockAccount(tx: Tx, accountId: string): Promise<void> {
  await tx.query('select 1 from account where id = $1 for no key update', [accountId]);
}

/** The person's accounts: the one used last first, then by age. Locks the memberships against removal. */
export async function lockMemberships(tx: Tx, personId: string): Promise<Membership[]> {
  const { rows } = await tx.query<Membership>(`${selectMemberships} for key share of m`, [personId, mostMemberships]);
  return rows;
}

export async function listMemberships(tx: Tx, personId: string): Promise<Membership[]> {
  const { rows } = await tx.query<Membership>(selectMemberships, [personId, mostMemberships]);
  return rows;
}

/** Maximum accounts of a person. */
export const mostMemberships = 50;

const selectMemberships = `select m.account_id as "accountId", a.name as "accountName", m.role,
    a.disabled_reason as "disabledReason"
  from member m join account a on a.id = m.account_id join person p on p.id = m.person_id
  where m.person_id = $1 order by (m.account_id = p.last_account_id) is true desc, m.joined_at, m.account_id limit $2`;

export async function setLastAccount(tx: Tx, personId: string, accountId: string): Promise<void> {
  await tx.query('update person set last_account_id = $2 where id = $1', [personId, accountId]);
}

export async function listMembers(tx: Tx, accountId: string, limit: number): Promise<Member[]> {
  const { rows } = await tx.query<Member>(
    `select p.id as "personId", p.email, p.operator, m.role, m.joined_at as "joinedAtMs",
       exists (select from second_factor f where f.person_id = p.id and f.confirmed_at is not null) as "secondFactor"
     from member m join person p on p.id = m.person_id where m.account_id = $1 order by m.joined_at, p.id limit $2`,
    [accountId, limit],
  );
  return rows;
}

export async function findMember(tx: Tx, accountId: string, personId: string): Promise<Member | undefined> {
  const { rows } = await tx.query<Member>(
    `select p.id as "personId", p.email, p.operator, m.role, m.joined_at as "joinedAtMs",
       exists (select from second_factor f where f.person_id = p.id and f.confirmed_at is not null) as "secondFactor"
     from member m join person p on p.id = m.person_id where m.account_id = $1 and m.person_id = $2`,
    [accountId, personId],
  );
  return rows[0];
}

export async function countOwners(tx: Tx, accountId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*) from member where account_id = $1 and role = 'owner'`,
    [accountId],
  );
  return rows[0]?.count ?? 0;
}

export async function countMembers(tx: Tx, accountId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>('select count(*) from member where account_id = $1', [accountId]);
  return rows[0]?.count ?? 0;
}

export async function setRole(tx: Tx, accountId: string, personId: string, role: Role): Promise<void> {
  await tx.query('update member set role = $3 where account_id = $1 and person_id = $2', [accountId, personId, role]);
}

export async function deleteMember(tx: Tx, accountId: string, personId: string): Promise<void> {
  await tx.query('delete from member where account_id = $1 and person_id = $2', [accountId, personId]);
  await tx.query('delete from session where account_id = $1 and person_id = $2', [accountId, personId]);
}

export async function deleteAccount(tx: Tx, accountId: string): Promise<void> {
  await tx.query('delete from account where id = $1', [accountId]);
}

/** Stops at `most`: an exact count is not worth reading a large table. */
export async function countAccounts(tx: Tx, most: number): Promise<number> {
  const { rows } = await tx.query<{ count: number }>('select count(*) from (select from account limit $1) a', [most]);
  return rows[0]?.count ?? 0;
}

/** The e-mail of each account's first owner. */
export async function findOwnerEmails(tx: Tx, accountIds: string[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ id: string; email: string }>(
    `select distinct on (m.account_id) m.account_id as id, p.email from member m join person p on p.id = m.person_id
     where m.account_id = any($1) and m.role = 'owner' order by m.account_id, m.joined_at, p.id`,
    [accountIds],
  );
  return new Map(rows.map(({ id, email }) => [id, email]));
}
