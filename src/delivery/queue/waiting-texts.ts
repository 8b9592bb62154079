import { minuteMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid, uuidFloor, uuidOf } from '../../platform/ids.ts';
import { toWaiting, type WaitingEntry, type WaitingRow, waitColumns } from './waits.ts';

/** A text that is overdue, or that may have left already. */
export interface WaitingText extends WaitingEntry {
  /** When it was first due. */
  sinceMs: number;
  /** When it is retried; null for at once. */
  dueAtMs: number | null;
  expiresAtMs: number;
}

export type WaitingState = 'stuck' | 'in_doubt';

export interface WaitingQuery {
  state: WaitingState;
  /** A carrier's name. */
  carrier: string | undefined;
  /** The last id that was read. */
  after: string | undefined;
  limit: number;
  nowMs: number;
}

/** A text that waits longer is stuck. */
export const stuckAfterMs = minuteMs;
/** Maximum number of entries read for one page. */
export const mostRead = 2000;

interface Row extends WaitingRow, Pick<WaitingText, 'sinceMs' | 'dueAtMs' | 'expiresAtMs'> {
  isStuck: boolean;
}

/**
 * Finds texts that wait for over a minute, or that may have been sent, oldest first. `searchedTo` is set if it stopped
 * before the page was full: entries are checked one by one.
 */
export async function findWaiting(
  tx: Tx,
  { state, carrier, after, limit, nowMs }: WaitingQuery,
): Promise<{ texts: WaitingText[]; searchedTo: string | undefined }> {
  const { rows } = await tx.query<Row>(statements[state], [
    after === undefined ? uuidFloor(0) : uuidOf(after),
    // A text that was accepted a moment ago is not stuck.
    uuidFloor(nowMs - stuckAfterMs),
    carrier ?? null,
    toTimestamp(nowMs - stuckAfterMs),
    mostRead,
  ]);
  const fitting = rows
    .filter(({ isStuck }) => state === 'in_doubt' || isStuck)
    .map(({ isStuck: _, ...row }): WaitingText => toWaiting(row));
  const last = rows.at(-1);
  const stopped = fitting.length <= limit && rows.length === mostRead && last !== undefined;
  return { texts: fitting.slice(0, limit), searchedTo: stopped ? fromUuid('msg', last.id) : undefined };
}

/** A text is due once it is accepted, its send time has come, and the hours of its route have begun. */
const sinceWhen = 'greatest(m.created_at, m.send_at, m.deferred_until)';
const entry = 'carrier, message_id, attempt, in_doubt';
const filters = `message_id > $1 and message_id < $2 and ($3::text is null or split_part(carrier, '#', 1) = $3)`;
const claimed = `select carrier, c.message_id, c.attempt + 1 as attempt, true as in_doubt, 'wire' as place,
      null::timestamptz as due_at
    from delivery_claim d cross join lateral unnest(d.message_ids, d.attempts) as c(message_id, attempt)
    where claimed_at < $4 and ${filters}`;

function statementFor(queued: string, scheduled: string): string {
  return `with waiting as materialized (
      select * from (
        select ${entry}, 'queue' as place, null::timestamptz as due_at from delivery_queue where ${filters} ${queued}
        union all
        select ${entry}, 'schedule', due_at from delivery_schedule where ${filters} ${scheduled}
        union all
        ${claimed}) w
      order by message_id limit $5)
    select ${waitColumns}, ${sinceWhen} as "sinceMs", w.due_at as "dueAtMs",
      m.expires_at as "expiresAtMs", ${sinceWhen} < $4 as "isStuck"
    from waiting w join message m on m.id = w.message_id order by m.id`;
}

const statements: Record<WaitingState, string> = {
  // A scheduled text that was never tried waits for its time.
  stuck: statementFor('', 'and (attempt > 0 or due_at < $4)'),
  in_doubt: statementFor('and in_doubt', 'and in_doubt'),
};
