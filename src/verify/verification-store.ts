import type { MessageErrorCode, MessageStatus } from '../messages/message.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { idFloor, idTimeMs, longestRequestMs } from '../platform/ids.ts';
import { fromTextRows, toTextRows } from '../platform/text-rows.ts';
import type { Verification } from './verification.ts';

export const verificationColumns = `id, application_id as "applicationId", channel, recipient as "to", prefix, status,
  reason, code_length as "codeLength", ring_version as "ringVersion", test_number as "testNumber", attempts,
  max_attempts as "maxAttempts", sends, reference, correlation_id as "correlationId",
  resend_available_at as "resendAvailableAtMs", created_at as "createdAtMs", updated_at as "updatedAtMs",
  expires_at as "expiresAtMs", approved_at as "approvedAtMs"`;

/**
 * The condition for a number or prefix. It is the first column of the indexes meant for it, and says nothing of
 * `application_id` alone: else Postgres may read all of an application's rows by another index.
 */
export const isNumber = (applicationId: string, to: string) =>
  `application_id || ' ' || recipient = ${applicationId} || ' ' || ${to}`;
export const isPrefix = (applicationId: string, prefix: string) =>
  `application_id || ' ' || prefix = ${applicationId} || ' ' || ${prefix}`;

/**
 * For rows found by id. No index matches this form: with plain `status = 'pending'` Postgres would scan the small index
 * of pending rows. Lookups by number use the plain form and the unique index.
 */
export const isPending = "status || '' = 'pending'";

const withNewestText = (rows: string) => `select v.*, m.id as "messageId", m.status as "messageStatus",
      m.error_code as "errorCode"
    from ${rows} v left join lateral (
      select id, status, error_code from message where verification_id = v.id order by id desc limit 1) m on true`;

/** Expires lapsed verifications in the background: at most `limit` rows, skipping those that a request has locked. */
export async function expireSome(tx: Tx, limit: number, nowMs: number): Promise<number> {
  const { count } = await tx.query(expireSomeStatement, [toTimestamp(nowMs), limit]);
  return count;
}

const expireSomeStatement = {
  name: 'expire-some-verifications',
  text: `update verification set status = 'expired', reason = 'ttl_elapsed', updated_at = expires_at,
      sequence = sequence + 1
    where ctid = any(array(
      select ctid from verification where lapses_at <= $1
      order by lapses_at limit $2 for update skip locked))`,
};

export interface CheckRow {
  id: string;
  applicationId: string;
  codeLength: number;
  /** The ring versions under which the code is right. */
  rightUnder: number[];
  isTestCode: boolean;
}

/** A verification with its newest text. */
export interface VerificationWithText extends Verification {
  messageId: string | null;
  messageStatus: MessageStatus;
  errorCode: MessageErrorCode | null;
}

/**
 * Decides all checks in one statement. The code has been compared already, so the statement only tests that the
 * verification is still open; a check that changes no row came too late.
 */
export async function decideChecks(tx: Tx, checks: CheckRow[], nowMs: number): Promise<VerificationWithText[]> {
  const { rows } = await tx.query<VerificationWithText>(decideStatement, [
    ...toTextRows(
      checks.map(({ id, applicationId, codeLength, rightUnder, isTestCode }) => [
        id,
        applicationId,
        codeLength,
        `{${rightUnder.join()}}`,
        isTestCode,
      ]),
    ),
    toTimestamp(nowMs),
  ]);
  return rows;
}

/** A code of another length is always wrong. */
const right =
  '(code_length = k.c[3]::smallint and case when test_number then k.c[5]::boolean else ring_version = any(k.c[4]::integer[]) end)';
const decideStatement = {
  name: 'decide-checks',
  text: `with decided as (update verification v set
      status = case when ${right} then 'approved' when attempts + 1 >= max_attempts then 'failed' else 'pending' end,
      reason = case when ${right} then null when attempts + 1 >= max_attempts then 'max_attempts_reached' end,
      attempts = attempts + case when ${right} then 0 else 1 end,
      approved_at = case when ${right} then $6::timestamptz end,
      updated_at = $6::timestamptz, sequence = sequence + 1
    from ${fromTextRows()} k
    where v.id = k.c[1] and v.application_id = k.c[2] and ${isPending} and v.expires_at > $6
    returning ${verificationColumns})
    ${withNewestText('decided')}`,
};

/** A verification within its application. */
export interface VerificationKey {
  applicationId: string;
  id: string;
}

/** Returns the verification and newest text for each key, in order, with one query. */
export async function findByKeys(tx: Tx, keys: VerificationKey[]): Promise<(VerificationWithText | undefined)[]> {
  const { rows } = await tx.query<VerificationWithText | { id: null }>(
    selectByKeys,
    toTextRows(keys.map(({ id, applicationId }) => [id, applicationId])),
  );
  return rows.map((row) => (row.id === null ? undefined : row));
}

const selectByKeys = {
  name: 'select-verifications-by-keys',
  text: `${withNewestText(`(select r.*, k.place from ${fromTextRows()} k
      left join lateral (
        select ${verificationColumns} from verification where id = k.c[1] and application_id = k.c[2] limit 1) r on true)`)}
    order by v.place`,
};

export async function findVerification(tx: Tx, applicationId: string, id: string): Promise<Verification | undefined> {
  const { rows } = await tx.query<Verification>(selectOne, [id, applicationId]);
  return rows[0];
}

const selectOne = {
  name: 'select-verification',
  text: `select ${verificationColumns} from verification where id = $1 and application_id = $2`,
};

/** Cancels a pending verification; undefined when it is not pending. */
export async function cancelPending(
  tx: Tx,
  applicationId: string,
  id: string,
  nowMs: number,
): Promise<Verification | undefined> {
  const { rows } = await tx.query<Verification>(
    `update verification set status = 'canceled', reason = 'canceled_by_client', updated_at = $3, sequence = sequence + 1
     where id = $1 and application_id = $2 and ${isPending} and expires_at > $3 returning ${verificationColumns}`,
    [id, applicationId, toTimestamp(nowMs)],
  );
  return rows[0];
}

/** The verification that a request started, found by id range like the texts in `findMessagesOfRequest`. */
export async function findVerificationOfRequest(
  tx: Tx,
  applicationIds: string[],
  correlationId: string,
): Promise<Verification | undefined> {
  const madeMs = idTimeMs(correlationId);
  const { rows } = await tx.query<Verification>(
    `select v.* from unnest($4::text[]) as a(id) cross join lateral (
       select ${verificationColumns} from verification
       where application_id = a.id and id >= $2 and id < $3 and correlation_id = $1 limit 1) v limit 1`,
    [correlationId, idFloor('ver', madeMs - 1000), idFloor('ver', madeMs + longestRequestMs), applicationIds],
  );
  return rows[0];
}
