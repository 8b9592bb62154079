import { dayMs, toTimestamp } from '../platform/clock.ts';
import { lockSeeds } from '../platform/database/advisory-locks.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromTextRows, toTextRows } from '../platform/database/text-rows.ts';
import { fromUuid, uuidFloor, uuidOf } from '../platform/ids.ts';
import type { SupersededCode } from './given/code.ts';
import { lateRepeatMs, longestTtlSeconds, type Verification } from './verification.ts';
import {
  channelCode,
  reasonCode,
  recordColumns,
  statusCode,
  toVerification,
  type VerificationRow,
  verificationColumns,
} from './verification-row.ts';
import { boundsOf, endings, isOneOf, isPending } from './verification-store.ts';

/** A number within one application. */
export interface Destination {
  applicationId: string;
  to: string;
}

/**
 * Waits until no other transaction counts or writes starts for these prefixes or numbers. Sorted, so that two batches
 * cannot deadlock. A later statement counts, so it sees the commits of the others.
 */
export async function lockNames(tx: Tx, names: string[]): Promise<void> {
  await tx.query(lockNamesStatement, [[...new Set(names)].sort((a, b) => (a < b ? -1 : 1))]);
}

const lockNamesStatement = {
  name: 'lock-verification-names',
  text: `select pg_advisory_xact_lock(hashtextextended(name, ${lockSeeds.verificationNames}))
    from unnest($1::text[]) as n(name)`,
};

/** Locks the pending verifications of these numbers in the order of their ids, so that two batches cannot deadlock. */
export async function lockPending(tx: Tx, destinations: Destination[]): Promise<Verification[]> {
  const { rows: pending } = await tx.query<{ id: string }>(selectPending, [
    destinations.map(({ applicationId }) => uuidOf(applicationId)),
    destinations.map(({ to }) => to),
  ]);
  if (pending.length === 0) return [];
  const uuids = pending.map(({ id }) => id);
  const { rows } = await tx.query<VerificationRow>(lockStatement, [uuids, ...boundsOf(uuids)]);
  return rows.map(toVerification);
}

/** The rows of a number in one of the narrow tables, by its index. */
export const ofNumber = (table: string, applicationId: string, to: string) =>
  `${table} where recipient = ${to} and application_id = ${applicationId}`;

const selectPending = {
  name: 'select-pending-verifications',
  text: `select p.verification_id as id
    from unnest($1::uuid[], $2::text[]) as d(application_id, recipient) cross join lateral (
      select verification_id from ${ofNumber('pending_verification', 'd.application_id', 'd.recipient')} limit 1) p`,
};

const lockStatement = {
  name: 'lock-verifications',
  text: `select ${verificationColumns('v')} from verification v
    where id = any(array(select unnest($1::uuid[]))) and id >= $2 and id <= $3 and ${isPending} order by id for update`,
};

/** Maximum superseded codes of a number to compare a late repeat with. */
const mostSuperseded = 100;

/** The newest callers' codes of these numbers that were superseded within `lateRepeatMs`. */
export async function findSuperseded(
  tx: Tx,
  destinations: readonly Destination[],
  nowMs: number,
): Promise<(Destination & SupersededCode)[]> {
  const { rows } = await tx.query<Destination & SupersededCode>(supersededStatement, [
    destinations.map(({ applicationId }) => uuidOf(applicationId)),
    destinations.map(({ to }) => to),
    toTimestamp(nowMs - lateRepeatMs),
    uuidFloor(nowMs - lateRepeatMs - longestTtlSeconds * 1000),
    uuidFloor(nowMs + dayMs),
  ]);
  return rows.map((row) => ({
    ...row,
    id: fromUuid('ver', row.id),
    applicationId: fromUuid('app', row.applicationId),
  }));
}

// The upper bound excludes partitions made ahead.
const supersededStatement = {
  name: 'find-superseded-codes',
  text: `select d.application_id as "applicationId", d.recipient as "to", v.id, v.ring_version as "ringVersion",
      v.code_hash::text as "codeHash"
    from unnest($1::uuid[], $2::text[]) as d(application_id, recipient) cross join lateral (
      select verification_id from ${ofNumber('ended_verification', 'd.application_id', 'd.recipient')}
        and status = ${statusCode('canceled')} and verification_id >= $4 and verification_id < $5
      order by verification_id desc limit ${mostSuperseded}) e
    cross join lateral (
      select id, ring_version, code_hash from verification
      where id = e.verification_id and id >= $4 and id < $5 and reason = ${reasonCode('superseded')}
        and code_hash is not null and updated_at > $3 limit 1) v`,
};

/** Superseded verifications free their numbers. Their rows are locked. */
export async function endSuperseded(tx: Tx, superseded: Verification[], nowMs: number): Promise<void> {
  if (superseded.length === 0) return;
  const uuids = superseded.map(({ id }) => uuidOf(id));
  await tx.query(endSupersededStatement, [uuids, toTimestamp(nowMs), ...boundsOf(uuids)]);
}

const endSupersededStatement = {
  name: 'end-superseded-verifications',
  text: `with changed as (
      update verification v set status = ${statusCode('canceled')}, reason = ${reasonCode('superseded')},
        updated_at = $2
      where id = any(array(select unnest($1::uuid[]))) and id >= $3 and id <= $4 and ${isPending}
      returning ${recordColumns('v')}),
    ${endings('changed')}
    select from changed`,
};

/** Records that a text was sent again. The rows are locked. */
export async function putResends(tx: Tx, verifications: Verification[]): Promise<void> {
  if (verifications.length === 0) return;
  const uuids = verifications.map(({ id }) => uuidOf(id));
  await tx.query(resendStatement, [
    ...toTextRows(
      verifications.map(({ sends, resendAvailableAtMs, updatedAtMs, textIds, channel, precheck }, index) => [
        uuids[index] ?? '',
        sends,
        resendAvailableAtMs,
        updatedAtMs,
        uuidOf(textIds.at(-1) ?? ''),
        channelCode(channel),
        precheck,
      ]),
    ),
    ...boundsOf(uuids),
  ]);
}

/** A time in milliseconds, from a cell. */
export const time = (cell: string) => `to_timestamp(${cell}::float8 / 1000)`;
const resendStatement = {
  name: 'put-resends',
  text: `with k as materialized (
      select c[1]::uuid as id, c[2]::smallint as sends, ${time('c[3]')} as resend_available_at, ${time('c[4]')} as updated_at,
        c[5]::uuid as text_id, c[6]::smallint as channel, c[7] as precheck
      from ${fromTextRows()} t)
    update verification v set sends = k.sends, resend_available_at = k.resend_available_at, updated_at = k.updated_at,
      text_ids = text_ids || k.text_id, channel = k.channel, precheck = k.precheck
    from k where ${isOneOf('$6', '$7')}`,
};

/** The pending ones of these verifications, each with the caller's sealed code; null for a code of ours. */
export async function findPending(tx: Tx, ids: string[], nowMs: number): Promise<Map<string, Buffer | null>> {
  const uuids = ids.map(uuidOf);
  const { rows } = await tx.query<{ id: string; sealed: Buffer | null }>(findPendingStatement, [
    uuids,
    ...boundsOf(uuids),
    toTimestamp(nowMs),
  ]);
  return new Map(rows.map(({ id, sealed }) => [fromUuid('ver', id), sealed]));
}

/** Reads the other table only for callers' codes. */
const findPendingStatement = {
  name: 'find-pending-verifications',
  text: `select id, case when code_hash is not null then (
      select sealed_code from ${ofNumber('pending_verification', 'v.application_id', 'v.recipient')}
        and verification_id = v.id limit 1) end as sealed
    from verification v
    where id = any(array(select unnest($1::uuid[]))) and id >= $2 and id <= $3 and ${isPending} and expires_at > $4`,
};
