import type { Tx } from '../../src/platform/database/database.ts';
import { uuidOf } from '../../src/platform/ids.ts';

const mostDescribed = 5;

/** Everything that the database knows of these texts: what a reader needs to find out why one was not sent, or emitted no event. */
export async function describeTexts(database: Tx, ids: string[]): Promise<string> {
  const { rows } = await database.query(
    `select m.id, m.status, m.created_at, m.updated_at, to_json(q) as queued, to_json(s) as scheduled, to_json(c) as claimed,
       (select json_agg(h) from handset_text h where h.message_id = m.id) as arrived,
       (select json_agg(e order by e.position) from event e where e.subject = m.id) as events,
       (select json_agg(u) from unmatched_receipt u) as unmatched, (select reported from handset_report) as reported,
       (select last_value from event_position) as newest_event, now()
     from message m left join delivery_queue q on q.message_id = m.id left join delivery_schedule s on s.message_id = m.id
       left join delivery_claim c on m.id = any(c.message_ids)
     where m.id = any($1::uuid[])`,
    [ids.slice(0, mostDescribed).map(uuidOf)],
  );
  return `${ids.length} texts, of them:\n${JSON.stringify(rows, undefined, 1)}`;
}
