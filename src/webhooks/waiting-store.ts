import type { Tx } from '../platform/database/database.ts';
import { callable } from './store.ts';

/** Undelivered events of active webhooks, on all nodes. */
export interface Waiting {
  /** Deliveries that wait for another attempt; the count stops at 100,000. */
  count: number;
  /** The time of the oldest undelivered event; null if there is none. */
  oldestAtMs: number | null;
}

export async function findWaiting(tx: Tx): Promise<Waiting> {
  const { rows } = await tx.query<Waiting>(waitingStatement);
  return rows[0] ?? { count: 0, oldestAtMs: null };
}

/** For each webhook, one lookup finds its oldest event without a delivery, and one its oldest waiting delivery. */
const waitingStatement = {
  name: 'find-waiting-webhooks',
  text: `with active as materialized (
      select c.webhook_id, c.listener_id, c.position from ${callable} join webhook_course c on c.webhook_id = w.id
      where w.status = 'active' limit 10000),
    oldest as (
      select least(
        (select e.time from event e where e.application_id = a.listener_id and e.position > a.position
          order by e.position limit 1),
        (select e.time from event e where e.application_id = a.listener_id and e.position = (
          select min(d.position) from webhook_delivery d where d.webhook_id = a.webhook_id and d.next_attempt_at is not null))
        ) as time from active a)
    select (select count(*) from (select from webhook_delivery d join active a on a.webhook_id = d.webhook_id
        where d.next_attempt_at is not null limit 100000) w) as count,
      (select min(time) from oldest) as "oldestAtMs"`,
};
