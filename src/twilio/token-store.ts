import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import type { TokenSource } from './token.ts';

export interface StoredToken extends TokenSource {
  createdAtMs: number;
  /** When the token stops working after a rotation; null for the newest one. */
  endsAtMs: number | null;
}

const columns = `application_id as "applicationId", version::float8 as version, ring_version as "ringVersion",
    created_at as "createdAtMs", ends_at as "endsAtMs"`;

/** Those in force, newest first. */
export async function listTokens(tx: Tx, applicationId: string, nowMs: number): Promise<StoredToken[]> {
  const { rows } = await tx.query<StoredToken>(listStatement, [applicationId, toTimestamp(nowMs)]);
  return rows;
}

const listStatement = {
  name: 'list-twilio-tokens',
  text: `select ${columns} from twilio_token where application_id = $1 and (ends_at is null or ends_at > $2)
    order by ends_at desc nulls first, created_at desc, version desc`,
};

/** The newest token of each application: it signs callbacks. */
export async function findNewest(tx: Tx, applicationIds: string[]): Promise<Map<string, StoredToken>> {
  const { rows } = await tx.query<StoredToken>(newestStatement, [applicationIds]);
  return new Map(rows.map((row) => [row.applicationId, row]));
}

const newestStatement = {
  name: 'find-newest-twilio-tokens',
  text: `select ${columns} from twilio_token where application_id = any($1) and ends_at is null`,
};

/** Whether any application has a token. */
export async function hasTokens(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ has: boolean }>(hasStatement);
  return rows[0]?.has === true;
}

const hasStatement = { name: 'has-twilio-tokens', text: 'select exists (select from twilio_token) as has' };

export async function insertToken(tx: Tx, { applicationId, version, ringVersion, createdAtMs }: StoredToken) {
  await tx.query(
    'insert into twilio_token (application_id, version, ring_version, created_at) values ($1, $2, $3, $4)',
    [applicationId, version, ringVersion, toTimestamp(createdAtMs)],
  );
}

/** Ends the tokens in force at this time, or earlier as planned, and deletes expired ones. */
export async function endTokens(tx: Tx, applicationId: string, endsAtMs: number, nowMs: number): Promise<void> {
  await tx.query('update twilio_token set ends_at = least(ends_at, $2) where application_id = $1', [
    applicationId,
    toTimestamp(endsAtMs),
  ]);
  await tx.query('delete from twilio_token where application_id = $1 and ends_at <= $2', [
    applicationId,
    toTimestamp(nowMs),
  ]);
}

/** Returns false if there was none. */
export async function deleteTokens(tx: Tx, applicationId: string): Promise<boolean> {
  const { count } = await tx.query('delete from twilio_token where application_id = $1', [applicationId]);
  return count > 0;
}
