import type { Tx } from '../../platform/database/database.ts';

/** The carriers that texts wait for, with one index lookup each. */
export async function findQueueKeys(tx: Tx): Promise<string[]> {
  const { rows } = await tx.query<{ carrier: string }>(findKeysStatement);
  return rows.map(({ carrier }) => carrier);
}

const keysOf = (table: string) => `(with recursive k as (
      (select carrier from ${table} order by carrier limit 1)
      union all
      select (select t.carrier from ${table} t where t.carrier > k.carrier order by t.carrier limit 1) from k
      where k.carrier is not null)
    select carrier from k where carrier is not null)`;
const findKeysStatement = {
  name: 'find-queue-keys',
  text: `${keysOf('delivery_queue')} union ${keysOf('delivery_schedule')} union select carrier from delivery_claim`,
};
