import type { ReceiptOutcome } from '../../messages/message.ts';
import { errorCodeOf, errorOf, statusCode, statusOf } from '../../messages/message-row.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid, toUuid } from '../../platform/ids.ts';
import type { Carrier, ReadReceipt } from '../carrier/carrier.ts';
import { readCarrierId } from '../carrier/id.ts';
import type { FoundReceipt } from '../carrier/test-text.ts';

/** A receipt that waits for its message. */
export interface UnmatchedReceipt extends ReadReceipt {
  rowId: number;
  carrier: string;
  account: string;
  receivedAtMs: number;
}

/** Maximum number of receipts retried in one transaction. */
const mostTried = 500;

export async function insertUnmatched(
  tx: Tx,
  { key, account }: Pick<Carrier, 'key' | 'account'>,
  receipts: ReadReceipt[],
  nowMs: number,
): Promise<void> {
  const sorted = receipts.toSorted((a, b) => (a.carrierMessageId < b.carrierMessageId ? -1 : 1));
  await tx.query(insertStatement, [
    key,
    sorted.map(({ carrierMessageId }) => carrierMessageId),
    sorted.map(({ messageId }) => (messageId === null ? null : (toUuid('msg', messageId) ?? null))),
    sorted.map(({ outcome }) => statusCode(outcome)),
    sorted.map(({ error }) => errorCodeOf(error)),
    toTimestamp(nowMs),
    account,
    // Arrays of arrays must be rectangles in Postgres.
    sorted.map(({ keys }) => JSON.stringify(keys)),
    sorted.map(({ numbers }) => JSON.stringify(numbers)),
    sorted.map(({ reported }) => reported ?? null),
  ]);
}

const insertStatement = `insert into unmatched_receipt (carrier, account, carrier_message_id, keys, numbers, message_id,
      outcome, error_code, received_at, retry_at, reported)
    select $1, $7, carrier_message_id, array(select jsonb_array_elements_text(keys::jsonb)),
      array(select jsonb_array_elements_text(numbers::jsonb)), message_id, outcome, error_code, $6, $6, reported
    from unnest($2::text[], $3::uuid[], $4::smallint[], $5::smallint[], $8::text[], $9::text[], $10::text[])
      as u(carrier_message_id, message_id, outcome, error_code, keys, numbers, reported)
    on conflict do nothing`;

export async function isAnyDue(tx: Tx, nowMs: number): Promise<boolean> {
  const { rows } = await tx.query<{ due: boolean }>(anyDueStatement, [toTimestamp(nowMs)]);
  return rows[0]?.due === true;
}

const anyDueStatement = {
  name: 'is-any-receipt-due',
  text: 'select exists (select from unmatched_receipt where retry_at <= $1) as due',
};

/** Locks receipts that are due for a retry, oldest first. */
export async function lockDue(tx: Tx, nowMs: number): Promise<UnmatchedReceipt[]> {
  const { rows } = await tx.query<
    Omit<UnmatchedReceipt, 'messageId' | 'outcome' | 'error'> & {
      messageId: string | null;
      outcome: number;
      error: number | null;
    }
  >(lockStatement, [toTimestamp(nowMs), mostTried]);
  return rows
    .map((row) => ({
      ...row,
      messageId: row.messageId === null ? null : fromUuid('msg', row.messageId),
      outcome: statusOf(row.outcome) as ReceiptOutcome,
      error: errorOf(row.error),
    }))
    .sort((a, b) => a.rowId - b.rowId);
}

const lockStatement = `select id as "rowId", carrier, account, carrier_message_id as "carrierMessageId", keys,
      numbers, message_id as "messageId", outcome, error_code as error, received_at as "receivedAtMs", reported
    from unmatched_receipt where retry_at <= $1 order by retry_at limit $2 for update skip locked`;

/** The pauses grow with the age of the receipt. */
export async function postpone(tx: Tx, receipts: UnmatchedReceipt[], nowMs: number): Promise<void> {
  if (receipts.length === 0) return;
  await tx.query(
    `update unmatched_receipt
     set retry_at = $2::timestamptz + greatest(interval '1 second', $2::timestamptz - received_at) where id = any($1)`,
    [receipts.map(({ rowId }) => rowId), toTimestamp(nowMs)],
  );
}

export async function deleteUnmatched(tx: Tx, receipts: UnmatchedReceipt[]): Promise<void> {
  if (receipts.length === 0) return;
  await tx.query('delete from unmatched_receipt where id = any($1)', [receipts.map(({ rowId }) => rowId)]);
}

/** Deletes the oldest receipts of an account that has more than `most`. Returns how many went. */
export async function deleteBeyond(tx: Tx, account: string, most: number): Promise<number> {
  // Skips receipts that a worker retries at this moment.
  const { count } = await tx.query(
    `delete from unmatched_receipt where id in (
       select id from unmatched_receipt where account = $1
         and id <= (select id from unmatched_receipt where account = $1 order by id desc offset $2 limit 1)
       for update skip locked)`,
    [account, most],
  );
  return count;
}

/** Takes the receipt of an operator's test: it is for no message, so it waits here. */
export async function takeUnmatched(
  tx: Tx,
  account: string,
  carrierMessageId: string,
): Promise<FoundReceipt | undefined> {
  const { rows } = await tx.query<{ outcome: number; reported: string | null }>(
    'delete from unmatched_receipt where account = $1 and carrier_message_id = $2 returning outcome, reported',
    [account, readCarrierId(carrierMessageId)],
  );
  const [first] = rows;
  return first === undefined ? undefined : { ...first, outcome: statusOf(first.outcome) as ReceiptOutcome };
}
