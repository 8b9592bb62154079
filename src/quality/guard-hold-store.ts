import { dayMs, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { pieceRows } from '../platform/work/maintenance.ts';

/** A group of numbers whose verifications are held back, or only reported. */
export interface HoldRow {
  id: string;
  applicationId: string;
  scope: string;
  country: string | null;
  /** False: only reported. */
  acts: boolean;
  numbers: number;
  approved: number;
  leastShare: number;
  /** Number of starts that it held back; counted 10 minutes later. */
  blocked: number;
  beganAtMs: number;
  untilMs: number;
  endedAtMs: number | null;
  /** The person who ended it; null if it expired. */
  endedBy: string | null;
  /** Whether that person is a member of the application's account, and not an operator. */
  endedByMember: boolean;
}

export type NewHold = Omit<HoldRow, 'blocked' | 'endedAtMs' | 'endedBy' | 'endedByMember'>;
export interface EndedBy {
  personId: string;
  isMember: boolean;
}

/** A member may end one hold in this time. */
const membersEndEveryMs = dayMs;
const endedKeptMs = 30 * dayMs;
const mostOfApplications = 5000;
const columns = `id, application_id as "applicationId", scope, country, acts, numbers, approved,
  least_share as "leastShare", blocked, began_at as "beganAtMs", until as "untilMs", ended_at as "endedAtMs", ended_by as "endedBy",
  ended_by_member as "endedByMember"`;

export async function insertHold(tx: Tx, hold: NewHold): Promise<void> {
  await tx.query(
    `insert into guard_hold (id, application_id, scope, country, acts, numbers, approved, least_share, began_at, until)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
    [
      hold.id,
      hold.applicationId,
      hold.scope,
      hold.country,
      hold.acts,
      hold.numbers,
      hold.approved,
      hold.leastShare,
      toTimestamp(hold.beganAtMs),
      toTimestamp(hold.untilMs),
    ],
  );
}

/** A start that was held back, and one of the scopes of its number. */
export interface BlockedIn {
  applicationId: string;
  scope: string;
  atMs: number;
}

/** Counts the starts that each hold held back. */
export async function addBlocked(tx: Tx, blocked: readonly BlockedIn[]): Promise<void> {
  if (blocked.length === 0) return;
  await tx.query(addBlockedStatement, [
    blocked.map(({ applicationId }) => applicationId),
    blocked.map(({ scope }) => scope),
    blocked.map(({ atMs }) => toTimestamp(atMs)),
  ]);
}

const addBlockedStatement = {
  name: 'add-blocked-starts',
  text: `update guard_hold h set blocked = h.blocked + c.count
    from (select f.id, count(*)::integer as count
      from unnest($1::text[], $2::text[], $3::timestamptz[]) as b(application_id, scope, at) cross join lateral (
        select id from guard_hold
        where application_id = b.application_id and scope = b.scope and began_at <= b.at and acts
          and coalesce(ended_at, until) >= b.at
        order by began_at desc limit 1) f
      group by f.id) c
    where h.id = c.id`,
};

/** Records the end of expired holds. Nodes let starts through from the expiry on. */
export async function endDueHolds(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `update guard_hold set ended_at = until where id = any(array(
       select id from guard_hold where ended_at is null and until <= $1 order by until limit $2 for update skip locked))`,
    [toTimestamp(nowMs), pieceRows],
  );
  return count;
}

/** Ends a hold; false if it was over already. `by` is null for a hold that the service replaces. */
export async function endHold(tx: Tx, id: string, by: EndedBy | null, nowMs: number): Promise<boolean> {
  const { count } = await tx.query(
    `update guard_hold set ended_at = $2, ended_by = $3, ended_by_member = $4
     where id = $1 and ended_at is null and until > $2`,
    [id, toTimestamp(nowMs), by?.personId ?? null, by?.isMember ?? false],
  );
  return count > 0;
}

/** Whether a member of the application's account may end a hold now; from then on none may for a day. */
export async function takeMembersEnd(tx: Tx, applicationUuid: string, nowMs: number): Promise<boolean> {
  const { count } = await tx.query(
    `insert into conversion_application as a (application_id, counted_since, member_ended_at) values ($1, $2, $2)
     on conflict (application_id) do update set member_ended_at = $2
     where a.member_ended_at is null or a.member_ended_at <= $3`,
    [applicationUuid, toTimestamp(nowMs), toTimestamp(nowMs - membersEndEveryMs)],
  );
  return count > 0;
}

/** The time from which a member may end another hold; null if that is allowed now. */
export async function readMembersEnd(tx: Tx, applicationUuid: string, nowMs: number): Promise<number | null> {
  const { rows } = await tx.query<{ atMs: number | null }>(
    'select member_ended_at as "atMs" from conversion_application where application_id = $1',
    [applicationUuid],
  );
  const fromMs = (rows[0]?.atMs ?? 0) + membersEndEveryMs;
  return fromMs > nowMs ? fromMs : null;
}

/** An ended hold no longer needs its client. The kind of client is kept. */
export async function forgetClients(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `update guard_hold set scope = split_part(scope, ':', 1) where id = any(array(
       select id from guard_hold where scope like '%:%' and (ended_at is not null or until <= $1) limit $2))`,
    [toTimestamp(nowMs), pieceRows],
  );
  return count;
}

/** Makes an open hold last longer. */
export async function renewHold(tx: Tx, id: string, untilMs: number): Promise<void> {
  await tx.query('update guard_hold set until = $2 where id = $1 and ended_at is null and until < $2', [
    id,
    toTimestamp(untilMs),
  ]);
}

export async function findHold(tx: Tx, id: string): Promise<HoldRow | undefined> {
  const { rows } = await tx.query<HoldRow>(`select ${columns} from guard_hold where id = $1`, [id]);
  return rows[0];
}

/** The holds of these applications that are open, or ended after a time; the newest first. */
export async function readHoldsOf(tx: Tx, applicationIds: readonly string[], sinceMs: number): Promise<HoldRow[]> {
  const { rows } = await tx.query<HoldRow>(
    `select ${columns} from guard_hold where application_id = any($1::text[]) and (ended_at is null or ended_at > $2)
     order by id desc limit $3`,
    [applicationIds, toTimestamp(sinceMs), mostOfApplications],
  );
  return rows;
}

export interface HoldQuery {
  state: 'open' | 'ended';
  nowMs: number;
  /** Only the holds of this application. */
  applicationId: string | undefined;
  limit: number;
  /** The last id of the previous page. */
  after: string | undefined;
}

/** Newest first. An expired hold has ended, even if its row does not say so yet. */
export async function listHolds(tx: Tx, { state, nowMs, applicationId, limit, after }: HoldQuery): Promise<HoldRow[]> {
  const isOpen = 'ended_at is null and until > $1';
  const { rows } = await tx.query<HoldRow>(
    `select ${columns} from guard_hold where ${state === 'open' ? isOpen : `not (${isOpen})`}
       and ($2::text is null or application_id = $2) and ($3::text is null or id < $3) order by id desc limit $4`,
    [toTimestamp(nowMs), applicationId ?? null, after ?? null, limit],
  );
  return rows;
}

export async function deleteOldHolds(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from guard_hold where id = any(array(
       select id from guard_hold where ended_at < $1 order by ended_at limit $2))`,
    [toTimestamp(nowMs - endedKeptMs), pieceRows],
  );
  return count;
}
