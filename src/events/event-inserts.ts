/**
 * SQL that writes the events of changes, for the statement that makes the changes: so an event commits with its change or
 * not at all. `changes` is a part of a `with`, or a query in brackets, with the columns application_id, subject, time,
 * sequence, type, api and error_code.
 *
 * The position is taken here, after the change has locked its record: so a record's events are in the order of its changes.
 * One lookup for each row: it is as fast with many listeners as with none.
 */
export function insertEvents(changes: string): string {
  return `insert into event (application_id, subject, time, sequence, type, api, error_code)
    select e.application_id, e.subject, e.time, e.sequence, e.type, e.api, e.error_code from ${changes} e
    where e.type is not null and (select true from event_listener l where l.application_id = e.application_id)`;
}
