import { carrierNameOf } from '../../messages/message.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { findQueueKeys } from './state.ts';
import { stuckAfterMs } from './waiting-texts.ts';

/** The texts of a carrier that are not sent yet. */
export interface CarrierQueue {
  /** The carrier's name. */
  carrier: string;
  /** Due and not sent. `retrying` counts those that were tried before. */
  waiting: number;
  retrying: number;
  /** To be sent later. */
  scheduled: number;
  /** Submitted, and not answered. */
  sending: number;
  /** Texts that the list of deliveries shows as stuck. */
  stuck: number;
  inDoubt: number;
  /** Since when the oldest is due. */
  oldestAtMs: number | null;
  /** The waiting texts by how long they have been due. */
  under10s: number;
  under1m: number;
  under10m: number;
  older: number;
}

/** Maximum number of entries counted for each carrier in the queue, in the schedule and on the wire. */
const mostCounted = 10_000;

/** The waiting texts by carrier. Carriers that had the same name count as one. */
export async function readQueueReport(tx: Tx, nowMs: number): Promise<CarrierQueue[]> {
  const found = new Map<string, CarrierQueue>();
  for (const key of await findQueueKeys(tx)) {
    const { rows } = await tx.query<Omit<CarrierQueue, 'carrier'>>(reportStatement, [
      key,
      mostCounted,
      toTimestamp(nowMs),
      toTimestamp(nowMs - stuckAfterMs),
    ]);
    const [row] = rows;
    const carrier = carrierNameOf(key);
    if (row !== undefined) found.set(carrier, added(found.get(carrier), { carrier, ...row }));
  }
  return [...found.values()].sort((a, b) => (a.carrier < b.carrier ? -1 : 1));
}

function added(before: CarrierQueue | undefined, row: CarrierQueue): CarrierQueue {
  if (before === undefined) return row;
  const oldest = [before.oldestAtMs, row.oldestAtMs].filter((ms) => ms !== null);
  return {
    carrier: row.carrier,
    waiting: before.waiting + row.waiting,
    retrying: before.retrying + row.retrying,
    scheduled: before.scheduled + row.scheduled,
    sending: before.sending + row.sending,
    stuck: before.stuck + row.stuck,
    inDoubt: before.inDoubt + row.inDoubt,
    oldestAtMs: oldest.length === 0 ? null : Math.min(...oldest),
    under10s: before.under10s + row.under10s,
    under1m: before.under1m + row.under1m,
    under10m: before.under10m + row.under10m,
    older: before.older + row.older,
  };
}

/** $3 is now, $4 a minute ago. */
const entries = `(select message_id, attempt, in_doubt, 'queue' as place, null::timestamptz as due_at
      from delivery_queue where carrier = $1 limit $2)
    union all
    (select message_id, attempt, in_doubt, 'schedule', due_at from delivery_schedule where carrier = $1 limit $2)
    union all
    (select c.message_id, c.attempt + 1, claimed_at < $4, 'wire', null
      from delivery_claim d cross join lateral unnest(d.message_ids, d.attempts) as c(message_id, attempt)
      where carrier = $1 limit $2)`;
const ages = (from: string, to: string) =>
  `count(*) filter (where waits and since > ${from} and since <= ${to})::integer`;

const reportStatement = {
  name: 'read-queue-report',
  text: `with entry as materialized (${entries}),
    aged as (
      select e.place, e.attempt, e.in_doubt, greatest(m.created_at, m.send_at, m.deferred_until) as since,
        e.place = 'queue' or (e.place = 'schedule' and (e.attempt > 0 or e.due_at <= $3)) as waits
      from entry e join message m on m.id = e.message_id)
    select count(*) filter (where waits)::integer as waiting,
      count(*) filter (where waits and attempt > 0)::integer as retrying,
      count(*) filter (where not waits and place = 'schedule')::integer as scheduled,
      count(*) filter (where place = 'wire')::integer as sending,
      count(*) filter (where since < $4 and (waits or (place = 'wire' and in_doubt)))::integer as stuck,
      count(*) filter (where in_doubt)::integer as "inDoubt",
      min(since) filter (where waits) as "oldestAtMs",
      ${ages(`$3::timestamptz - interval '10 seconds'`, `'infinity'`)} as under10s,
      ${ages('$4::timestamptz', `$3::timestamptz - interval '10 seconds'`)} as under1m,
      ${ages(`$3::timestamptz - interval '10 minutes'`, '$4::timestamptz')} as under10m,
      ${ages(`'-infinity'`, `$3::timestamptz - interval '10 minutes'`)} as older
    from aged`,
};
