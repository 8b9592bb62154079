// Tests: test/twilio/callbacks.test.ts, test/twilio/callback-worker.test.ts
import { type MessageErrorCode, type MessageStatus, messageStatuses } from '../../messages/message.ts';
import { errorOf } from '../../messages/message-row.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid, uuidFloor, uuidOf } from '../../platform/ids.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';
import type { StatusCall } from './call.ts';

export type CallKey = Pick<StatusCall, 'messageId' | 'sequence'>;

/** A call that is due and that no worker has. */
export interface ReadyCall extends CallKey {
  applicationId: string;
  /** The host with its port. */
  host: string;
}

export interface Ready {
  calls: ReadyCall[];
  /** Where the next search begins; undefined if this one saw every application that has calls. */
  next: string | undefined;
}

/** Longer than a call can take. By the clock of the database, which all nodes share. */
const leaseSeconds = 30;
/** Maximum applications of a search, and maximum calls of each. */
const mostApplications = 50;
const ofApplication = 20;

interface ReadyRow {
  application: string;
  visited: number;
  messageId: string | null;
  sequence: number;
  host: string;
}

/** Finds due calls, the oldest of each application first. `after` is the application at which to begin. */
export async function findReady(tx: Tx, after: string | undefined, nowMs: number): Promise<Ready> {
  const { rows } = await tx.query<ReadyRow>(readyStatement, [after ?? uuidFloor(0), toTimestamp(nowMs)]);
  const calls = rows.flatMap(({ application, messageId, sequence, host }) =>
    messageId === null
      ? []
      : [{ applicationId: fromUuid('app', application), messageId: fromUuid('msg', messageId), sequence, host }],
  );
  const last = rows.at(-1);
  return { calls, next: last?.visited === mostApplications ? last.application : undefined };
}

/** Each application costs one lookup, and one for its calls. Only their hosts are read: addresses are long. */
const readyStatement = {
  name: 'find-ready-status-calls',
  text: `with recursive visited(id, n) as (
      (select application_id, 1 from status_call where application_id > $1 order by application_id limit 1)
      union all
      select (select s.application_id from status_call s where s.application_id > v.id order by s.application_id limit 1),
        n + 1
      from visited v where v.id is not null and v.n < ${mostApplications})
    select v.id as application, v.n as visited, c.message_id as "messageId", c.sequence,
      split_part(c.url, '/', 3) as host
    from visited v left join lateral (
      select s.message_id, s.sequence, s.url, s.due_at from status_call s
      where s.application_id = v.id and s.due_at <= $2 and (s.leased_until is null or s.leased_until <= now())
      order by s.due_at limit ${ofApplication}) c on true
    where v.id is not null order by v.n, c.due_at`,
};

/** The account of each application that exists; null for a disabled one. */
export async function findAccounts(tx: Tx, applicationIds: string[]): Promise<Map<string, string | null>> {
  const { rows } = await tx.query<{ id: string; account: string | null }>(
    `select a.id, case when o.disabled_at is null then a.account_id end as account
     from application a join account o on o.id = a.account_id where a.id = any($1)`,
    [applicationIds],
  );
  return new Map(rows.map(({ id, account }) => [id, account]));
}

interface CallRow {
  applicationId: string;
  messageId: string;
  sequence: number;
  status: number;
  errorCode: number | null;
  attempts: number;
  url: string;
}

/** Claims calls that no other worker has claimed meanwhile. Each claim is an attempt. */
export async function claimCalls(tx: Tx, keys: CallKey[], nowMs: number): Promise<StatusCall[]> {
  const { rows } = await tx.query<CallRow>(claimStatement, [...keyValues(keys), toTimestamp(nowMs)]);
  return rows.map((row) => ({
    applicationId: fromUuid('app', row.applicationId),
    messageId: fromUuid('msg', row.messageId),
    sequence: row.sequence,
    status: messageStatuses[row.status] as MessageStatus,
    errorCode: errorOf(row.errorCode) as MessageErrorCode | null,
    attempts: row.attempts,
    url: row.url,
  }));
}

/** A call that another worker has made since it was found is no longer due. */
const claimStatement = {
  name: 'claim-status-calls',
  text: `with free as materialized (
      select s.message_id, s.sequence from unnest($1::uuid[], $2::integer[]) as w(message_id, sequence)
      join status_call s on s.message_id = w.message_id and s.sequence = w.sequence
      where s.due_at <= $3 and (s.leased_until is null or s.leased_until <= now())
      for update of s skip locked)
    update status_call s set attempts = s.attempts + 1, leased_until = now() + interval '${leaseSeconds} seconds'
    from free f where s.message_id = f.message_id and s.sequence = f.sequence
    returning s.application_id as "applicationId", s.message_id as "messageId", s.sequence, s.status,
      s.error_code as "errorCode", s.attempts, s.url`,
};

/** Deletes calls that were answered, or that failed for the last time. */
export async function deleteCalls(tx: Tx, keys: CallKey[]): Promise<void> {
  await tx.query(deleteStatement, keyValues(keys));
}

const deleteStatement = {
  name: 'delete-status-calls',
  text: `delete from status_call s using unnest($1::uuid[], $2::integer[]) as w(message_id, sequence)
    where s.message_id = w.message_id and s.sequence = w.sequence`,
};

/** Deletes a batch of the calls of applications that no longer exist. */
export async function deleteCallsOf(tx: Tx, applicationIds: string[]): Promise<void> {
  await tx.query(
    `delete from status_call where ctid = any(array(
       select ctid from status_call where application_id = any($1::uuid[]) limit $2))`,
    [applicationIds.map(uuidOf), pieceRows],
  );
}

/** Schedules another attempt, unless another worker has claimed the call since. */
export async function repeatCall(
  tx: Tx,
  { messageId, sequence, attempts }: StatusCall,
  dueAtMs: number,
): Promise<void> {
  await tx.query(
    `update status_call set leased_until = null, due_at = $4 where message_id = $1 and sequence = $2 and attempts = $3`,
    [uuidOf(messageId), sequence, attempts, toTimestamp(dueAtMs)],
  );
}

/** Gives back a call whose attempt was broken off: it did not count. */
export async function giveBackCall(tx: Tx, { messageId, sequence, attempts }: StatusCall): Promise<void> {
  await tx.query(
    `update status_call set leased_until = null, attempts = attempts - 1
     where message_id = $1 and sequence = $2 and attempts = $3`,
    [uuidOf(messageId), sequence, attempts],
  );
}

/** Deletes a batch of the calls of texts from before a time: those of disabled accounts wait until then. */
export async function deleteOldCalls(tx: Tx, beforeMs: number): Promise<number> {
  const { count } = await tx.query(deleteOldStatement, [uuidFloor(beforeMs), pieceRows]);
  return count;
}

const deleteOldStatement = `delete from status_call where ctid = any(array(
    select ctid from status_call where message_id < $1 order by message_id limit $2))`;

function keyValues(keys: CallKey[]): unknown[] {
  return [keys.map(({ messageId }) => uuidOf(messageId)), keys.map(({ sequence }) => sequence)];
}
