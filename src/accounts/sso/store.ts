import { hourMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';

export interface StoredAttempt {
  /** The page to show afterwards. */
  returnTo: string;
  /** The session that joins the identity to its person; null for a sign-in. */
  sessionHash: Buffer | null;
}

export async function insertAttempt(
  tx: Tx,
  { hash, returnTo, sessionHash, expiresAtMs }: StoredAttempt & { hash: Buffer; expiresAtMs: number },
): Promise<void> {
  await tx.query('insert into sso_attempt (hash, return_to, session_hash, expires_at) values ($1, $2, $3, $4)', [
    ...[hash, returnTo, sessionHash],
    toTimestamp(expiresAtMs),
  ]);
}

/** Deletes the attempt, so that it works once. */
export async function takeAttempt(tx: Tx, hash: Buffer, nowMs: number): Promise<StoredAttempt | undefined> {
  const { rows } = await tx.query<StoredAttempt>(
    `delete from sso_attempt where hash = $1 and expires_at > $2
     returning return_to as "returnTo", session_hash as "sessionHash"`,
    [hash, toTimestamp(nowMs)],
  );
  return rows[0];
}

export interface Subject {
  issuer: string;
  subject: string;
}

export async function findPersonOf(tx: Tx, { issuer, subject }: Subject): Promise<string | undefined> {
  const { rows } = await tx.query<{ personId: string }>(
    'select person_id as "personId" from sso_identity where issuer = $1 and subject = $2',
    [issuer, subject],
  );
  return rows[0]?.personId;
}

/** False when the identity belongs to a person, or the person has one of this issuer. */
export async function insertIdentity(tx: Tx, subject: Subject, personId: string, nowMs: number): Promise<boolean> {
  const { count } = await tx.query(
    `insert into sso_identity (issuer, subject, person_id, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
    [subject.issuer, subject.subject, personId, toTimestamp(nowMs)],
  );
  return count > 0;
}

/** Takes the identity of this issuer from the person, ends the sign-ins that wait for a code, and returns its subject. */
export async function deleteIdentity(tx: Tx, personId: string, issuer: string): Promise<string | undefined> {
  const owned = [personId, issuer];
  await tx.query('delete from sso_challenge where person_id = $1 and issuer = $2', owned);
  const { rows } = await tx.query<{ subject: string }>(
    'delete from sso_identity where person_id = $1 and issuer = $2 returning subject',
    owned,
  );
  return rows[0]?.subject;
}

/** Unlinks the person from every provider, and ends sign-ins that wait for a code. */
export async function deleteIdentitiesOf(tx: Tx, personId: string): Promise<void> {
  await tx.query('delete from sso_identity where person_id = $1', [personId]);
  await tx.query('delete from sso_challenge where person_id = $1', [personId]);
}

/** Whether the person signs in by single sign-on. */
export async function hasIdentity(tx: Tx, personId: string, issuer: string): Promise<boolean> {
  const { count } = await tx.query('select 1 from sso_identity where person_id = $1 and issuer = $2', [
    personId,
    issuer,
  ]);
  return count > 0;
}

/** A sign-in that waits for a code of our second factor. */
export interface StoredChallenge extends Subject {
  personId: string;
  operator: boolean;
  refresh: Buffer | null;
}

export async function insertChallenge(
  tx: Tx,
  challenge: StoredChallenge & { hash: Buffer; expiresAtMs: number },
): Promise<void> {
  const { hash, personId, issuer, subject, operator, refresh, expiresAtMs } = challenge;
  await tx.query(
    `insert into sso_challenge (hash, person_id, issuer, subject, operator, refresh, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [hash, personId, issuer, subject, operator, refresh, toTimestamp(expiresAtMs)],
  );
}

export async function findChallenge(tx: Tx, hash: Buffer, nowMs: number): Promise<StoredChallenge | undefined> {
  const { rows } = await tx.query<StoredChallenge>(
    `select person_id as "personId", issuer, subject, operator, refresh
     from sso_challenge where hash = $1 and expires_at > $2`,
    [hash, toTimestamp(nowMs)],
  );
  return rows[0];
}

/** False when it was used. */
export async function deleteChallenge(tx: Tx, hash: Buffer): Promise<boolean> {
  const { count } = await tx.query('delete from sso_challenge where hash = $1', [hash]);
  return count > 0;
}

/** Deletes one batch of attempts and challenges that expired an hour ago. Returns the number of rows. */
export async function deleteOldSso(tx: Tx, nowMs: number): Promise<number> {
  let deleted = 0;
  for (const table of ['sso_attempt', 'sso_challenge']) {
    const { count } = await tx.query(
      `delete from ${table} where hash = any(array(
         select hash from ${table} where expires_at < $1 order by expires_at limit $2))`,
      [toTimestamp(nowMs - hourMs), pieceRows],
    );
    deleted += count;
  }
  return deleted;
}
