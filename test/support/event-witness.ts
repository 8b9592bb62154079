import assert from 'node:assert/strict';
import { eventTypes } from '../../src/events/event.ts';
import { addListener, noteFeedRead } from '../../src/events/listener-store.ts';
import { apiNames } from '../../src/http/route.ts';
import { statusOf } from '../../src/messages/message-row.ts';
import { dayMs } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { verificationStatuses } from '../../src/verify/verification.ts';

/**
 * An independent witness of changes: triggers of the test's own note every state that a record enters, in the order of its
 * changes. What is noted commits with the change, as an event has to.
 */
export async function watchStates(database: Database): Promise<void> {
  await database.query(`create table witness (
      place bigserial primary key, kind text not null, subject uuid not null, application_id uuid, api smallint,
      state smallint, at timestamptz not null default clock_timestamp());
    create function note_message() returns trigger language plpgsql as $$ begin
      if tg_op = 'INSERT' or old.status <> new.status then
        insert into witness (kind, subject, application_id, api, state)
        values ('message', new.id, new.application_id, new.api, new.status);
      end if;
      return null; end $$;
    create function note_verification() returns trigger language plpgsql as $$ begin
      if tg_op = 'INSERT' or old.status <> new.status then
        insert into witness (kind, subject, application_id, api, state)
        values ('verification', new.id, new.application_id, ${apiNames.indexOf('verify')}, new.status);
      end if;
      return null; end $$;
    create function note_inbound() returns trigger language plpgsql as $$ begin
      insert into witness (kind, subject, application_id, api) values ('inbound', new.id, new.application_id, new.api);
      return null; end $$;
    create function note_opt_out() returns trigger language plpgsql as $$ begin
      if tg_op = 'INSERT' then
        insert into witness (kind, subject, application_id) values ('opted_out', new.id, new.application_id);
      else
        insert into witness (kind, subject, application_id) values ('opted_in', old.id, old.application_id);
      end if;
      return null; end $$;
    create trigger noted after insert or update on message for each row execute function note_message();
    create trigger noted after insert or update on verification for each row execute function note_verification();
    create trigger noted after insert on inbound_text for each row execute function note_inbound();
    create trigger noted after insert or delete on opt_out for each row execute function note_opt_out();`);
}

/** Makes applications listen: these, or all that are there. */
export async function listen(database: Database, applicationIds?: string[]): Promise<void> {
  const { rows } = await database.query<{ id: string }>('select id from application');
  for (const id of applicationIds ?? rows.map((row) => row.id)) {
    await addListener(database, id);
    // However far a test turns its clock, it goes on listening.
    await noteFeedRead(database, id, Date.now() + 1000 * dayMs);
  }
}

interface Noted {
  index: number;
  kind: string;
  subject: string;
  applicationId: string | null;
  api: number | null;
  state: number | null;
}

/** The type of event that a noted change must have; undefined if it has none. */
function typeOf({ kind, api, state }: Noted): string | undefined {
  if (kind === 'inbound') return 'message.received';
  if (kind === 'opted_out' || kind === 'opted_in') return `recipient.${kind}`;
  if (kind === 'verification') {
    const status = verificationStatuses[state ?? -1];
    return status === 'pending' ? undefined : `verification.${status}`;
  }
  const status = statusOf(state ?? -1);
  const isTold = api !== apiNames.indexOf('verify') && status !== 'queued' && status !== 'scheduled';
  return isTold ? `message.${status}` : undefined;
}

export interface ToldCheck {
  /** Noted changes before this one may have no event, and their subjects may begin later than 1. */
  after?: number;
}

/** Every change of an application that listens has exactly one event, in order, and there is no other. Returns how many. */
export async function checkEvents(database: Database, { after = 0 }: ToldCheck = {}): Promise<number> {
  const { rows: noted } = await database.query<Noted>(
    `select place as index, kind, subject, w.application_id as "applicationId", api, state
     from witness w join event_listener l on l.application_id = w.application_id order by place`,
  );
  const { rows: events } = await database.query<{
    subject: string;
    applicationId: string;
    type: number;
    api: number;
    sequence: number;
  }>('select subject, application_id as "applicationId", type, api, sequence from event order by position');
  const reported = new Map<string, string[]>();
  for (const { subject, applicationId, type, api, sequence } of events) {
    const name = eventTypes[type] ?? 'unknown';
    const apiName = name.startsWith('recipient.') ? '' : apiNames[api];
    add(reported, subject, `${sequence} ${name} ${apiName} ${applicationId}`);
  }
  const expected = new Map<string, string[]>();
  const early = new Set<string>();
  const counts = new Map<string, number>();
  for (const each of noted) {
    const type = typeOf(each);
    if (type === undefined) continue;
    const sequence = type === 'recipient.opted_in' ? 2 : (counts.get(each.subject) ?? 0) + 1;
    counts.set(each.subject, sequence);
    const line = `${sequence} ${type} ${each.api === null ? '' : apiNames[each.api]} ${each.applicationId}`;
    if (each.index > after) add(expected, each.subject, line);
    else early.add(line + each.subject);
  }
  // What was changed before may have its event or not.
  const must = new Map(
    [...reported].map(([subject, lines]) => [subject, lines.filter((line) => !early.has(line + subject))]),
  );
  for (const [subject, lines] of expected) assert.deepEqual(must.get(subject) ?? [], lines, `the events of ${subject}`);
  for (const [subject, lines] of must) assert.deepEqual(lines, expected.get(subject) ?? [], `the events of ${subject}`);
  return events.length;
}

function add(lists: Map<string, string[]>, key: string, line: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [line]);
  else list.push(line);
}

/** The events of one record, oldest first, as `1 message.sent`. */
export async function eventsOf(database: Database, id: string): Promise<string[]> {
  const { rows } = await database.query<{ sequence: number; type: number }>(
    'select sequence, type from event where subject = $1 order by position',
    [uuidOf(id)],
  );
  return rows.map(({ sequence, type }) => `${sequence} ${eventTypes[type]}`);
}
