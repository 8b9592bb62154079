import type { Tx } from '../../platform/database/database.ts';

/** An owner of an account. A person may own several, and an account may have several owners. */
export interface Owner {
  accountId: string;
  email: string;
}

/** The accounts that these people own. */
export async function listOwnedBy(tx: Tx, emails: readonly string[]): Promise<Owner[]> {
  const { rows } = await tx.query<Owner>(
    `select m.account_id as "accountId", p.email from person p join member m on m.person_id = p.id
     where p.email = any($1::text[]) and m.role = 'owner' order by p.email, m.joined_at, m.account_id limit $2`,
    [emails, emails.length * mostOwned],
  );
  return rows;
}

const mostOwned = 50;

/** The owners of these accounts, the oldest first. */
export async function listOwnersOf(tx: Tx, accountIds: readonly string[]): Promise<Owner[]> {
  const { rows } = await tx.query<Owner>(
    `select distinct on (m.account_id) m.account_id as "accountId", p.email from member m join person p on p.id = m.person_id
     where m.account_id = any($1::text[]) and m.role = 'owner' order by m.account_id, m.joined_at, p.id`,
    [accountIds],
  );
  return rows;
}

/** Those of the ids that belong to accounts. */
export async function findAccountIds(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>('select id from account where id = any($1::text[])', [ids]);
  return rows.map(({ id }) => id);
}
