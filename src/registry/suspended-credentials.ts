import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';

/** Suspends every API key, client secret and public key of a client: a restored store does not know which were deleted since. Returns how many. */
export async function suspendCredentials(tx: Tx, nowMs: number): Promise<number> {
  const now = [toTimestamp(nowMs)];
  const keys = await tx.query('update api_key set suspended_at = $1 where suspended_at is null', now);
  const secrets = await tx.query('update client_secret set suspended_at = $1 where suspended_at is null', now);
  const publicKeys = await tx.query('update client_key set suspended_at = $1 where suspended_at is null', now);
  return keys.count + secrets.count + publicKeys.count;
}

/** False if it is not suspended. */
export async function enableApiKey(tx: Tx, id: string): Promise<boolean> {
  const { count } = await tx.query(
    'update api_key set suspended_at = null where id = $1 and suspended_at is not null',
    [id],
  );
  return count > 0;
}

export async function enableClientSecret(tx: Tx, id: string): Promise<boolean> {
  const { count } = await tx.query(
    'update client_secret set suspended_at = null where id = $1 and suspended_at is not null',
    [id],
  );
  return count > 0;
}

const keysOfAccount = `application_id in (select id from application where account_id = $1)`;
/** SQL that selects client secrets and public keys of an account. */
const ofClients = `client_id in (select c.id from oauth_client c where c.${keysOfAccount})`;

/** Enables every credential of an account. Returns how many there were. */
export async function enableAll(tx: Tx, accountId: string): Promise<number> {
  const keys = await tx.query(
    `update api_key set suspended_at = null where suspended_at is not null and ${keysOfAccount}`,
    [accountId],
  );
  const secrets = await tx.query(
    `update client_secret set suspended_at = null where suspended_at is not null and ${ofClients}`,
    [accountId],
  );
  const publicKeys = await tx.query(
    `update client_key set suspended_at = null where suspended_at is not null and ${ofClients}`,
    [accountId],
  );
  return keys.count + secrets.count + publicKeys.count;
}

export async function countSuspended(tx: Tx, accountId: string): Promise<number> {
  const { rows } = await tx.query<{ suspended: number }>(
    `select (select count(*) from api_key where suspended_at is not null and ${keysOfAccount})
       + (select count(*) from client_secret where suspended_at is not null and ${ofClients})
       + (select count(*) from client_key where suspended_at is not null and ${ofClients}) as suspended`,
    [accountId],
  );
  return rows[0]?.suspended ?? 0;
}
