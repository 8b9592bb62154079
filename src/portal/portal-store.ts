import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';

export interface Account {
  id: string;
  email: string;
  operator: boolean;
  createdAtMs: number;
}

const accountColumns = 'id, email, operator, created_at as "createdAtMs"';

/** False when the e-mail already has an account. */
export async function insertAccount(tx: Tx, account: Account, passwordHash: string | null): Promise<boolean> {
  const { count } = await tx.query(
    `insert into account (id, email, password_hash, operator, created_at) values ($1, $2, $3, $4, $5)
     on conflict (email) do nothing`,
    [account.id, account.email, passwordHash, account.operator, toTimestamp(account.createdAtMs)],
  );
  return count > 0;
}

export async function findAccountByEmail(
  tx: Tx,
  email: string,
): Promise<(Account & { passwordHash: string | null }) | undefined> {
  const { rows } = await tx.query<Account & { passwordHash: string | null }>(
    `select ${accountColumns}, password_hash as "passwordHash" from account where email = $1`,
    [email],
  );
  return rows[0];
}

export async function findAccount(tx: Tx, id: string): Promise<Account | undefined> {
  const { rows } = await tx.query<Account>(`select ${accountColumns} from account where id = $1`, [id]);
  return rows[0];
}

/** Locks the password until the transaction ends. False when its hash has changed. */
export async function lockPassword(tx: Tx, accountId: string, passwordHash: string): Promise<boolean> {
  const { count } = await tx.query('select 1 from account where id = $1 and password_hash = $2 for share', [
    accountId,
    passwordHash,
  ]);
  return count > 0;
}

/** Replaces the hash by another of the same password, and locks it. False when the hash has changed. */
export async function renewPassword(tx: Tx, accountId: string, before: string, renewed: string): Promise<boolean> {
  const { count } = await tx.query('update account set password_hash = $3 where id = $1 and password_hash = $2', [
    accountId,
    before,
    renewed,
  ]);
  return count > 0;
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
  await tx.query('insert into session (hash, account_id, last_seen_at, expires_at) values ($1, $2, $3, $4)', [
    session.hash,
    session.accountId,
    toTimestamp(session.nowMs),
    toTimestamp(session.expiresAtMs),
  ]);
}

export async function findSession(
  tx: Tx,
  hashes: Buffer[],
  nowMs: number,
  idleSinceMs: number,
): Promise<FoundSession | undefined> {
  const { rows } = await tx.query<FoundSession>(selectSession, [hashes, toTimestamp(nowMs), toTimestamp(idleSinceMs)]);
  return rows[0];
}

interface FoundSession {
  hash: Buffer;
  accountId: string;
  operator: boolean;
  lastSeenAtMs: number;
}

const selectSession = {
  name: 'select-session',
  text: `select s.hash, a.id as "accountId", a.operator, s.last_seen_at as "lastSeenAtMs"
    from session s join account a on a.id = s.account_id
    where s.hash = any($1::bytea[]) and s.expires_at > $2 and s.last_seen_at > $3`,
};

export async function findOpenSessions(
  tx: Tx,
  hashes: Buffer[],
  nowMs: number,
  idleSinceMs: number,
): Promise<Buffer[]> {
  const { rows } = await tx.query<{ hash: Buffer }>(selectOpenSessions, [
    hashes,
    toTimestamp(nowMs),
    toTimestamp(idleSinceMs),
  ]);
  return rows.map(({ hash }) => hash);
}

const selectOpenSessions = {
  name: 'select-open-sessions',
  text: 'select hash from session where hash = any($1::bytea[]) and expires_at > $2 and last_seen_at > $3',
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

export async function findLink(
  tx: Tx,
  hashes: Buffer[],
  nowMs: number,
): Promise<{ hash: Buffer; accountId: string; email: string } | undefined> {
  const { rows } = await tx.query<{ hash: Buffer; accountId: string; email: string }>(
    `select l.hash, a.id as "accountId", a.email from one_time_link l join account a on a.id = l.account_id
     where l.hash = any($1::bytea[]) and l.expires_at > $2`,
    [hashes, toTimestamp(nowMs)],
  );
  return rows[0];
}

/** Deletes the link, so it works once even under simultaneous use, and all other links of the account. */
export async function takeLink(
  tx: Tx,
  accountId: string,
  hash: Buffer,
  nowMs: number,
): Promise<{ makesOperator: boolean } | undefined> {
  // Lock the account first: two links of one account could otherwise deadlock.
  await tx.query('select 1 from account where id = $1 for no key update', [accountId]);
  const { rows } = await tx.query<{ makesOperator: boolean }>(
    'delete from one_time_link where hash = $1 and expires_at > $2 returning makes_operator as "makesOperator"',
    [hash, toTimestamp(nowMs)],
  );
  if (rows[0] !== undefined) await tx.query('delete from one_time_link where account_id = $1', [accountId]);
  return rows[0];
}

export async function isKnownAddress(
  tx: Tx,
  accountId: string,
  addressHashes: Buffer[],
  sinceMs: number,
): Promise<boolean> {
  const { count } = await tx.query(
    'select 1 from known_address where account_id = $1 and address_hash = any($2::bytea[]) and seen_at > $3',
    [accountId, addressHashes, toTimestamp(sinceMs)],
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

/** Stops at `most`: an exact count is not worth reading a large table. */
export async function countAccounts(tx: Tx, most: number): Promise<number> {
  const { rows } = await tx.query<{ count: number }>('select count(*) from (select from account limit $1) a', [most]);
  return rows[0]?.count ?? 0;
}

export async function findEmails(tx: Tx, accountIds: string[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ id: string; email: string }>('select id, email from account where id = any($1)', [
    accountIds,
  ]);
  return new Map(rows.map(({ id, email }) => [id, email]));
}
