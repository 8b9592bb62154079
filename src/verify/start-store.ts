import type { Message } from '../messages/message.ts';
import { messageInserts, messageRows } from '../messages/message-store.ts';
import { dayMs, hourMs, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { idFloor } from '../platform/ids.ts';
import { fromTextRows, type TextRows, toTextRows } from '../platform/text-rows.ts';
import { mostFailuresADay, type Verification, verificationStatuses } from './verification.ts';
import { isNumber, isPending, isPrefix, verificationColumns } from './verification-store.ts';

/** A number within one application. */
export interface Destination {
  applicationId: string;
  to: string;
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

/**
 * Waits until no other transaction counts or writes starts for these prefixes. Sorted, so that two batches cannot
 * deadlock. A later statement reads the counts, so it sees what the other transaction committed.
 */
export async function lockPrefixes(tx: Tx, destinations: CountedDestination[]): Promise<void> {
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
export interface CountedDestination extends Destination {
  prefix: string;
}

export interface StartCounts extends Destination {
  /** True if a pending row exists, even a lapsed one. */
  pending: boolean;
  startsForNumber: number;
  startsForPrefix: number;
  failuresToday: number;
}

/** Counting stops at these numbers, because the decision is then known. */
export interface CountLimits {
  perNumber: number;
  perPrefix: number;
}

/** The guard's counts, read from the rows: they survive restarts and cover all nodes. */
export async function countStarts(
  tx: Tx,
  counted: CountedDestination[],
  limits: CountLimits,
  nowMs: number,
): Promise<StartCounts[]> {
  const { rows } = await tx.query<StartCounts>(countStatement, [
    ...toTextRows(counted.map(({ applicationId, to, prefix }) => [applicationId, to, prefix])),
    idFloor('ver', nowMs - dayMs),
    idFloor('ver', nowMs - hourMs),
    limits.perNumber,
    limits.perPrefix,
  ]);
  return rows;
}

const startedStatuses = verificationStatuses.filter((status) => status !== 'blocked').map((status) => `'${status}'`);
// A row with failures has at least one wrong code, so fifteen rows are enough to reach the daily limit of fifteen.
const countStatement = {
  name: 'count-verification-starts',
  text: `select d.c[1] as "applicationId", d.c[2] as "to",
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
      verification.to,
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
  text: `with started as (${putStatement.text}), ${messageInserts(6)} select`,
};

function pairs(destinations: Destination[]): [string[], string[]] {
  return [destinations.map(({ applicationId }) => applicationId), destinations.map(({ to }) => to)];
}
