import type { Clock } from '../platform/clock.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, newId, uuidOf } from '../platform/ids.ts';
import { bindModes } from './account.ts';
import type { Bind, Problem, ShownBind } from './bind.ts';

/** By the clock of the database: a process that was not seen for this long is gone, and its binds no longer count. */
const isLive = `l.seen_at > clock_timestamp() - interval '10 seconds'`;

/**
 * Inserts the bind, and returns whether its account had room for it; undefined if the account is gone. Binds in `ended` have
 * ended here, and are deleted first.
 */
export async function insertBind(
  tx: Tx,
  listenerId: string,
  bind: Bind,
  ended: string[],
): Promise<boolean | undefined> {
  // Two binds at once wait for each other here, on whichever nodes.
  const { rows } = await tx.query<{ binds: number }>('select binds from smpp_account where id = $1 for update', [
    uuidOf(bind.account.id),
  ]);
  const [account] = rows;
  if (account === undefined) return undefined;
  if (ended.length > 0) await deleteBinds(tx, ended);
  await tx.query(touchStatement, [uuidOf(listenerId)]);
  const { count } = await tx.query(insertStatement, [...valuesOf(listenerId, bind), account.binds]);
  return count > 0;
}

const insertStatement = {
  name: 'insert-smpp-bind',
  text: `insert into smpp_bind (id, listener_id, account_id, mode, address, tls, bound_at)
    select $1::uuid, $2::uuid, $3::uuid, $4::smallint, $5::text, $6::boolean, $7::timestamptz
    where (select count(*) from smpp_bind b join smpp_listener l on l.id = b.listener_id
      where b.account_id = $3::uuid and ${isLive}) < $8::integer`,
};

function valuesOf(listenerId: string, bind: Bind): unknown[] {
  return [
    ...[uuidOf(bind.id), uuidOf(listenerId), uuidOf(bind.account.id), bindModes.indexOf(bind.mode)],
    ...[bind.address, bind.tls, toTimestamp(bind.boundAtMs)],
  ];
}

export interface Heartbeat {
  /** Other nodes had given this process up: its binds have to be written again. */
  wasGivenUp: boolean;
  /** The ids of its binds that an operator wants to end. */
  ending: string[];
}

export async function beat(tx: Tx, listenerId: string): Promise<Heartbeat> {
  const { rows } = await tx.query<{ made: boolean; ending: string[] }>(beatStatement, [uuidOf(listenerId)]);
  const [{ made, ending } = { made: false, ending: [] }] = rows;
  return { wasGivenUp: made, ending: ending.map((id) => fromUuid('bnd', id)) };
}

const touch = `insert into smpp_listener (id, seen_at) values ($1, clock_timestamp())
    on conflict (id) do update set seen_at = clock_timestamp() returning xmax = 0 as made`;

const beatStatement = {
  name: 'beat-of-smpp-listener',
  text: `with touched as (${touch})
    select made, array(select id from smpp_bind where listener_id = $1 and ending) as ending from touched`,
};

const touchStatement = { name: 'touch-smpp-listener', text: touch };

/** Writes binds again that were deleted with their process. */
export async function restoreBinds(tx: Tx, listenerId: string, binds: Bind[]): Promise<void> {
  await tx.query(
    `insert into smpp_bind (id, listener_id, account_id, mode, address, tls, bound_at)
     select r.id, $1, r.account_id, r.mode, r.address, r.tls, r.bound_at
     from unnest($2::uuid[], $3::uuid[], $4::smallint[], $5::text[], $6::boolean[], $7::timestamptz[])
       as r(id, account_id, mode, address, tls, bound_at) join smpp_account a on a.id = r.account_id
     on conflict (id) do nothing`,
    [
      uuidOf(listenerId),
      binds.map(({ id }) => uuidOf(id)),
      binds.map(({ account }) => uuidOf(account.id)),
      binds.map(({ mode }) => bindModes.indexOf(mode)),
      binds.map(({ address }) => address),
      binds.map(({ tls }) => tls),
      binds.map(({ boundAtMs }) => toTimestamp(boundAtMs)),
    ],
  );
}

export async function writeCounts(tx: Tx, binds: (Bind & { perMinute: number })[]): Promise<void> {
  await tx.query(countStatement, [
    binds.map(({ id }) => uuidOf(id)),
    binds.map(({ submits }) => submits),
    binds.map(({ throttled }) => throttled),
    binds.map(({ refused }) => refused),
    binds.map(({ delivered }) => delivered),
    binds.map(({ perMinute }) => perMinute),
  ]);
}

const countStatement = {
  name: 'count-smpp-binds',
  text: `update smpp_bind b set submits = c.submits, throttled = c.throttled, refused = c.refused,
      delivered = c.delivered, per_minute = c.per_minute
    from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[])
      as c(id, submits, throttled, refused, delivered, per_minute) where b.id = c.id`,
};

export async function deleteBinds(tx: Tx, ids: string[]): Promise<void> {
  await tx.query('delete from smpp_bind where id = any($1::uuid[])', [ids.map(uuidOf)]);
}

export async function deleteListener(tx: Tx, listenerId: string): Promise<void> {
  await tx.query('delete from smpp_listener where id = $1', [uuidOf(listenerId)]);
}

/** Deletes processes that were not seen for a minute. Their binds are deleted with them. */
export async function deleteDeadListeners(tx: Tx, most: number): Promise<number> {
  const { count } = await tx.query(
    `delete from smpp_listener where ctid = any(array(
       select ctid from smpp_listener where seen_at < clock_timestamp() - interval '1 minute' limit $1))`,
    [most],
  );
  return count;
}

interface BindRow extends Omit<ShownBind, 'mode'> {
  mode: number;
}

const shownColumns = `b.id, b.account_id as "accountId", b.mode, b.address, b.tls, b.bound_at as "boundAtMs", b.submits,
  b.throttled, b.refused, b.delivered, b.per_minute as "perMinute"`;

/** The live binds of these accounts, oldest first. */
export async function listBinds(tx: Tx, accountIds: string[], most: number): Promise<ShownBind[]> {
  const { rows } = await tx.query<BindRow>(
    `select ${shownColumns} from smpp_bind b join smpp_listener l on l.id = b.listener_id
     where b.account_id = any($1::uuid[]) and ${isLive} order by b.id limit $2`,
    [accountIds.map(uuidOf), most],
  );
  return rows.map(toShown);
}

export interface OwnedBind extends ShownBind {
  systemId: string;
  applicationId: string;
  limit: number;
}

/** All live binds after this one, newest first. */
export async function listAllBinds(tx: Tx, after: string | undefined, limit: number): Promise<OwnedBind[]> {
  const { rows } = await tx.query<BindRow & { systemId: string; applicationId: string; limit: number }>(
    `select ${shownColumns}, a.system_id as "systemId", a.application_id as "applicationId", a.binds as limit
     from smpp_bind b join smpp_listener l on l.id = b.listener_id join smpp_account a on a.id = b.account_id
     where ${isLive} and ($1::uuid is null or b.id < $1) order by b.id desc limit $2`,
    [after === undefined ? null : uuidOf(after), limit],
  );
  return rows.map(({ systemId, applicationId, limit: most, ...row }) => ({
    ...toShown(row),
    ...{ systemId, applicationId, limit: most },
  }));
}

/** The process of the bind ends it within two seconds. */
export async function markEnding(tx: Tx, id: string): Promise<boolean> {
  const { count } = await tx.query('update smpp_bind set ending = true where id = $1', [uuidOf(id)]);
  return count > 0;
}

export async function insertProblems(tx: Tx, problems: Problem[], clock: Clock): Promise<void> {
  await tx.query(
    `insert into smpp_problem (id, account_id, at, command, status, why)
     select p.* from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::integer[], $6::text[])
       as p(id, account_id, at, command, status, why) join smpp_account a on a.id = p.account_id`,
    [
      problems.map(() => uuidOf(newId('bnd', clock))),
      problems.map(({ accountId }) => uuidOf(accountId)),
      problems.map(({ atMs }) => toTimestamp(atMs)),
      problems.map(({ command }) => command),
      problems.map(({ status }) => status),
      problems.map(({ why }) => why),
    ],
  );
  const accounts = [...new Set(problems.map(({ accountId }) => accountId))];
  await tx.query(
    `delete from smpp_problem p using unnest($1::uuid[]) as a(id)
     where p.account_id = a.id and p.id < (
       select id from smpp_problem n where n.account_id = a.id order by n.id desc offset $2 limit 1)`,
    [accounts.map(uuidOf), newestProblems - 1],
  );
}

/** Number of problems kept for each account. */
export const newestProblems = 20;

/** Newest first, of each account. */
export async function listProblems(tx: Tx, accountIds: string[]): Promise<Problem[]> {
  const { rows } = await tx.query<Problem>(
    `select account_id as "accountId", at as "atMs", command, status, why from smpp_problem
     where account_id = any($1::uuid[]) order by id desc limit $2`,
    [accountIds.map(uuidOf), newestProblems * Math.max(1, accountIds.length)],
  );
  return rows.map((row) => ({ ...row, accountId: fromUuid('smp', row.accountId) }));
}

function toShown({ mode, ...row }: BindRow): ShownBind {
  return {
    ...row,
    id: fromUuid('bnd', row.id),
    accountId: fromUuid('smp', row.accountId),
    mode: bindModes[mode] ?? 'transceiver',
  };
}
