import type { Tx } from '../platform/database/database.ts';
import { isLive } from './change-feed.ts';

/** The URL of the portal, from the running node that started last. Undefined when none runs. */
export async function findServiceAddress(tx: Tx): Promise<string | undefined> {
  const { rows } = await tx.query<{ publicUrl: string }>(
    `select public_url as "publicUrl" from node where ${isLive} and role <> 'worker' and public_url is not null
     order by started_at desc, id desc limit 1`,
  );
  return rows[0]?.publicUrl;
}
