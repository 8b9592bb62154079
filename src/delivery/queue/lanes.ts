// Tests: test/contract/operator-now.test.ts, test/smpp/operator-counts.test.ts
import { type Lane, laneNames } from '../../messages/message.ts';
import { nameOf } from '../../messages/message-row.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { readQueueAges } from './ages.ts';
import { findQueueKeys } from './state.ts';

/** The due texts of one lane of a carrier. */
export interface LaneQueue {
  /** The carrier's key. */
  carrier: string;
  lane: Lane;
  /** Due and not sent; counting stops at 10,000. */
  waiting: number;
  oldestAtMs: number;
}

const mostCounted = 10_000;

/** How many texts wait, and since when, by carrier and lane. */
export async function readLaneQueues(tx: Tx, nowMs: number): Promise<LaneQueue[]> {
  const ages = await readQueueAges(tx, nowMs);
  const counts = new Map<string, number>();
  for (const carrier of await findQueueKeys(tx)) {
    const { rows } = await tx.query<{ lane: number; waiting: number }>(countStatement, [
      ...[carrier, mostCounted, toTimestamp(nowMs)],
    ]);
    for (const { lane, waiting } of rows) counts.set(`${carrier} ${nameOf(laneNames, lane)}`, waiting);
  }
  return ages.map((age) => ({ ...age, waiting: counts.get(`${age.carrier} ${age.lane}`) ?? 0 }));
}

export interface QueueState {
  /** Due and not sent; 10,000 means 10,000 or more. */
  waiting: number;
  onTheWire: number;
  /** Since when the oldest of those that wait is due. */
  oldestDueAtMs: number | null;
}

/** The backlog over all carriers. */
export async function readQueueState(tx: Tx, nowMs: number): Promise<QueueState> {
  const lanes = await readLaneQueues(tx, nowMs);
  const { rows } = await tx.query<{ onTheWire: number }>(
    'select coalesce(sum(cardinality(message_ids)), 0) as "onTheWire" from delivery_claim',
  );
  return {
    waiting: Math.min(
      mostCounted,
      lanes.reduce((sum, { waiting }) => sum + waiting, 0),
    ),
    onTheWire: rows[0]?.onTheWire ?? 0,
    oldestDueAtMs: lanes.length === 0 ? null : Math.min(...lanes.map(({ oldestAtMs }) => oldestAtMs)),
  };
}

const ofLane = (lane: number) => `select ${lane}::smallint as lane, count(*)::integer as waiting from (
      (select from delivery_queue where carrier = $1 and lane = ${lane} limit $2)
      union all
      (select from delivery_schedule where carrier = $1 and lane = ${lane} and (attempt > 0 or due_at <= $3)
        limit $2)) as found`;

const countStatement = {
  name: 'count-lanes',
  text: laneNames.map((_, lane) => ofLane(lane)).join(' union all '),
};
