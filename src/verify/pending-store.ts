import { toTimestamp } from '../platform/clock.ts';
import { lockSeeds } from '../platform/database/advisory-locks.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromTextRows, toTextRows } from '../platform/database/text-rows.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import type { Verification } from './verification.ts';
import {
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
      verifications.map(({ sends, resendAvailableAtMs, updatedAtMs, textIds }, index) => [
        uuids[index] ?? '',
        sends,
        resendAvailableAtMs,
        updatedAtMs,
        uuidOf(textIds.at(-1) ?? ''),
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
        c[5]::uuid as text_id
      from ${fromTextRows()} t)
    update verification v set sends = k.sends, resend_available_at = k.resend_available_at, updated_at = k.updated_at,
      text_ids = text_ids || k.text_id
    from k where ${isOneOf('$6', '$7')}`,
};

/** The pending ones of these verifications. */
export async function findPending(tx: Tx, ids: string[], nowMs: number): Promise<Set<string>> {
  const uuids = ids.map(uuidOf);
  const { rows } = await tx.query<{ id: string }>(findPendingStatement, [
    uuids,
    ...boundsOf(uuids),
    toTimestamp(nowMs),
  ]);
  return new Set(rows.map(({ id }) => fromUuid('ver', id)));
}

const findPendingStatement = {
  name: 'find-pending-verifications',
  text: `select id from verification
    where id = any(array(select unnest($1::uuid[]))) and id >= $2 and id <= $3 and ${isPending} and expires_at > $4`,
};
