import { dayMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { AlertEvent } from './body.ts';

/** A pending call of HELIOGRAPH_ALERT_URL. */
export interface AlertCall {
  alertId: string;
  event: AlertEvent;
  body: string;
  /** The number of attempts, this one included. */
  tries: number;
  createdAtMs: number;
}

/** Lease of a node that takes a call. */
const leaseMs = 30_000;
const takenTogether = 10;
/** Calls are given up after this time. */
export const callsTriedMs = 3 * dayMs;

/** Calls are made in this order. */
export async function insertCalls(
  tx: Tx,
  calls: Pick<AlertCall, 'alertId' | 'event' | 'body'>[],
  nowMs: number,
): Promise<void> {
  if (calls.length === 0) return;
  await tx.query(
    `insert into alert_call (alert_id, event, body, created_at, next_try_at)
     select alert_id, event, body, $4, $4::timestamptz - (cardinality($1::text[]) - position) * interval '1 microsecond'
     from unnest($1::text[], $2::text[], $3::text[]) with ordinality as c(alert_id, event, body, position)
     on conflict do nothing`,
    [
      calls.map(({ alertId }) => alertId),
      calls.map(({ event }) => event),
      calls.map(({ body }) => body),
      toTimestamp(nowMs),
    ],
  );
}

/** Takes calls that are due, in their order. The call that an alert is over follows the call that raised it. */
export async function takeCalls(tx: Tx, nowMs: number): Promise<AlertCall[]> {
  const { rows } = await tx.query<AlertCall>(
    `with due as (
       select alert_id, event, next_try_at from alert_call d where next_try_at <= $1 and (event = 'raised' or not exists (
         select from alert_call r where r.alert_id = d.alert_id and r.event = 'raised'))
       order by next_try_at limit $3 for update skip locked),
     taken as (
       update alert_call c set tries = tries + 1, next_try_at = $2 from due
       where c.alert_id = due.alert_id and c.event = due.event returning c.*, due.next_try_at as was_due_at)
     select alert_id as "alertId", event, body, tries, created_at as "createdAtMs" from taken order by was_due_at`,
    [toTimestamp(nowMs), toTimestamp(nowMs + leaseMs), takenTogether],
  );
  return rows;
}

export async function endCall(tx: Tx, { alertId, event }: AlertCall, reportedAtMs: number | null): Promise<void> {
  await tx.query('delete from alert_call where alert_id = $1 and event = $2', [alertId, event]);
  if (reportedAtMs !== null && event === 'raised')
    await tx.query('update alert set told_at = $2 where id = $1', [alertId, toTimestamp(reportedAtMs)]);
}

export async function postponeCall(tx: Tx, { alertId, event }: AlertCall, untilMs: number): Promise<void> {
  await tx.query('update alert_call set next_try_at = $3 where alert_id = $1 and event = $2', [
    alertId,
    event,
    toTimestamp(untilMs),
  ]);
}
