import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { uuidOf } from '../platform/ids.ts';

export interface Listener {
  /** Every change after this position has its event. */
  since: number;
  /** False while a statement runs that began before the row was written. */
  begun: boolean;
  feedReadAtMs: number | null;
}

interface ListenerRow {
  since: string;
  begun: boolean;
  feedReadAtMs: number | null;
}

const columns = 'since::text, begun, feed_read_at as "feedReadAtMs"';

export async function findListener(tx: Tx, applicationId: string): Promise<Listener | undefined> {
  const { rows } = await tx.query<ListenerRow>(findStatement, [uuidOf(applicationId)]);
  return rows.map(toListener)[0];
}

const findStatement = {
  name: 'find-event-listener',
  text: `select ${columns} from event_listener where application_id = $1`,
};

/** Makes an application listen, or returns its listener. */
export async function addListener(tx: Tx, applicationId: string): Promise<Listener> {
  const { rows } = await tx.query<ListenerRow>(addStatement, [uuidOf(applicationId)]);
  const [listener] = rows.map(toListener);
  if (listener === undefined) throw new Error('a listener was not written');
  return listener;
}

/**
 * The update changes nothing, but returns an existing row and waits for one that is being deleted. A new listener
 * starts after every cursor of earlier ones, because a gap in listening has no events.
 */
const addStatement = `insert into event_listener as l (application_id, since) values ($1, nextval('event_position'))
    on conflict (application_id) do update set since = l.since returning ${columns}`;

/** Notes that from now on every change of the application has its event. */
export async function noteBegun(tx: Tx, applicationId: string): Promise<void> {
  await tx.query('update event_listener set begun = true where application_id = $1 and not begun', [
    uuidOf(applicationId),
  ]);
}

/** Returns false if the application has stopped listening meanwhile. */
export async function noteFeedRead(tx: Tx, applicationId: string, nowMs: number): Promise<boolean> {
  const { count } = await tx.query('update event_listener set feed_read_at = $2 where application_id = $1', [
    uuidOf(applicationId),
    toTimestamp(nowMs),
  ]);
  return count > 0;
}

/**
 * Ends listening where no webhook needs it and the feed was not read since then. In a transaction: the lock waits for a
 * webhook that is being created, and the second statement sees it. Returns the number of applications.
 */
export async function stopListening(tx: Tx, feedReadBeforeMs: number, applicationId?: string): Promise<number> {
  const before = toTimestamp(feedReadBeforeMs);
  const only = applicationId === undefined ? null : uuidOf(applicationId);
  const { rows } = await tx.query<{ id: string }>(
    `select application_id as id from event_listener l
     where ${isUnneeded} and ($2::uuid is null or application_id = $2) limit 100 for update`,
    [before, only],
  );
  if (rows.length === 0) return 0;
  const { count } = await tx.query(
    `delete from event_listener l where application_id = any($2::uuid[]) and ${isUnneeded}`,
    [before, rows.map(({ id }) => id)],
  );
  return count;
}

const isUnneeded = `(l.feed_read_at is null or l.feed_read_at < $1)
       and not exists (select from webhook w where w.listener_id = l.application_id and w.status in ('active', 'paused'))`;

function toListener({ since, ...row }: ListenerRow): Listener {
  return { ...row, since: Number(since) };
}
