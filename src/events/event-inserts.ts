/**
 * SQL that writes the events of changes, for the statement that makes the changes: so an event commits with its change or
 * not at all. `changes` is a part of a `with`, or a query in brackets, with the columns application_id, subject, time,
 * sequence, type, api, and what the event itself holds: the error, or the whole record if that may be gone later.
 *
 * The position is taken here, after the change has locked its record: so a record's events are in the order of its changes.
 * One lookup for each row: it is as fast with many listeners as with a few.
 */
export function insertEvents(changes: string, holds: 'error_code' | 'data' = 'error_code'): string {
  return `insert into event (application_id, subject, time, sequence, type, api, ${holds})
    select e.application_id, e.subject, e.time, e.sequence, e.type, e.api, e.${holds} from ${changes} e
    where ${anyListens} and e.type is not null
      and (select true from event_listener l where l.application_id = e.application_id) and ${hasTransactionId}`;
}

/** Asked once for each statement: where no application listens, no row is looked at. */
const anyListens = '(select exists (select from event_listener))';

/** The horizon knows writers by the ids of their transactions, so a transaction has its id before it takes a position. */
const hasTransactionId = '(select pg_current_xact_id()) is not null';
