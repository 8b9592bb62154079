// Tests: test/contract/find.test.ts
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid } from '../../platform/ids.ts';
import { partKey, readCarrierId } from '../carrier/id.ts';
import { receiptKeysOf } from '../carrier/receipt-keys.ts';

/** Maximum number of carriers' accounts that are searched, and of texts that are found. */
const mostAccounts = 200;
const mostTexts = 20;

/** The texts that a carrier gave this id, in whatever form it writes ids. Ids of different carriers may be equal. */
export async function findTextsByCarrierId(tx: Tx, carrierId: string): Promise<string[]> {
  const id = readCarrierId(carrierId);
  const keys = [...receiptKeysOf(id, { response: 'exact', receipt: 'exact' }), partKey(id, 1)];
  const { rows } = await tx.query<{ id: string }>(searchStatement, [[...new Set(keys)], mostAccounts, mostTexts]);
  return rows.map((row) => fromUuid('msg', row.id));
}

/** The primary key begins with the account, so it is read once for each of the few accounts. */
const searchStatement = {
  name: 'find-texts-by-carrier-id',
  text: `with recursive accounts(name) as (
      (select account from sent_text order by account limit 1)
      union all
      select (select account from sent_text where account > name order by account limit 1)
      from accounts where name is not null)
    select distinct t.message_id as id from (select name from accounts where name is not null limit $2) a
    cross join unnest($1::text[]) as k(key) cross join lateral (
      select message_id from sent_text where account = a.name and receipt_key = k.key
      order by message_id desc limit $3) t
    order by id desc limit $3`,
};
