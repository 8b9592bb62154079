import { type Lane, laneNames } from '../../messages/message.ts';
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
 * `carriers`: maximum for one statement. The other bounds are for each carrier and lane. Entries of an application are in
 * the order of age, so its first ones are enough: several, because a text with a send time waits only from that time on.
 */
const most = { carriers: 20, applications: 300, ofApplication: 5, scheduled: 10_000, compared: 50 };

/**
 * When the oldest text of each carrier and lane became due: when it was accepted, at its send time, or when the hours of its
 * route began, whichever came last.
 */
export async function readQueueAges(tx: Tx, nowMs: number, lanes: readonly Lane[] = laneNames): Promise<QueueAge[]> {
  const keys = await findQueueKeys(tx);
  const ages: QueueAge[] = [];
  for (const lane of lanes) {
    for (let from = 0; from < keys.length; from += most.carriers) {
      const carriers = keys.slice(from, from + most.carriers);
      const { rows } = await tx.query<Omit<QueueAge, 'lane'>>(ageStatements[lane], [carriers, toTimestamp(nowMs)]);
      for (const row of rows) ages.push({ ...row, lane });
    }
  }
  return ages;
}

const queued = (lane: number) => `(with recursive owner as (
        (select application_id as id from delivery_queue where carrier = given.carrier and lane = ${lane} order by 1 limit 1)
        union all
        select (select q.application_id from delivery_queue q
          where q.carrier = given.carrier and q.lane = ${lane} and q.application_id > o.id order by 1 limit 1)
        from owner o where o.id is not null)
      select q.message_id from (select id from owner where id is not null limit ${most.applications}) o
      cross join lateral (select message_id from delivery_queue
        where carrier = given.carrier and lane = ${lane} and application_id = o.id
        order by message_id limit ${most.ofApplication}) q)`;

/** Texts that wait for another try are due soon. */
const tried = (lane: number) => `(select message_id from (
        select message_id, lane, attempt, due_at from delivery_schedule where carrier = given.carrier
        order by due_at limit ${most.scheduled}) s
      where lane = ${lane} and (attempt > 0 or due_at <= $2))`;

const ageStatement = (lane: Lane) => {
  const index = laneNames.indexOf(lane);
  return {
    name: `read-queue-ages-${lane}`,
    text: `select given.carrier, oldest.at as "oldestAtMs" from unnest($1::text[]) as given(carrier)
      cross join lateral (select min(greatest(m.created_at, m.send_at, m.deferred_until)) as at
        from (select message_id from (${queued(index)} union all ${tried(index)}) as found
          order by message_id limit ${most.compared}) w join message m on m.id = w.message_id) as oldest
      where oldest.at is not null`,
  };
};
const ageStatements = { first: ageStatement('first'), bulk: ageStatement('bulk') };
