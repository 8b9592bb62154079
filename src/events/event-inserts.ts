// Tests: test/races/events.test.ts
/**
 * SQL that writes the events of changes, for the statement that makes the changes: both commit or neither. The position
 * is taken after the change has locked its record, so a record's events are in the order of its changes.
 */
export function insertEvents(changes: string, holds: 'error_code' | 'data' = 'error_code'): string {
  return `insert into event (application_id, subject, time, sequence, type, api, ${holds})
    select e.application_id, e.subject, e.time, e.sequence, e.type, e.api, e.${holds} from ${changes} e
    where ${anyListens} and e.type is not null
      and (select true from event_listener l where l.application_id = e.application_id) and ${hasTransactionId}`;
}

/** Evaluated once per statement: without any listener no row is examined. */
const anyListens = '(select exists (select from event_listener))';

/** The horizon knows writers by their transaction ids, so a transaction gets its id before it takes a position. */
const hasTransactionId = '(select pg_current_xact_id()) is not null';
