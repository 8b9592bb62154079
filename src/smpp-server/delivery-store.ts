import { type MessageErrorCode, type MessageStatus, messageStatuses } from '../messages/message.ts';
import { errorOf, statusCode } from '../messages/message-row.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';

/** What waits for a receiver. `messages/message-events.ts` writes `receipt`, `inbound/inbound-store.ts` writes `inbound`. */
export const deliveryKinds = ['receipt', 'inbound', 'unsent', 'test'] as const;
export type DeliveryKind = (typeof deliveryKinds)[number];

export interface Delivery {
  id: number;
  /** The account or the application that it waits for. */
  owner: string;
  applicationId: string;
  kind: DeliveryKind;
  /** The uuid of the record that it is about. */
  subject: string;
  partId: string | null;
  status: MessageStatus | null;
  errorCode: MessageErrorCode | null;
  detail: UnsentDetail | null;
  createdAtMs: number;
  attempts: number;
}

/** A part whose text never came together: no record has its numbers. */
export interface UnsentDetail {
  to: string;
  from: string;
  createdAtMs: number;
}

/** Longer than a peer may take to acknowledge it. By the clock of the database, which all nodes share. */
const leaseSeconds = 90;
export const keptMs = 7 * 86_400_000;

interface DeliveryRow extends Omit<Delivery, 'kind' | 'status' | 'errorCode' | 'partId' | 'owner'> {
  owner: string;
  kind: number;
  status: number | null;
  errorCode: number | null;
  partId: string | null;
}

/** An owner by its uuid, and how many of its deliveries its receivers here take now. */
export interface Wanted {
  owner: string;
  room: number;
}

/**
 * Claims what is due for these owners, the oldest first. A later change of a text waits until the earlier one is
 * acknowledged, so that its receipts stay in order on whichever bind.
 */
export async function claimDeliveries(tx: Tx, wanted: Wanted[], nowMs: number): Promise<Delivery[]> {
  const { rows } = await tx.query<DeliveryRow>(claimStatement, [
    wanted.map(({ owner }) => owner),
    wanted.map(({ room }) => room),
    toTimestamp(nowMs),
  ]);
  return rows.map(toDelivery).sort((a, b) => a.id - b.id);
}

const claimStatement = {
  name: 'claim-smpp-deliveries',
  text: `with found as materialized (
      select d.id from unnest($1::uuid[], $2::integer[]) as w(owner, room) cross join lateral (
        select s.id from smpp_delivery s
        where s.owner = w.owner and s.due_at <= $3 and (s.leased_until is null or s.leased_until <= now())
          and not exists (select from smpp_delivery e where e.subject = s.subject and e.id < s.id
            and e.part_id is not distinct from s.part_id and e.owner = s.owner)
        order by s.due_at, s.id limit w.room for update skip locked) d)
    update smpp_delivery u set attempts = least(u.attempts + 1, 1000), leased_until = now() + interval '${leaseSeconds} seconds'
    from found f where u.id = f.id
    returning u.id, u.owner, u.application_id as "applicationId", u.kind, u.subject, u.part_id as "partId", u.status,
      u.error_code as "errorCode", u.detail, u.created_at as "createdAtMs", u.attempts`,
};

/**
 * The newest number of a delivery. It rises before a new delivery is committed, and when one is released. One cheap
 * statement for any number of accounts.
 */
export async function readNewest(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ newest: number }>(newestStatement);
  return rows[0]?.newest ?? 0;
}

const newestStatement = {
  name: 'read-newest-smpp-delivery',
  text: 'select last_value as newest from smpp_delivery_id_seq',
};

/** Deletes deliveries that were acknowledged, or whose record was deleted. */
export async function deleteDeliveries(tx: Tx, ids: number[]): Promise<void> {
  await tx.query(deleteStatement, [ids]);
}

const deleteStatement = {
  name: 'delete-smpp-deliveries',
  text: 'delete from smpp_delivery where id = any($1::bigint[])',
};

export interface Again {
  id: number;
  dueAtMs: number;
}

/** Gives up the leases of deliveries that were not acknowledged. */
export async function releaseDeliveries(tx: Tx, again: Again[]): Promise<void> {
  await tx.query(releaseStatement, [again.map(({ id }) => id), again.map(({ dueAtMs }) => toTimestamp(dueAtMs))]);
}

const releaseStatement = {
  name: 'release-smpp-deliveries',
  text: `with moved as materialized (select nextval('smpp_delivery_id_seq'))
    update smpp_delivery d set leased_until = null, due_at = r.due_at
    from unnest($1::bigint[], $2::timestamptz[]) as r(id, due_at) where d.id = r.id and (select true from moved)`,
};

export interface UnsentPart {
  id: string;
  applicationId: string;
  accountId: string;
  detail: UnsentDetail;
}

/** Receipts of parts whose text is not sent. */
export async function insertUnsent(tx: Tx, parts: UnsentPart[], status: MessageStatus, nowMs: number): Promise<void> {
  await tx.query(
    `insert into smpp_delivery (owner, application_id, kind, subject, status, detail, created_at, due_at)
     select u.owner, u.application, $4, u.part, $5, u.detail, $6, $6
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $7::jsonb[]) as u(owner, application, part, detail)`,
    [
      parts.map(({ accountId }) => uuidOf(accountId)),
      parts.map(({ applicationId }) => uuidOf(applicationId)),
      parts.map(({ id }) => uuidOf(id)),
      ...[deliveryKinds.indexOf('unsent'), statusCode(status), toTimestamp(nowMs)],
      parts.map(({ detail }) => JSON.stringify(detail)),
    ],
  );
}

/** A delivery that tests the account's receivers. */
export async function insertTest(
  tx: Tx,
  owner: { accountId: string; applicationId: string },
  subject: string,
  nowMs: number,
) {
  const { rows } = await tx.query<{ id: number }>(
    `insert into smpp_delivery (owner, application_id, kind, subject, created_at, due_at)
     values ($1, $2, $3, $4, $5, $5) returning id`,
    [
      ...[uuidOf(owner.accountId), uuidOf(owner.applicationId), deliveryKinds.indexOf('test'), uuidOf(subject)],
      toTimestamp(nowMs),
    ],
  );
  return rows[0]?.id ?? 0;
}

/** How often it was sent; undefined once it is acknowledged. */
export async function readAttempts(tx: Tx, id: number): Promise<number | undefined> {
  const { rows } = await tx.query<{ attempts: number }>('select attempts from smpp_delivery where id = $1', [id]);
  return rows[0]?.attempts;
}

/** What waits for each owner, up to a bound, and since when. */
export async function readWaiting(
  tx: Tx,
  owners: string[],
): Promise<Map<string, { count: number; sinceMs: number | null }>> {
  const { rows } = await tx.query<{ owner: string; count: number; sinceMs: number | null }>(
    `select w.owner, count(d.created_at)::integer as count, min(d.created_at) as "sinceMs"
     from unnest($1::uuid[]) as w(owner) left join lateral (
       select s.created_at from smpp_delivery s where s.owner = w.owner order by s.due_at, s.id limit 10000) d on true
     group by w.owner`,
    [owners],
  );
  return new Map(rows.map(({ owner, count, sinceMs }) => [owner, { count, sinceMs }]));
}

/** Deletes a batch of deliveries that no receiver acknowledged in time. */
export async function deleteOldDeliveries(tx: Tx, beforeMs: number, most: number): Promise<number> {
  const { count } = await tx.query(
    `delete from smpp_delivery where ctid = any(array(
       select ctid from smpp_delivery where created_at < $1 order by created_at limit $2))`,
    [toTimestamp(beforeMs), most],
  );
  return count;
}

function toDelivery({ kind, status, errorCode, applicationId, ...row }: DeliveryRow): Delivery {
  return {
    ...row,
    applicationId: fromUuid('app', applicationId),
    kind: deliveryKinds[kind] ?? 'receipt',
    status: status === null ? null : (messageStatuses[status] as MessageStatus),
    errorCode: errorOf(errorCode) as MessageErrorCode | null,
  };
}
