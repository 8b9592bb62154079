import { statusCode } from '../../messages/message-row.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { QueueEntry, ScheduledText } from '../attempts/queued-text.ts';
import { entryColumns, entryColumnsOf, queueColumns } from './columns.ts';

/** Moves due texts from the schedule to the queue. Returns how many there were, at most `limit`. */
export function queueDue(
  database: Database,
  { carrier, nowMs, limit }: { carrier: string; nowMs: number; limit: number },
): Promise<number> {
  return database.transaction(async (tx) => {
    const now = toTimestamp(nowMs);
    const { rows } = await tx.query<{ id: string }>(queueDueStatement, [carrier, now, limit]);
    const ids = rows.map(({ id }) => id).sort((a, b) => (a < b ? -1 : 1));
    if (ids.length > 0) {
      await tx.query(
        `update message set status = ${statusCode('queued')}, updated_at = $4
         where id = any($1::uuid[]) and id >= $2 and id <= $3 and status = ${statusCode('scheduled')}`,
        [ids, ids[0], ids.at(-1), now],
      );
    }
    return ids.length;
  });
}

const queueDueStatement = `with due as (
      select ctid as place from delivery_schedule where carrier = $1 and due_at <= $2
      order by due_at limit $3 for update skip locked),
    gone as (delete from delivery_schedule where ctid = any(array(select place from due)) returning *),
    queued as (insert into delivery_queue (${queueColumns}) select ${queueColumns} from gone)
    select message_id as id from gone`;

/** Adds texts to the schedule, in the caller's transaction. */
export async function schedule(tx: Tx, entries: ScheduledText[]): Promise<void> {
  if (entries.length > 0) await tx.query(scheduleStatement, entryParameters(entries));
}

/** The parameters of a statement that schedules texts, in the order of `entryTypes`. */
export function entryParameters(entries: ScheduledText[]): unknown[] {
  const column = <Value>(read: (entry: QueueEntry) => Value) => entries.map(({ entry }) => read(entry));
  return [
    entries.map(({ carrier }) => carrier),
    column(({ lane }) => lane),
    column(({ applicationId }) => applicationId),
    column(({ messageId }) => messageId),
    column(({ attempt }) => attempt),
    column(({ unanswered }) => unanswered),
    column(({ possibleDuplicates }) => possibleDuplicates),
    column(({ inDoubt }) => inDoubt),
    column(({ moves }) => moves),
    entries.map(({ dueAtMs }) => toTimestamp(dueAtMs)),
  ];
}

const entryTypes = 'text smallint uuid uuid integer smallint smallint boolean smallint timestamptz'.split(' ');

/** The rows of `entryParameters`, given as parameters from `first`. */
export const entryRows = (first: number) =>
  `unnest(${entryTypes.map((type, index) => `$${first + index}::${type}[]`).join(', ')}) as a(carrier, ${entryColumns}, due_at)`;

const scheduleStatement = `insert into delivery_schedule (${queueColumns}, due_at)
    select a.carrier, ${entryColumnsOf('a')}, m.expires_at, a.due_at
    from ${entryRows(1)} join message m on m.id = a.message_id and m.id = any($4::uuid[]) on conflict do nothing`;
