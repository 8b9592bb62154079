import type { Database } from '../../platform/database/database.ts';
import { isUnsettled, type QueueEntry, type ScheduledText } from '../attempts/queued-text.ts';
import { actionFor, submittedEntry } from '../attempts/result.ts';
import { withMessages } from './claimed-texts.ts';
import { claimArrays, claimEntries, entryFields } from './columns.ts';
import { schedule } from './schedule-store.ts';

export interface ReleaseOptions {
  carrier: string;
  nowMs: number;
  atMostOnce: boolean;
  /** How long a plain text in doubt waits for a receipt. */
  doubtAfterMs?: number | undefined;
  all: boolean;
}

/**
 * Requeues claims of dead workers, which may have sent some of the texts: expired leases, or all claims when the only
 * node starts. A text that the worker would not have sent stays unchanged.
 */
export async function releaseClaims(
  database: Database,
  { carrier, nowMs, atMostOnce, doubtAfterMs = 0, all }: ReleaseOptions,
): Promise<number> {
  // Leases expire by the clock of Postgres, because the clocks of nodes differ.
  const values = [carrier, all ? 'infinity' : null];
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<QueueEntry & { claimedAtMs: number }>(releaseStatement, values);
    const claimedAtMs = new Map(rows.map((row) => [row.messageId, row.claimedAtMs]));
    const texts = await withMessages(tx, rows);
    const released = texts.filter(isUnsettled).map((text): ScheduledText => {
      const claimedMs = claimedAtMs.get(text.entry.messageId) ?? nowMs;
      const inDoubt = actionFor(text, { nowMs: claimedMs, atMostOnce }) === 'submit';
      const entry = inDoubt ? { ...submittedEntry(text.entry), inDoubt } : text.entry;
      const waitMs = inDoubt && text.message.api !== 'verify' ? doubtAfterMs : 0;
      const dueAtMs = Math.max(nowMs, Math.min(claimedMs + waitMs, text.message.expiresAtMs));
      return { entry, carrier, dueAtMs, long: undefined, attempt: undefined };
    });
    await schedule(tx, released);
    return released.length;
  });
}

const isOver = 'carrier = $1 and leased_until <= coalesce($2::timestamptz, clock_timestamp())';
const releaseStatement = `with gone as (
      delete from delivery_claim where ${isOver} returning claimed_at, ${claimArrays})
    select claimed_at as "claimedAtMs", ${entryFields} from gone cross join lateral ${claimEntries}`;
