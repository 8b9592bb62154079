import { toTimestamp } from '../../platform/clock.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type NoteEnds, unsentEnds } from '../attempts/answered-text.ts';
import { isUnsettled, type QueueEntry } from '../attempts/queued-text.ts';
import { actionFor } from '../attempts/result.ts';
import { endWithoutSubmit } from '../attempts/selection.ts';
import { withMessages } from './claimed-texts.ts';
import { entryColumns, entryFields } from './columns.ts';
import { recordParts } from './result-statement.ts';

export interface ExpiryOptions {
  nowMs: number;
  /** Maximum number of texts, each from the queue and from the schedule. */
  limit: number;
  onEnded?: ((status: 'expired' | 'unknown', by: number) => void) | undefined;
  /** Counts the expired texts of each carrier. */
  noteEnds?: NoteEnds | undefined;
}

/**
 * Ends expired texts in the queue and in the schedule, whatever the state of their carriers. One that may have been
 * sent is `unknown`. Returns how many entries it took.
 */
export async function expireWaiting(database: Database, options: ExpiryOptions): Promise<number> {
  const { nowMs, limit, onEnded } = options;
  const now = toTimestamp(nowMs);
  // Most polls find nothing, and need no transaction.
  const { rows: found } = await database.query<{ any: boolean }>(isAnyExpired, [now]);
  if (found[0]?.any !== true) return 0;
  const { taken, texts, ended } = await database.transaction(async (tx) => {
    const { rows } = await tx.query<QueueEntry & { carrier: string }>(takeStatement, [now, limit]);
    const texts = (await withMessages(tx, rows)).filter(isUnsettled);
    const ended = texts.flatMap((text) => {
      const action = actionFor(text, { nowMs, atMostOnce: false });
      return action === 'submit' ? [] : [endWithoutSubmit(text, action)];
    });
    const values: unknown[] = [];
    const parts = recordParts({ carrier: '', account: undefined, ended, again: [], nowMs }, values, 'true');
    if (parts.length > 0) await tx.query(`with ${parts.join(',\n')} select`, values);
    return { taken: rows, texts, ended };
  });
  for (const carrier of new Set(taken.map((entry) => entry.carrier))) {
    const ids = new Set(taken.filter((entry) => entry.carrier === carrier).map(({ messageId }) => messageId));
    const ends = unsentEnds(
      texts,
      ended.filter(({ entry }) => ids.has(entry.messageId)),
    );
    if (ends.length > 0) options.noteEnds?.(carrier, ends);
  }
  for (const status of ['expired', 'unknown'] as const) {
    const count = ended.filter((each) => each.status === status).length;
    if (count > 0) onEnded?.(status, count);
  }
  return taken.length;
}

const isAnyExpired = {
  name: 'is-any-text-expired',
  text: `select exists (select from delivery_queue where expires_at <= $1)
      or exists (select from delivery_schedule where expires_at <= $1) as any`,
};

/** Skips texts that a worker claims or moves at this moment. */
const expired = (table: string) => `select ctid as place from ${table} where expires_at <= $1
      order by expires_at limit $2 for update skip locked`;
const takeStatement = `with queued as (${expired('delivery_queue')}),
    scheduled as (${expired('delivery_schedule')}),
    unqueued as (
      delete from delivery_queue where ctid = any(array(select place from queued)) returning carrier, ${entryColumns}),
    unscheduled as (
      delete from delivery_schedule where ctid = any(array(select place from scheduled)) returning carrier, ${entryColumns})
    select carrier, ${entryFields} from (select * from unqueued union all select * from unscheduled) e`;

/** Fills in the expiry of entries that an earlier version has written. Returns how many there were. */
export async function fillInExpiry(tx: Tx, limit: number): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(fillStatement, [limit]);
  return rows[0]?.count ?? 0;
}

/** An entry without a message can never be sent. */
const fill = (table: string, name: string) => `${name}_open as (
      select ctid as place, message_id from ${table} where expires_at is null limit $1 for update skip locked),
    ${name}_filled as (
      update ${table} w set expires_at = coalesce(m.expires_at, '-infinity')
      from ${name}_open o left join message m on m.id = o.message_id where w.ctid = o.place returning 1)`;
const fillStatement = `with ${fill('delivery_queue', 'queue')}, ${fill('delivery_schedule', 'schedule')}
    select ((select count(*) from queue_filled) + (select count(*) from schedule_filled))::integer as count`;
