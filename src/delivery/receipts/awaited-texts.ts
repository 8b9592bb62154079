import { statusCode } from '../../messages/message-row.ts';
import { hourMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { type CarrierRow, carrierAccount, carrierKey } from '../carrier/store.ts';

/** Receipts come within this time. */
const receiptWithinMs = 72 * hourMs;
/** Maximum number of sent texts read; a carrier with more counts as awaiting receipts. */
const mostRead = 10_000;
const mostGenerations = 100;

/**
 * Whether a carrier has texts to send, or awaits receipts. It reads a bounded number of rows, so the answer may be true
 * for a busy carrier that has all its receipts.
 */
export async function hasAwaitedTexts(tx: Tx, carrier: CarrierRow, nowMs: number): Promise<boolean> {
  const { rows } = await tx.query<{ awaited: boolean }>(awaitedStatement, [
    carrierKey(carrier),
    accountsOf(carrier),
    toTimestamp(nowMs - receiptWithinMs),
    mostRead,
  ]);
  return rows[0]?.awaited === true;
}

function accountsOf({ id, generation }: CarrierRow): string[] {
  const first = Math.max(1, generation - mostGenerations + 1);
  return Array.from({ length: generation - first + 1 }, (_, at) => carrierAccount({ id, generation: first + at }));
}

const awaitedStatement = `with sent as materialized (
    select message_id, sent_at from sent_text where account = any($2::text[]) limit $4)
  select exists (select from delivery_queue where carrier = $1)
    or exists (select from delivery_schedule where carrier = $1)
    or exists (select from delivery_claim where carrier = $1)
    or (select count(*) from sent) = $4
    or exists (
      select from sent join message m on m.id = sent.message_id
      where sent.sent_at > $3 and m.status = ${statusCode('sent')}) as awaited`;

/** Texts in a carrier's queue and schedule; counting stops at `most`. */
export async function countWaiting(tx: Tx, carrier: CarrierRow, most: number): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select (select count(*) from (select from delivery_queue where carrier = $1 limit $2) as queued)
       + (select count(*) from (select from delivery_schedule where carrier = $1 limit $2) as later) as count`,
    [carrierKey(carrier), most],
  );
  return Math.min(most, rows[0]?.count ?? 0);
}

/** Receipts that match no text of the carrier. Many of them mean that `message_id` is set wrongly. */
export async function countUnmatched(tx: Tx, carrier: CarrierRow, most: number): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*) as count from (
       select from unmatched_receipt where account = any($1::text[]) limit $2) as unmatched`,
    [accountsOf(carrier), most],
  );
  return rows[0]?.count ?? 0;
}

/** Receipts of each account that came between two times and match no text; counting stops at `most`. */
export async function countUnmatchedBetween(
  tx: Tx,
  fromMs: number,
  toMs: number,
  most: number,
): Promise<{ carrier: string; count: number }[]> {
  const { rows } = await tx.query<{ carrier: string; count: number }>(
    `select carrier, count(*) as count from (
       select carrier from unmatched_receipt where received_at >= $1 and received_at < $2 limit $3) as unmatched
     group by carrier`,
    [toTimestamp(fromMs), toTimestamp(toMs), most],
  );
  return rows;
}
