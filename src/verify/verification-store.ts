import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { idWeeks, type PartitionedTable } from '../platform/database/partitions.ts';
import { fromTextRows, toTextRows } from '../platform/database/text-rows.ts';
import { idTimeMs, longestRequestMs, uuidFloor, uuidOf } from '../platform/ids.ts';
import {
  newestText,
  type RowAndText,
  textRange,
  toVerificationsAndTexts,
  type VerificationAndText,
} from './texts/newest-texts.ts';
import { longestTtlSeconds, type Verification } from './verification.ts';
import { insertVerificationEvents } from './verification-events.ts';
import {
  reasonCode,
  recordColumns,
  statusCode,
  toVerification,
  type VerificationRow,
  verificationColumns,
} from './verification-row.ts';

export const verificationTables: PartitionedTable[] = [
  { name: 'verification', key: 'id', spans: idWeeks },
  { name: 'ended_verification', key: 'verification_id', spans: idWeeks },
];

export const isPending = `status = ${statusCode('pending')}`;

/**
 * The first and the last of these uuids: with them Postgres opens only the partitions between. Statements hide the
 * array in a subquery: else Postgres finds the partition of each element, which takes longer than the rest.
 */
export function boundsOf(uuids: string[]): [first: string, last: string] {
  let [first = '', last = ''] = [uuids[0], uuids[0]];
  for (const uuid of uuids) {
    if (uuid < first) first = uuid;
    if (uuid > last) last = uuid;
  }
  return [first, last];
}

/**
 * The condition for rows `v` that a materialized `k` lists, with the bounds of its ids. The array finds the rows: for a
 * join alone Postgres might read all ids within the bounds.
 */
export const isOneOf = (first: string, last: string) =>
  `v.id = k.id and v.id = any(array(select id from k)) and v.id >= ${first} and v.id <= ${last}`;

/**
 * The rest of every statement that ends verifications; `changed` is its update of the record. A verification is in
 * `pending_verification` while its record is pending, else in `ended_verification`. The update locks the record first,
 * so no two statements wait for each other. A lookup for each row keeps Postgres from reading all pending ones.
 */
export const endings = (changed: string) => `freed as (
      delete from pending_verification where ctid = any(array(
        select p.ctid from ${changed} c cross join lateral (
          select ctid from pending_verification
          where recipient = c.recipient and application_id = c.application_id and verification_id = c.id limit 1) p
        where not c.${isPending}))),
    ended as (
      insert into ended_verification (verification_id, application_id, status, recipient)
      select id, application_id, status, recipient from ${changed} where not ${isPending}),
    failures as (
      insert into recent_failure (verification_id, application_id, attempts, recipient)
      select id, application_id, attempts, recipient from ${changed} where not ${isPending} and attempts > 0),
    emitted as (${insertVerificationEvents(changed)})`;

/** Expires lapsed verifications in the background: at most `limit` rows, skipping those that a request has locked. */
export async function expireSome(tx: Tx, limit: number, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(selectLapsed, [toTimestamp(nowMs), limit]);
  return rows.length === 0
    ? 0
    : expireAll(
        tx,
        rows.map(({ id }) => id),
        nowMs,
      );
}

const selectLapsed = {
  name: 'select-lapsed-verifications',
  text: `select verification_id as id from pending_verification
    where expires_at <= $1 order by expires_at limit $2`,
};

/** The time from which records are needed: the oldest pending verification has yet to end. At most `beforeMs`. */
export async function neededVerificationsFrom(tx: Tx, beforeMs: number): Promise<number> {
  const { rows } = await tx.query<{ expiresAtMs: number }>(selectFirstToExpire);
  const pendingFromMs = (rows[0]?.expiresAtMs ?? Number.POSITIVE_INFINITY) - longestTtlSeconds * 1000;
  return Math.min(beforeMs, pendingFromMs);
}

const selectFirstToExpire = {
  name: 'select-first-to-expire',
  text: 'select expires_at as "expiresAtMs" from pending_verification order by expires_at limit 1',
};

/** Marks lapsed verifications as expired, which frees their numbers. */
export function expireLapsed(tx: Tx, lapsed: Pick<Verification, 'id'>[], nowMs: number): Promise<number> {
  return expireAll(
    tx,
    lapsed.map(({ id }) => uuidOf(id)),
    nowMs,
  );
}

async function expireAll(tx: Tx, uuids: string[], nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ expired: number }>(expireStatement, [
    uuids,
    toTimestamp(nowMs),
    ...boundsOf(uuids),
  ]);
  return rows[0]?.expired ?? 0;
}

const expireStatement = {
  name: 'expire-lapsed-verifications',
  text: `with free as (
      select id from verification
      where id = any(array(select unnest($1::uuid[]))) and id >= $3 and id <= $4 and ${isPending} and expires_at <= $2
      for update skip locked),
    changed as (
      update verification v set status = ${statusCode('expired')}, reason = ${reasonCode('ttl_elapsed')},
        updated_at = expires_at
      where id = any(array(select id from free)) and id >= $3 and id <= $4
      returning ${recordColumns('v')}),
    ${endings('changed')}
    select count(*) as expired from changed`,
};

/** A verification within its application. */
export interface VerificationKey {
  applicationId: string;
  id: string;
}

/** Returns the verification for each key with its newest text, in order, with one query. */
export async function findByKeys(tx: Tx, keys: VerificationKey[]): Promise<(VerificationAndText | undefined)[]> {
  const uuids = keys.map(({ id }) => uuidOf(id));
  const bounds = boundsOf(uuids);
  const { rows } = await tx.query<RowAndText>(selectByIds, [uuids, ...bounds, ...textRange(bounds)]);
  const found = new Map((await toVerificationsAndTexts(tx, rows)).map((each) => [each.row.id, each]));
  return keys.map(({ id, applicationId }) => {
    const each = found.get(id);
    return each?.row.applicationId === applicationId ? each : undefined;
  });
}

const selectByIds = {
  name: 'select-verifications',
  text: `select ${verificationColumns('v')}, ${newestText('v', '$4', '$5')} from verification v
    where id = any(array(select unnest($1::uuid[]))) and id >= $2 and id <= $3`,
};

export async function findVerification(tx: Tx, applicationId: string, id: string): Promise<Verification | undefined> {
  const [found] = await findByKeys(tx, [{ applicationId, id }]);
  return found?.row;
}

/** Cancels those of the verifications that are pending, and returns them. */
export async function cancelPending(tx: Tx, keys: VerificationKey[], nowMs: number): Promise<Verification[]> {
  const uuids = keys.map(({ id }) => uuidOf(id));
  const { rows } = await tx.query<VerificationRow>(cancelStatement, [
    ...toTextRows(keys.map(({ applicationId }, index) => [uuids[index] ?? '', uuidOf(applicationId)])),
    toTimestamp(nowMs),
    ...boundsOf(uuids),
  ]);
  return rows.map(toVerification);
}

const cancelStatement = {
  name: 'cancel-verifications',
  text: `with k as materialized (select c[1]::uuid as id, c[2]::uuid as application_id from ${fromTextRows()} t),
    changed as (
      update verification v set status = ${statusCode('canceled')}, reason = ${reasonCode('canceled_by_client')},
        updated_at = $6
      from k
      where ${isOneOf('$7', '$8')} and v.application_id = k.application_id and v.${isPending} and v.expires_at > $6
      returning ${recordColumns('v')}),
    ${endings('changed')}
    select ${verificationColumns('changed')} from changed`,
};

/** The verification that a request started, found by id range like the texts in `findMessagesOfRequest`. */
export async function findVerificationOfRequest(
  tx: Tx,
  applicationIds: string[],
  correlationId: string,
): Promise<Verification | undefined> {
  const madeMs = idTimeMs(correlationId);
  const { rows } = await tx.query<VerificationRow>(
    `select ${verificationColumns('v')} from unnest($4::uuid[]) as a(id) cross join lateral (
       select * from verification
       where application_id = a.id and id >= $2 and id < $3 and correlation_id = $1 limit 1) v limit 1`,
    [uuidOf(correlationId), uuidFloor(madeMs - 1000), uuidFloor(madeMs + longestRequestMs), applicationIds.map(uuidOf)],
  );
  return rows.map(toVerification)[0];
}
