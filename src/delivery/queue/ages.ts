import { type Lane, laneNames } from '../../messages/message.ts';
import { nameOf } from '../../messages/message-row.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { findQueueKeys } from './state.ts';

export interface QueueAge {
  /** The carrier's key. */
  carrier: string;
  lane: Lane;
  /** When the longest waiting text should have left. */
  oldestAtMs: number;
}

/**
 * Bounds for each carrier and lane. Entries of an application are in the order of age, so its first ones are enough:
 * several, because a text with a send time waits only from that time on.
 */
const most = { applications: 300, ofApplication: 5, scheduled: 10_000, compared: 50 };

/**
 * When the oldest text of each carrier and lane became due: when it was accepted, at its send time, or when the hours of its
 * route began, whichever came last.
 */
export async function readQueueAges(tx: Tx, nowMs: number): Promise<QueueAge[]> {
  const keys = await findQueueKeys(tx);
  const ages: QueueAge[] = [];
  for (const carrier of keys) {
    const { rows } = await tx.query<{ lane: number; oldestAtMs: number }>(ageStatement, [carrier, toTimestamp(nowMs)]);
    ages.push(...rows.map(({ lane, oldestAtMs }) => ({ carrier, lane: nameOf(laneNames, lane), oldestAtMs })));
  }
  return ages;
}

const queued = (lane: number) => `(with recursive owner as (
        (select application_id as id from delivery_queue where carrier = $1 and lane = ${lane} order by 1 limit 1)
        union all
        select (select q.application_id from delivery_queue q
          where q.carrier = $1 and q.lane = ${lane} and q.application_id > o.id order by 1 limit 1)
        from owner o where o.id is not null)
      select q.message_id from (select id from owner where id is not null limit ${most.applications}) o
      cross join lateral (select message_id from delivery_queue
        where carrier = $1 and lane = ${lane} and application_id = o.id
        order by message_id limit ${most.ofApplication}) q)`;

/** Texts that wait for another try are due soon. */
const tried = (lane: number) => `(select message_id from (
        select message_id, lane, attempt, due_at from delivery_schedule where carrier = $1
        order by due_at limit ${most.scheduled}) s
      where lane = ${lane} and (attempt > 0 or due_at <= $2))`;

const ofLane = (lane: number) => `(select ${lane}::smallint as lane, message_id
    from (${queued(lane)} union all ${tried(lane)}) as found order by message_id limit ${most.compared})`;

const ageStatement = {
  name: 'read-queue-ages',
  text: `select w.lane, min(greatest(m.created_at, m.send_at, m.deferred_until)) as "oldestAtMs"
    from (${laneNames.map((_, lane) => ofLane(lane)).join(' union all ')}) w join message m on m.id = w.message_id
    group by w.lane`,
};
