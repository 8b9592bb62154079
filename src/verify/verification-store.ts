import type { Message, MessageErrorCode, MessageStatus } from '../messages/message.ts';
import { insertMessagesFrom, messageRows } from '../messages/message-store.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { idFloor, idTimeMs, longestRequestMs } from '../platform/ids.ts';
import { fromTextRows, type TextRows, toTextRows } from '../platform/text-rows.ts';
import { dayMs, mostFailuresADay, type Verification, verificationStatuses } from './verification.ts';

export const verificationColumns = `id, application_id as "applicationId", channel, recipient, prefix, status, reason,
  code_length as "codeLength", ring_version as "ringVersion", test_number as "testNumber", attempts,
  max_attempts as "maxAttempts", sends, reference, correlation_id as "correlationId",
  resend_available_at as "resendAvailableAtMs", created_at as "createdAtMs", updated_at as "updatedAtMs",
  expires_at as "expiresAtMs", approved_at as "approvedAtMs"`;

/**
 * The condition for a number or prefix. It is the first column of the indexes meant for it, and says nothing of
 * `application_id` alone: else Postgres may read all of an application's rows by another index.
 */
export const isNumber = (applicationId: string, recipient: string) =>
  `application_id || ' ' || recipient = ${applicationId} || ' ' || ${recipient}`;
const isPrefix = (applicationId: string, prefix: string) =>
  `application_id || ' ' || prefix = ${applicationId} || ' ' || ${prefix}`;

/**
 * For rows found by id. No index matches this form: with plain `status = 'pending'` Postgres would scan the small index
 * of pending rows. Lookups by number use the plain form and the unique index.
 */
const isPending = "status || '' = 'pending'";

const withNewestText = (rows: string) => `select v.*, m.id as "messageId", m.status as "messageStatus",
      m.error_code as "errorCode"
    from ${rows} v left join lateral (
      select id, status, error_code from message where verification_id = v.id order by id desc limit 1) m on true`;

/** A number within one application. */
export interface Destination {
  applicationId: string;
  recipient: string;
}

/** Marks lapsed verifications as expired, which frees their numbers. */
export async function expireLapsed(tx: Tx, lapsed: Pick<Verification, 'id'>[], nowMs: number): Promise<void> {
  await tx.query(expireStatement, [lapsed.map(({ id }) => id), toTimestamp(nowMs)]);
}

const expireStatement = {
  name: 'expire-lapsed-verifications',
  text: `update verification set status = 'expired', reason = 'ttl_elapsed', updated_at = expires_at,
      sequence = sequence + 1
    where id = any($1::text[]) and ${isPending} and expires_at <= $2`,
};

/** The same in the background: at most `limit` rows, skipping rows that a request has locked. */
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

/**
 * Waits until no other transaction counts or writes starts for these prefixes. Sorted, so that two batches cannot
 * deadlock. A later statement reads the counts, so it sees what the other transaction committed.
 */
export async function lockPrefixes(tx: Tx, destinations: Counted[]): Promise<void> {
  const names = new Set(destinations.map(({ applicationId, prefix }) => `${applicationId} ${prefix}`));
  await tx.query(lockPrefixStatement, [[...names].sort((a, b) => (a < b ? -1 : 1))]);
}

const lockPrefixStatement = {
  name: 'lock-verification-prefixes',
  text: `select pg_advisory_xact_lock(hashtextextended(name, 4207006)) from unnest($1::text[]) as n(name)`,
};

export async function lockPending(tx: Tx, destinations: Destination[]): Promise<Verification[]> {
  const { rows } = await tx.query<Verification>(lockStatement, pairs(destinations));
  return rows;
}

/** Locks rows in the given order. Batches sort their items the same way on every node, so two nodes cannot deadlock. */
const lockStatement = {
  name: 'lock-pending-verifications',
  text: `select v.* from unnest($1::text[], $2::text[]) as d(application_id, recipient)
    cross join lateral (
      select ${verificationColumns} from verification
      where ${isNumber('d.application_id', 'd.recipient')} and status = 'pending' limit 1 for update) v`,
};

/** A number with the prefix by which the guard counts neighbours. */
export interface Counted extends Destination {
  prefix: string;
}

export interface Counts extends Destination {
  /** True if a pending row exists, even a lapsed one. */
  pending: boolean;
  startsForNumber: number;
  startsForPrefix: number;
  failuresToday: number;
}

/** Counting stops at these numbers, because the decision is then known. */
export interface CountedTo {
  perNumber: number;
  perPrefix: number;
}

/** The guard's counts, read from the rows: they survive restarts and cover all nodes. */
export async function countStarts(tx: Tx, counted: Counted[], to: CountedTo, nowMs: number): Promise<Counts[]> {
  const { rows } = await tx.query<Counts>(countStatement, [
    ...toTextRows(counted.map(({ applicationId, recipient, prefix }) => [applicationId, recipient, prefix])),
    idFloor('ver', nowMs - dayMs),
    idFloor('ver', nowMs - dayMs / 24),
    to.perNumber,
    to.perPrefix,
  ]);
  return rows;
}

const startedStatuses = verificationStatuses.filter((status) => status !== 'blocked').map((status) => `'${status}'`);
// A row with failures has at least one wrong code, so fifteen rows are enough to reach the daily limit of fifteen.
const countStatement = {
  name: 'count-verification-starts',
  text: `select d.c[1] as "applicationId", d.c[2] as recipient,
      open.id is not null as pending,
      (select count(*) from (
        select from verification
        where ${isNumber('d.c[1]', 'd.c[2]')} and status in (${startedStatuses}) and id >= $6
        limit $8) n) as "startsForNumber",
      (select count(*) from (
        select from verification
        where ${isPrefix('d.c[1]', 'd.c[3]')} and status <> 'blocked' and id >= $7
        limit $9) p) as "startsForPrefix",
      case when open.id >= $6 then open.attempts else 0 end + (select coalesce(sum(attempts), 0) from (
        select attempts from verification
        where ${isNumber('d.c[1]', 'd.c[2]')} and has_failures and id >= $6
        limit ${mostFailuresADay}) f) as "failuresToday"
    from ${fromTextRows()} d
    left join lateral (
      select id, attempts from verification
      where ${isNumber('d.c[1]', 'd.c[2]')} and status = 'pending' limit 1) open on true`,
};

/** Writes the rows that a batch of starts created or changed. Callers make the ids, so a second run adds no rows. */
export async function putVerifications(tx: Tx, verifications: Verification[]): Promise<void> {
  if (verifications.length > 0) await tx.query(putStatement, verificationRows(verifications));
}

const putStatement = {
  name: 'put-verifications',
  text: `insert into verification (id, application_id, channel, recipient, prefix, status, reason, code_length,
      ring_version, test_number, max_attempts, sends, reference, correlation_id, resend_available_at, created_at,
      updated_at, expires_at)
    select c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]::smallint, c[9]::integer, c[10]::boolean, c[11]::smallint,
      c[12]::smallint, c[13], c[14], to_timestamp(c[15]::float8 / 1000), to_timestamp(c[16]::float8 / 1000),
      to_timestamp(c[17]::float8 / 1000), to_timestamp(c[18]::float8 / 1000)
    from ${fromTextRows()} v
    on conflict (id) do update set status = excluded.status, reason = excluded.reason, sends = excluded.sends,
      resend_available_at = excluded.resend_available_at, updated_at = excluded.updated_at,
      sequence = verification.sequence + 1`,
};

function verificationRows(verifications: Verification[]): TextRows {
  return toTextRows(
    verifications.map((verification) => [
      verification.id,
      verification.applicationId,
      verification.channel,
      verification.recipient,
      verification.prefix,
      verification.status,
      verification.reason,
      verification.codeLength,
      verification.ringVersion,
      verification.testNumber,
      verification.maxAttempts,
      verification.sends,
      verification.reference,
      verification.correlationId,
      verification.resendAvailableAtMs,
      verification.createdAtMs,
      verification.updatedAtMs,
      verification.expiresAtMs,
    ]),
  );
}

/**
 * Inserts verifications and texts where no verification was pending: one statement is one transaction. If two nodes
 * start for one number, the unique index refuses one.
 */
export async function insertStarts(tx: Tx, verifications: Verification[], texts: Message[]): Promise<void> {
  await tx.query(insertStartsStatement, [...verificationRows(verifications), ...messageRows(texts)]);
}

const insertStartsStatement = {
  name: 'insert-verification-starts',
  text: `with started as (${putStatement.text}) ${insertMessagesFrom(6)}`,
};

export interface CheckRow {
  id: string;
  applicationId: string;
  codeLength: number;
  /** Bit mask of the ring versions for which the code is right. */
  matching: number;
  isTestCode: boolean;
}

/** A verification with its newest text. */
export interface WithText extends Verification {
  messageId: string | null;
  messageStatus: MessageStatus;
  errorCode: MessageErrorCode | null;
}

/**
 * Decides all checks in one statement. The code has been compared already, so the statement only tests that the
 * verification is still open; a check that changes no row came too late.
 */
export async function decideChecks(tx: Tx, checks: CheckRow[], nowMs: number): Promise<WithText[]> {
  const { rows } = await tx.query<WithText>(decideStatement, [
    ...toTextRows(
      checks.map(({ id, applicationId, codeLength, matching, isTestCode }) => [
        id,
        applicationId,
        codeLength,
        matching,
        isTestCode,
      ]),
    ),
    toTimestamp(nowMs),
  ]);
  return rows;
}

/** A code of another length is always wrong. */
const right =
  '(code_length = k.c[3]::smallint and case when test_number then k.c[5]::boolean else (k.c[4]::integer >> ring_version) & 1 = 1 end)';
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
export async function findByKeys(tx: Tx, keys: VerificationKey[]): Promise<(WithText | undefined)[]> {
  const { rows } = await tx.query<WithText | { id: null }>(
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

/** The verification that a request started, found by id range like the texts in `findMadeBy`. */
export async function findStartedBy(
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

function pairs(destinations: Destination[]): [string[], string[]] {
  return [destinations.map(({ applicationId }) => applicationId), destinations.map(({ recipient }) => recipient)];
}
