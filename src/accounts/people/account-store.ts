import type { PageRequest } from '../../http/list-page.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';

/** An account as operators see it. */
export interface ListedAccount {
  id: string;
  name: string;
  createdAtMs: number;
  disabledAtMs: number | null;
  disabledReason: string | null;
  members: number;
}

const columns = `a.id, a.name, a.created_at as "createdAtMs", a.disabled_at as "disabledAtMs",
  a.disabled_reason as "disabledReason", (select count(*) from member m where m.account_id = a.id) as members`;

/** Maximum e-mails and names that a search reads. */
const mostHits = 1000;

/** Newest first. Without a search, all accounts. */
export async function listAccounts(tx: Tx, search: string | undefined, page: PageRequest): Promise<ListedAccount[]> {
  const { limit, after = null } = page;
  if (search === undefined || search === '') {
    const { rows } = await tx.query<ListedAccount>(
      `select ${columns} from account a where $1::text is null or a.id < $1 order by a.id desc limit $2`,
      [after, limit],
    );
    return rows;
  }
  const { rows } = await tx.query<ListedAccount>(searchAccounts, [after, limit, search, likeAny(search), mostHits]);
  return rows;
}

const searchAccounts = `with hit as (
    (select $3::text as id)
    union (select m.account_id from person p join member m on m.person_id = p.id where p.email like $4 limit $5)
    union (select id from account where lower(name) like $4 limit $5))
  select ${columns} from account a
  where a.id = any(array(select id from hit)) and ($1::text is null or a.id < $1) order by a.id desc limit $2`;

/** Accounts of people whose e-mail contains the text. */
export async function findAccountsByEmail(tx: Tx, text: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select distinct m.account_id as id from person p join member m on m.person_id = p.id where p.email like $1 limit $2`,
    [likeAny(text), mostHits],
  );
  return rows.map(({ id }) => id);
}

/** Finds the text anywhere, in any letter case. */
export function likeAny(text: string): string {
  return `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
}

export async function findAccount(tx: Tx, id: string): Promise<ListedAccount | undefined> {
  const { rows } = await tx.query<ListedAccount>(`select ${columns} from account a where a.id = $1`, [id]);
  return rows[0];
}

/** Without a reason the account is enabled. False when the account does not exist, or already has this state. */
export async function setDisabled(tx: Tx, id: string, reason: string | null, nowMs: number): Promise<boolean> {
  const { count } = await tx.query(
    `update account set disabled_reason = $2, disabled_at = case when $2::text is null then null else $3::timestamptz end
     where id = $1 and (disabled_at is null) <> ($2::text is null)`,
    [id, reason, toTimestamp(nowMs)],
  );
  return count > 0;
}
