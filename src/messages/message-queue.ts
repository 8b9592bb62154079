import { apiNames } from './message.ts';

/**
 * The order of lanes is the order of sending: a person waits for a code. `delivery_queue` holds what may be sent now,
 * `delivery_schedule` what is sent later, `delivery_claim` what a worker has taken.
 */
export const lanes = { verification: 0, bulk: 1 } as const;

/** The lane of a message's API, in SQL. */
export const laneSql = (api: string) =>
  `case when ${api} = ${apiNames.indexOf('verify')} then ${lanes.verification} else ${lanes.bulk} end`;

/** Queues the rows of `message` that a part of a `with` has inserted. */
export const queueInserts = (inserted: string) => `queued_message as (
    insert into delivery_queue (carrier, lane, application_id, message_id)
    select carrier, ${laneSql('api')}, application_id, id from ${inserted} where send_at is null),
  scheduled_message as (
    insert into delivery_schedule (carrier, lane, application_id, message_id, due_at)
    select carrier, ${laneSql('api')}, application_id, id, send_at from ${inserted} where send_at is not null)`;
