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

/** Maximum number of entries read for each carrier and lane, oldest first. */
const mostOldest = 200;
/** Read at most this many entries to find them. */
const mostRead = 10_000;

/**
 * Since when the oldest text of each carrier and lane waits. A text that has a time to be sent at, or that came outside the
 * hours of its route, waits from then on.
 */
export async function readQueueAges(tx: Tx, nowMs: number): Promise<QueueAge[]> {
  const keys = await findQueueKeys(tx);
  const ages: QueueAge[] = [];
  for (const carrier of keys) {
    const { rows } = await tx.query<{ lane: number; oldestAtMs: number }>(ageStatement, [
      carrier,
      mostOldest,
      mostRead,
      toTimestamp(nowMs),
    ]);
    ages.push(...rows.map(({ lane, oldestAtMs }) => ({ carrier, lane: nameOf(laneNames, lane), oldestAtMs })));
  }
  return ages;
}

const ofLane = (lane: number) => `(select ${lane}::smallint as lane, message_id from (
      (select message_id from delivery_queue where carrier = $1 and lane = ${lane} limit $2)
      union all
      (select message_id from delivery_schedule where carrier = $1 and lane = ${lane} and (attempt > 0 or due_at <= $4)
        limit $2)) as found order by message_id limit $3)`;

const ageStatement = {
  name: 'read-queue-ages',
  text: `select w.lane, min(greatest(m.created_at, m.send_at, m.deferred_until)) as "oldestAtMs"
    from (${laneNames.map((_, lane) => ofLane(lane)).join(' union all ')}) w join message m on m.id = w.message_id
    group by w.lane`,
};
