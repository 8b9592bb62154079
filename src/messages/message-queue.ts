/**
 * The numbers of lanes (`laneNames`), in the order of sending. `delivery_queue` holds texts that may be sent now,
 * `delivery_schedule` those that are sent later, `delivery_claim` those that a worker has claimed.
 */
export const lanes = { first: 0, bulk: 1 } as const;

/** Queues the rows of `message` that the CTE `inserted` has inserted. */
export const queueInserts = (inserted: string) => `queued_message as (
    insert into delivery_queue (carrier, lane, application_id, message_id, expires_at)
    select carrier, lane, application_id, id, expires_at from ${inserted} where due_at is null),
  scheduled_message as (
    insert into delivery_schedule (carrier, lane, application_id, message_id, expires_at, due_at)
    select carrier, lane, application_id, id, expires_at, due_at from ${inserted} where due_at is not null)`;
