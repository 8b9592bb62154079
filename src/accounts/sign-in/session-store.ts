import type { Role } from '../../http/route.ts';
import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';

export interface NewSession {
  hash: Buffer;
  personId: string;
  accountId: string;
  address: string;
  nowMs: number;
  expiresAtMs: number;
  /** Until then an operator may set up a second factor in this session. */
  enrolsUntilMs: number | null;
  /** A claim of the sign-on provider gives this session the rights of an operator. */
  operator: boolean;
  /** The sign-on provider asked for a second factor. */
  secondFactor: boolean;
}

/** The facts that decide whether a person may set up a second factor. */
export interface Enrolment {
  operator: boolean;
  enrolsUntilMs: number | null;
}

/** When a session is valid. */
export interface SessionBounds {
  nowMs: number;
  /** A session that was last used before then has ended. */
  idleSinceMs: number;
  /**
   * Single sign-on is the only way in: other sessions are not valid, except those of operators, who may use a link from the
   * machine.
   */
  ssoOnly: boolean;
}

export interface FoundSession {
  hash: Buffer;
  personId: string;
  accountId: string;
  role: Role;
  operator: boolean;
  secondFactor: boolean;
  lastSeenAtMs: number;
}

export interface ListedSession {
  hash: Buffer;
  address: string;
  createdAtMs: number;
  lastSeenAtMs: number;
}

/** Maximum sessions in a list. */
const mostListed = 100;

export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  const { hash, personId, accountId, address, nowMs, expiresAtMs, enrolsUntilMs, operator, secondFactor } = session;
  await tx.query(
    `insert into session
       (hash, person_id, account_id, address, created_at, last_seen_at, expires_at, enrols_until, operator, second_factor)
     values ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9)`,
    [
      ...[hash, personId, accountId, address, toTimestamp(nowMs), toTimestamp(expiresAtMs)],
      ...[timestampOrNull(enrolsUntilMs), operator, secondFactor],
    ],
  );
}

/** Undefined when the session has ended. */
export async function findEnrolment(tx: Tx, hash: Buffer): Promise<Enrolment | undefined> {
  const { rows } = await tx.query<Enrolment>(
    `select p.operator or s.operator as operator, s.enrols_until as "enrolsUntilMs" from session s join person p on p.id = s.person_id
     where s.hash = $1`,
    [hash],
  );
  return rows[0];
}

export async function findSession(tx: Tx, hashes: Buffer[], bounds: SessionBounds): Promise<FoundSession | undefined> {
  const { rows } = await tx.query<FoundSession>(selectSession, [hashes, ...valuesOf(bounds)]);
  return rows[0];
}

// With `ssoOnly`, a session that a password opened is not valid. The subqueries run only then.
const valid = `s.expires_at > $2 and s.last_seen_at > $3 and (not $4::boolean
  or exists (select from sso_session by_sso where by_sso.session_hash = s.hash)
  or exists (select from person o where o.id = s.person_id and o.operator))`;
const valuesOf = ({ nowMs, idleSinceMs, ssoOnly }: SessionBounds) => [
  toTimestamp(nowMs),
  toTimestamp(idleSinceMs),
  ssoOnly,
];
/** A session ends with the membership, and when the account is disabled. */
const ofMember = `join member m on m.account_id = s.account_id and m.person_id = s.person_id
  join account a on a.id = s.account_id and a.disabled_at is null`;

const selectSession = {
  name: 'select-session',
  text: `select s.hash, s.person_id as "personId", s.account_id as "accountId", m.role,
      p.operator or s.operator as operator,
      s.last_seen_at as "lastSeenAtMs",
      s.second_factor or exists (select from second_factor f where f.person_id = s.person_id and f.confirmed_at is not null)
        as "secondFactor"
    from session s ${ofMember} join person p on p.id = s.person_id
    where s.hash = any($1::bytea[]) and ${valid}`,
};

/** The person of a session that has not ended. */
export async function findSessionPerson(tx: Tx, hash: Buffer, nowMs: number): Promise<string | undefined> {
  const { rows } = await tx.query<{ personId: string }>(
    'select person_id as "personId" from session where hash = $1 and expires_at > $2',
    [hash, toTimestamp(nowMs)],
  );
  return rows[0]?.personId;
}

export async function findOpenSessions(tx: Tx, hashes: Buffer[], bounds: SessionBounds): Promise<Buffer[]> {
  const { rows } = await tx.query<{ hash: Buffer }>(selectOpenSessions, [hashes, ...valuesOf(bounds)]);
  return rows.map(({ hash }) => hash);
}

const selectOpenSessions = {
  name: 'select-open-sessions',
  text: `select s.hash from session s ${ofMember} where s.hash = any($1::bytea[]) and ${valid}`,
};

export async function listSessions(tx: Tx, personId: string, bounds: SessionBounds): Promise<ListedSession[]> {
  const { rows } = await tx.query<ListedSession>(
    `select s.hash, s.address, s.created_at as "createdAtMs", s.last_seen_at as "lastSeenAtMs"
     from session s ${ofMember} where s.person_id = $1 and ${valid} order by s.last_seen_at desc, s.hash limit $5`,
    [personId, ...valuesOf(bounds), mostListed],
  );
  return rows;
}

export async function touchSession(tx: Tx, hash: Buffer, nowMs: number): Promise<void> {
  await tx.query('update session set last_seen_at = $2 where hash = $1', [hash, toTimestamp(nowMs)]);
}

export async function deleteSession(tx: Tx, hash: Buffer): Promise<void> {
  await tx.query('delete from session where hash = $1', [hash]);
}

/** Deletes the person's session whose hash has this prefix. False when there is none. */
export async function deleteSessionOf(tx: Tx, personId: string, hashStart: Buffer): Promise<boolean> {
  const { count } = await tx.query(
    'delete from session where person_id = $1 and substr(hash, 1, length($2::bytea)) = $2',
    [personId, hashStart],
  );
  return count > 0;
}

/** Deletes all sessions of the person, or all but one. */
export async function deleteSessionsOf(tx: Tx, personId: string, but?: Buffer): Promise<void> {
  await tx.query('delete from session where person_id = $1 and ($2::bytea is null or hash <> $2)', [
    personId,
    but ?? null,
  ]);
}

/** Ends the sessions of an account. */
export async function deleteSessionsFor(tx: Tx, accountId: string): Promise<void> {
  await tx.query('delete from session where account_id = $1', [accountId]);
}

/** Makes the session act for this account from now on. */
export async function setSessionAccount(tx: Tx, hash: Buffer, accountId: string): Promise<void> {
  await tx.query('update session set account_id = $2 where hash = $1', [hash, accountId]);
}
