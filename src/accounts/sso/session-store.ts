import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { Subject } from './store.ts';

/** A session that single sign-on opened. */
export interface SsoSession extends Subject {
  sessionHash: Buffer;
  /** Sealed; null without a refresh token. */
  refresh: Buffer | null;
}

export async function insertSsoSession(tx: Tx, session: SsoSession, dueAtMs: number): Promise<void> {
  const { sessionHash, issuer, subject, refresh } = session;
  await tx.query(
    'insert into sso_session (session_hash, issuer, subject, refresh, due_at) values ($1, $2, $3, $4, $5)',
    [sessionHash, issuer, subject, refresh, toTimestamp(dueAtMs)],
  );
}

export async function findSsoSession(tx: Tx, sessionHash: Buffer): Promise<SsoSession | undefined> {
  const { rows } = await tx.query<SsoSession>(
    'select session_hash as "sessionHash", issuer, subject, refresh from sso_session where session_hash = $1',
    [sessionHash],
  );
  return rows[0];
}

/** Ends the sessions that this identity has opened. */
export async function deleteSessionsBy(tx: Tx, { issuer, subject }: Subject, personId: string): Promise<void> {
  await tx.query(
    `delete from session where person_id = $3 and hash in (
       select session_hash from sso_session where issuer = $1 and subject = $2)`,
    [issuer, subject, personId],
  );
}

/** Leases sessions to recheck. Only one node gets each: a refresh token must not be used twice. */
export async function claimDueSessions(
  tx: Tx,
  { nowMs, leasedUntilMs, limit }: { nowMs: number; leasedUntilMs: number; limit: number },
): Promise<(SsoSession & { refresh: Buffer })[]> {
  const { rows } = await tx.query<SsoSession & { refresh: Buffer }>(claimDue, [
    ...[toTimestamp(nowMs), toTimestamp(leasedUntilMs), limit],
  ]);
  return rows;
}

const claimDue = {
  name: 'claim-sso-sessions',
  text: `update sso_session set leased_until = $2 where session_hash = any(array(
      select session_hash from sso_session
      where refresh is not null and due_at <= $1 and (leased_until is null or leased_until < $1)
      order by due_at limit $3 for update skip locked))
    returning session_hash as "sessionHash", issuer, subject, refresh`,
};

/** The provider vouched for the person. Takes back the rights of operators when their claim is gone. */
export async function renewSession(
  tx: Tx,
  renewed: { sessionHash: Buffer; refresh: Buffer; operator: boolean | undefined },
  { dueAtMs, endsAtMs, absoluteMs }: { dueAtMs: number; endsAtMs: number; absoluteMs: number },
): Promise<void> {
  const { sessionHash, refresh, operator } = renewed;
  await tx.query('update sso_session set refresh = $2, due_at = $3, leased_until = null where session_hash = $1', [
    ...[sessionHash, refresh, toTimestamp(dueAtMs)],
  ]);
  await tx.query(
    `update session set expires_at = least($2::timestamptz, created_at + $3 * interval '1 millisecond'),
       operator = operator and $4 where hash = $1`,
    [sessionHash, toTimestamp(endsAtMs), absoluteMs, operator ?? true],
  );
}

/**
 * The provider is away: try again soon, with the new token if there is one. The session ends an hour after the last good
 * check.
 */
export async function postponeRecheck(
  tx: Tx,
  sessionHash: Buffer,
  dueAtMs: number,
  refresh: Buffer | null = null,
): Promise<void> {
  await tx.query(
    'update sso_session set due_at = $2, leased_until = null, refresh = coalesce($3, refresh) where session_hash = $1',
    [sessionHash, toTimestamp(dueAtMs), refresh],
  );
}
