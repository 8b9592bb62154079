import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';

export interface StoredFactor {
  /** Sealed by the key ring. */
  secret: Buffer;
  confirmed: boolean;
  /** The secret that waits for its first right code, also sealed. */
  replacement: Buffer | null;
}

/** Replaces a secret that was never confirmed. Returns false if there is a confirmed one, which stays. */
export async function putFactor(tx: Tx, personId: string, secret: Buffer, nowMs: number): Promise<boolean> {
  const { count } = await tx.query(
    `insert into second_factor (person_id, secret, last_step, created_at) values ($1, $2, 0, $3)
     on conflict (person_id) do update set secret = $2, created_at = $3 where second_factor.confirmed_at is null`,
    [personId, secret, toTimestamp(nowMs)],
  );
  return count > 0;
}

export async function findFactor(tx: Tx, personId: string, nowMs: number): Promise<StoredFactor | undefined> {
  const { rows } = await tx.query<StoredFactor>(
    `select secret, confirmed_at is not null as confirmed,
       case when replacement_until > $2 then replacement end as replacement
     from second_factor where person_id = $1`,
    [personId, toTimestamp(nowMs)],
  );
  return rows[0];
}

/** Adds a replacement beside the confirmed secret, which stays valid until the replacement is confirmed. */
export async function putReplacement(tx: Tx, personId: string, secret: Buffer, untilMs: number): Promise<void> {
  await tx.query('update second_factor set replacement = $2, replacement_until = $3 where person_id = $1', [
    personId,
    secret,
    toTimestamp(untilMs),
  ]);
}

/** The replacement becomes the secret; its first code, of `step`, is used up. */
export async function takeReplacement(tx: Tx, personId: string, step: number, nowMs: number): Promise<void> {
  await tx.query(
    `update second_factor set secret = replacement, last_step = $2, confirmed_at = $3, created_at = $3,
       replacement = null, replacement_until = null
     where person_id = $1 and replacement is not null`,
    [personId, step, toTimestamp(nowMs)],
  );
}

/** Uses up the code of a step. False when it, or a later one, was already used. */
export async function takeStep(tx: Tx, personId: string, step: number): Promise<boolean> {
  const { count } = await tx.query('update second_factor set last_step = $2 where person_id = $1 and last_step < $2', [
    personId,
    step,
  ]);
  return count > 0;
}

/** Uses up the code of the step. False when it was already confirmed. */
export async function confirmFactor(tx: Tx, personId: string, step: number, nowMs: number): Promise<boolean> {
  const { count } = await tx.query(
    'update second_factor set confirmed_at = $3, last_step = $2 where person_id = $1 and confirmed_at is null',
    [personId, step, toTimestamp(nowMs)],
  );
  return count > 0;
}

export async function deleteFactor(tx: Tx, personId: string): Promise<void> {
  await tx.query('delete from recovery_code where person_id = $1', [personId]);
  await tx.query('delete from second_factor where person_id = $1', [personId]);
}

export async function replaceRecoveryCodes(tx: Tx, personId: string, hashes: Buffer[]): Promise<void> {
  await tx.query('delete from recovery_code where person_id = $1', [personId]);
  await tx.query('insert into recovery_code (person_id, hash) select $1, unnest($2::bytea[])', [personId, hashes]);
}

/** Uses up a recovery code. False when the code does not exist. */
export async function takeRecoveryCode(tx: Tx, personId: string, hashes: Buffer[]): Promise<boolean> {
  const { count } = await tx.query('delete from recovery_code where person_id = $1 and hash = any($2::bytea[])', [
    personId,
    hashes,
  ]);
  return count > 0;
}

export async function countRecoveryCodes(tx: Tx, personId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>('select count(*) from recovery_code where person_id = $1', [
    personId,
  ]);
  return rows[0]?.count ?? 0;
}
