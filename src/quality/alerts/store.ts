import { type Clock, dayMs, toTimestamp } from '../../platform/clock.ts';
import { advisoryLocks } from '../../platform/database/advisory-locks.ts';
import type { Tx } from '../../platform/database/database.ts';
import { newId } from '../../platform/ids.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';
import { type AlertKind, alertKinds } from './alert.ts';
import type { AlertChanges, OpenAlert } from './changes.ts';

export interface Alert {
  id: string;
  kind: AlertKind;
  carrier: string | null;
  country: string | null;
  applicationId: string | null;
  summary: string;
  advice: string;
  sinceMs: number;
  raisedAtMs: number;
  reportedAtMs: number | null;
  clearedAtMs: number | null;
}

const mostOpen = 10_000;
const clearedKeptMs = 30 * dayMs;

/** True if no other node judges alerts at this moment. The lock lasts until the transaction ends. */
export async function lockAlerts(tx: Tx): Promise<boolean> {
  const lock = 'select pg_try_advisory_xact_lock($1) as locked';
  const { rows } = await tx.query<{ locked: boolean }>(lock, [advisoryLocks.alerts]);
  return rows[0]?.locked === true;
}

export async function readOpen(tx: Tx): Promise<OpenAlert[]> {
  const { rows } = await tx.query<OpenAlert>(
    `select id, key, since as "sinceMs", seen_at as "seenAtMs", raised_at as "raisedAtMs" from alert
     where cleared_at is null order by id limit $1`,
    [mostOpen],
  );
  return rows;
}

const columns = `id, kind, carrier, country, application_id as "applicationId", summary, advice, since as "sinceMs",
  raised_at as "raisedAtMs", told_at as "reportedAtMs", cleared_at as "clearedAtMs"`;

/** Writes the changes, and returns the alerts that were raised or cleared by them. */
export async function writeChanges(
  tx: Tx,
  changes: AlertChanges,
  clock: Clock,
): Promise<{ raised: Alert[]; cleared: Alert[] }> {
  const now = toTimestamp(clock.nowMs());
  const raised: Alert[] = [];
  // Conditions come and go in small numbers, so each is a statement of its own.
  for (const { key, kind, carrier, country, applicationId, summary, advice, raised: at } of changes.begin) {
    const { rows } = await tx.query<Alert>(
      `insert into alert (id, key, kind, carrier, country, application_id, summary, advice, since, seen_at, raised_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10) on conflict do nothing returning ${columns}`,
      [newId('alr', clock), key, kind, carrier, country, applicationId, summary, advice, now, at ? now : null],
    );
    if (at) raised.push(...rows);
  }
  const held = changes.hold;
  if (held.length > 0) {
    await tx.query(holdStatement, [
      now,
      held.map(({ id }) => id),
      held.map(({ condition }) => condition.summary),
      held.map(({ condition }) => condition.advice),
      held.map(({ restart }) => restart),
    ]);
  }
  const raising = held.filter(({ raise }) => raise).map(({ id }) => id);
  if (raising.length > 0) raised.push(...(await change(tx, 'raised_at', raising, now)));
  const clearing = changes.clear.map(({ id }) => id);
  const cleared = clearing.length === 0 ? [] : await change(tx, 'cleared_at', clearing, now);
  const dropped = changes.drop.map(({ id }) => id);
  if (dropped.length > 0) await tx.query('delete from alert where id = any($1::text[])', [dropped]);
  return { raised, cleared };
}

const holdStatement = `update alert a set seen_at = $1, summary = h.summary, advice = h.advice,
    since = case when h.restart then $1 else since end
  from unnest($2::text[], $3::text[], $4::text[], $5::boolean[]) as h(id, summary, advice, restart) where a.id = h.id`;

async function change(tx: Tx, column: 'raised_at' | 'cleared_at', ids: string[], now: string): Promise<Alert[]> {
  const { rows } = await tx.query<Alert>(
    `update alert set ${column} = $2 where id = any($1::text[]) returning ${columns}`,
    [ids, now],
  );
  return rows;
}

/** Alerts of these kinds that are open, or were open at some time since. */
export async function readAlertsSince(tx: Tx, kinds: readonly AlertKind[], sinceMs: number): Promise<Alert[]> {
  const { rows } = await tx.query<Alert>(
    `(select ${columns} from alert where cleared_at is null and raised_at is not null and kind = any($1::text[]) limit $3)
     union all
     (select ${columns} from alert where cleared_at >= $2 and kind = any($1::text[]) limit $3)`,
    [kinds, toTimestamp(sinceMs), mostOpen],
  );
  return rows;
}

export interface AlertQuery {
  state: 'open' | 'cleared';
  limit: number;
  /** The last id of the previous page. */
  after: string | undefined;
}

/** Causes before symptoms. */
const rank = `array_position(array[${alertKinds.map((kind) => `'${kind}'`).join(', ')}], kind)`;

const rankOfLast = `(select ${rank} from alert where id = $1)`;

/** Open alerts, causes before symptoms and then the newest first; or cleared ones, the newest first. */
export async function listAlerts(tx: Tx, { state, limit, after }: AlertQuery): Promise<Alert[]> {
  const of = `select ${columns} from alert where raised_at is not null and cleared_at is`;
  const text =
    state === 'open'
      ? `${of} null and ($1::text is null or ${rank} > ${rankOfLast} or ${rank} = ${rankOfLast} and id < $1)
         order by ${rank}, id desc limit $2`
      : `${of} not null and ($1::text is null or id < $1) order by id desc limit $2`;
  const { rows } = await tx.query<Alert>(text, [after ?? null, limit]);
  return rows;
}

/** A problem of now. It is raised once it has lasted long enough. */
export type PresentAlert = Omit<Alert, 'raisedAtMs'> & { raisedAtMs: number | null };

/** Longer than the time between two polls. */
const seenWithinMs = 30_000;

/** What is wrong now, raised or not, causes before symptoms. */
export async function listPresentAlerts(tx: Tx, nowMs: number, limit: number): Promise<PresentAlert[]> {
  const { rows } = await tx.query<PresentAlert>(
    `select ${columns} from alert where cleared_at is null and (raised_at is not null or seen_at >= $1)
     order by ${rank}, id desc limit $2`,
    [toTimestamp(nowMs - seenWithinMs), limit],
  );
  return rows;
}

export async function deleteClearedAlerts(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from alert where id in (
       select id from alert where cleared_at < $1 order by cleared_at limit $2)`,
    [toTimestamp(nowMs - clearedKeptMs), pieceRows],
  );
  return count;
}
