import type { Role } from '../../http/route.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  createdAtMs: number;
  expiresAtMs: number;
}

export interface FoundInvitation extends Invitation {
  accountId: string;
  accountName: string;
}

const columns = 'i.id, i.email, i.role, i.created_at as "createdAtMs", i.expires_at as "expiresAtMs"';

/** Replaces an earlier invitation of the same e-mail. */
export async function putInvitation(
  tx: Tx,
  accountId: string,
  { id, email, role, createdAtMs, expiresAtMs }: Invitation,
  hash: Buffer,
): Promise<void> {
  await tx.query('delete from invitation where account_id = $1 and email = $2', [accountId, email]);
  await tx.query(
    `insert into invitation (id, account_id, email, role, hash, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [id, accountId, email, role, hash, toTimestamp(createdAtMs), toTimestamp(expiresAtMs)],
  );
}

export async function listInvitations(tx: Tx, accountId: string, nowMs: number, limit: number): Promise<Invitation[]> {
  const { rows } = await tx.query<Invitation>(
    `select ${columns} from invitation i where account_id = $1 and expires_at > $2 order by id limit $3`,
    [accountId, toTimestamp(nowMs), limit],
  );
  return rows;
}

export async function findInvitation(tx: Tx, hashes: Buffer[], nowMs: number): Promise<FoundInvitation | undefined> {
  const { rows } = await tx.query<FoundInvitation>(
    `select ${columns}, a.id as "accountId", a.name as "accountName"
     from invitation i join account a on a.id = i.account_id where i.hash = any($1::bytea[]) and i.expires_at > $2 and a.disabled_at is null`,
    [hashes, toTimestamp(nowMs)],
  );
  return rows[0];
}

/** Deletes the invitation, so that it works once. False when it was used or withdrawn. */
export async function takeInvitation(tx: Tx, id: string, nowMs: number): Promise<boolean> {
  const { count } = await tx.query('delete from invitation where id = $1 and expires_at > $2', [
    id,
    toTimestamp(nowMs),
  ]);
  return count > 0;
}

export async function deleteInvitation(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const { count } = await tx.query('delete from invitation where account_id = $1 and id = $2', [accountId, id]);
  return count > 0;
}
