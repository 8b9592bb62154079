import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';

export interface Account {
  id: string;
  email: string;
  operator: boolean;
  createdAtMs: number;
}

const accountColumns = 'id, email, operator, created_at as "createdAtMs"';

/** False when the address already has an account. */
export async function insertAccount(tx: Tx, account: Account, passwordHash: string | null): Promise<boolean> {
  const { count } = await tx.query(
    `insert into account (id, email, password_hash, operator, created_at) values ($1, $2, $3, $4, $5)
     on conflict (lower(email)) do nothing`,
    [account.id, account.email, passwordHash, account.operator, toTimestamp(account.createdAtMs)],
  );
  return count > 0;
}

export async function findAccountByEmail(
  tx: Tx,
  email: string,
): Promise<(Account & { passwordHash: string | null }) | undefined> {
  const { rows } = await tx.query<Account & { passwordHash: string | null }>(
    `select ${accountColumns}, password_hash as "passwordHash" from account where lower(email) = lower($1)`,
    [email],
  );
  return rows[0];
}

export async function findAccount(tx: Tx, id: string): Promise<Account | undefined> {
  const { rows } = await tx.query<Account>(`select ${accountColumns} from account where id = $1`, [id]);
  return rows[0];
}

export async function setPassword(tx: Tx, accountId: string, passwordHash: string): Promise<void> {
  await tx.query('update account set password_hash = $2 where id = $1', [accountId, passwordHash]);
}

export async function makeOperator(tx: Tx, accountId: string): Promise<void> {
  await tx.query('update account set operator = true where id = $1', [accountId]);
}

export async function insertSession(
  tx: Tx,
  session: { hash: Buffer; accountId: string; nowMs: number; expiresAtMs: number },
): Promise<void> {
  await tx.query(
    'insert into session (hash, account_id, created_at, last_seen_at, expires_at) values ($1, $2, $3, $3, $4)',
    [session.hash, session.accountId, toTimestamp(session.nowMs), toTimestamp(session.expiresAtMs)],
  );
}

export async function findSession(
  tx: Tx,
  hash: Buffer,
  nowMs: number,
  idleSinceMs: number,
): Promise<{ accountId: string; operator: boolean; lastSeenAtMs: number } | undefined> {
  const { rows } = await tx.query<{ accountId: string; operator: boolean; lastSeenAtMs: number }>(selectSession, [
    hash,
    toTimestamp(nowMs),
    toTimestamp(idleSinceMs),
  ]);
  return rows[0];
}

const selectSession = {
  name: 'select-session',
  text: `select a.id as "accountId", a.operator, s.last_seen_at as "lastSeenAtMs"
    from session s join account a on a.id = s.account_id
    where s.hash = $1 and s.expires_at > $2 and s.last_seen_at > $3`,
};

export async function touchSession(tx: Tx, hash: Buffer, nowMs: number): Promise<void> {
  await tx.query('update session set last_seen_at = $2 where hash = $1', [hash, toTimestamp(nowMs)]);
}

export async function deleteSession(tx: Tx, hash: Buffer): Promise<void> {
  await tx.query('delete from session where hash = $1', [hash]);
}

export async function deleteSessionsOf(tx: Tx, accountId: string): Promise<void> {
  await tx.query('delete from session where account_id = $1', [accountId]);
}

export async function deleteDeadSessions(tx: Tx, nowMs: number): Promise<void> {
  await tx.query('delete from session where expires_at <= $1', [toTimestamp(nowMs)]);
}

export async function insertLink(
  tx: Tx,
  link: { hash: Buffer; accountId: string; makesOperator: boolean; expiresAtMs: number },
): Promise<void> {
  await tx.query('insert into one_time_link (hash, account_id, makes_operator, expires_at) values ($1, $2, $3, $4)', [
    link.hash,
    link.accountId,
    link.makesOperator,
    toTimestamp(link.expiresAtMs),
  ]);
}

/** Taking a link is deleting it, so it works once however many take it together. All others of the account go too. */
export async function takeLink(
  tx: Tx,
  hash: Buffer,
  nowMs: number,
): Promise<{ accountId: string; makesOperator: boolean } | undefined> {
  const { rows } = await tx.query<{ accountId: string; makesOperator: boolean }>(
    `delete from one_time_link where hash = $1 and expires_at > $2
     returning account_id as "accountId", makes_operator as "makesOperator"`,
    [hash, toTimestamp(nowMs)],
  );
  const link = rows[0];
  if (link !== undefined) await tx.query('delete from one_time_link where account_id = $1', [link.accountId]);
  return link;
}

export async function isKnownAddress(
  tx: Tx,
  accountId: string,
  addressHash: Buffer,
  sinceMs: number,
): Promise<boolean> {
  const { count } = await tx.query(
    'select 1 from known_address where account_id = $1 and address_hash = $2 and seen_at > $3',
    [accountId, addressHash, toTimestamp(sinceMs)],
  );
  return count > 0;
}

export async function putKnownAddress(tx: Tx, accountId: string, addressHash: Buffer, nowMs: number): Promise<void> {
  await tx.query(
    `insert into known_address (account_id, address_hash, seen_at) values ($1, $2, $3)
     on conflict (account_id, address_hash) do update set seen_at = $3`,
    [accountId, addressHash, toTimestamp(nowMs)],
  );
}

export interface SystemCounts {
  accounts: number;
  applications: number;
  pendingRegistrations: number;
}

/** Counts stop here: beyond, the exact number is not worth reading a large table for. */
const mostCounted = 100_000;

export async function readSystemCounts(tx: Tx): Promise<SystemCounts> {
  const { rows } = await tx.query<SystemCounts>(
    `select (select count(*) from (select from account limit $1) a) as accounts,
       (select count(*) from (select from application limit $1) a) as applications,
       (select count(*) from (select from registration where status = 'pending' or requested_plan is not null limit $1) r)
         as "pendingRegistrations"`,
    [mostCounted],
  );
  return rows[0] ?? { accounts: 0, applications: 0, pendingRegistrations: 0 };
}
