import type { ReceiptOutcome } from '../../messages/message.ts';
import { errorCodeOf, errorOf, statusCode, statusOf } from '../../messages/message-row.ts';
import type { Tx } from '../../platform/database/database.ts';
import { uuidFloor } from '../../platform/ids.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';
import type { QueueEntry } from '../attempts/queued-text.ts';
import type { LongText, PartState, Receipt } from '../carrier/carrier.ts';
import type { CarrierId } from '../carrier/id.ts';

/** The recorded parts of long texts, by message (uuids). */
export async function findParts(tx: Tx, entries: QueueEntry[]): Promise<Map<string, KnownParts>> {
  const found = new Map<string, KnownParts>();
  if (entries.length === 0) return found;
  const { rows } = await tx.query<PartRow>(
    `select message_id as id, part, form, in_doubt as "inDoubt", carrier_message_id as "carrierMessageId"
     from text_part where message_id = any($1::uuid[]) order by message_id, part`,
    [entries.map(({ messageId }) => messageId)],
  );
  for (const { id, part, form, inDoubt, carrierMessageId } of rows) {
    const state: PartState = { part, state: inDoubt ? 'in_doubt' : 'accepted', carrierMessageId, receiptKey: null };
    found.set(id, { form, parts: [...(found.get(id)?.parts ?? []), state] });
  }
  return found;
}

export type KnownParts = Pick<LongText, 'form' | 'parts'>;

interface PartRow {
  id: string;
  part: number;
  form: string;
  inDoubt: boolean;
  carrierMessageId: string | null;
}

/** The CTEs that record which parts of long texts the carrier has; adds their parameters to `values`. */
export function partInserts(
  texts: { entry: QueueEntry; long: LongText<CarrierId> | undefined }[],
  { account, nowParameter, condition }: { account: string | undefined; nowParameter: () => string; condition: string },
  values: unknown[],
): string[] {
  const rows = texts.flatMap(({ entry, long }) =>
    (long?.parts ?? []).map(({ part, state, carrierMessageId, receiptKey }) => ({
      message_id: entry.messageId,
      part,
      total: long?.total,
      needed: long?.needed,
      form: long?.form,
      in_doubt: state === 'in_doubt',
      carrier_message_id: carrierMessageId,
      receipt_key: receiptKey,
    })),
  );
  if (rows.length === 0) return [];
  const data = `$${values.push(JSON.stringify(rows))}`;
  const parts = [
    `part as (
      select * from jsonb_to_recordset(${data}::jsonb) as p(message_id uuid, part smallint, total smallint, needed smallint,
        form text, in_doubt boolean, carrier_message_id text, receipt_key text) where ${condition})`,
    `noted_part as (
      insert into text_part (message_id, part, total, needed, form, in_doubt, carrier_message_id)
      select message_id, part, total, needed, form, in_doubt, carrier_message_id from part
      on conflict (message_id, part) do update set in_doubt = text_part.in_doubt and excluded.in_doubt,
        carrier_message_id = coalesce(excluded.carrier_message_id, text_part.carrier_message_id))`,
  ];
  if (account !== undefined)
    parts.push(`known_part as (
      insert into sent_text (account, receipt_key, message_id, part, sent_at)
      select $${values.push(account)}, receipt_key, message_id, part, ${nowParameter()} from part where receipt_key is not null
      on conflict do nothing)`);
  return parts;
}

/** A receipt for one part of a long text. */
export interface PartReceipt {
  /** The message's uuid. */
  id: string;
  part: number;
  receipt: Receipt;
}

/** The status of a text by the receipts of its parts; undefined while more receipts are needed. */
export interface WholeOutcome {
  outcome: ReceiptOutcome;
  error: Receipt['error'];
}

/**
 * Records receipts for parts, and returns the resulting status of each message. The lock makes nodes that have receipts
 * for different parts of one message take turns, so that the last of them sees all.
 */
export async function notePartReceipts(
  tx: Tx,
  receipts: PartReceipt[],
): Promise<Map<string, WholeOutcome | undefined>> {
  const ids = [...new Set(receipts.map(({ id }) => id))].sort();
  await tx.query('select from text_part where message_id = any($1::uuid[]) order by message_id, part for update', [
    ids,
  ]);
  await tx.query(noteStatement, [
    receipts.map(({ id }) => id),
    receipts.map(({ part }) => part),
    receipts.map(({ receipt }) => statusCode(receipt.outcome)),
    receipts.map(({ receipt }) => errorCodeOf(receipt.error)),
  ]);
  const { rows } = await tx.query<{ id: string; needed: number; outcome: number | null; error: number | null }>(
    `select message_id as id, needed, outcome, error_code as error from text_part where message_id = any($1::uuid[])
     order by message_id, part`,
    [ids],
  );
  return new Map(
    ids.map((id) => [
      id,
      wholeOutcomeOf(
        rows
          .filter((row) => row.id === id)
          .map(({ needed, outcome, error }) => ({
            needed,
            outcome: outcome === null ? null : (statusOf(outcome) as ReceiptOutcome),
            error: errorOf(error),
          })),
      ),
    ]),
  );
}

/** A text is delivered when all its reported parts are; one undelivered part makes the text undelivered. */
export function wholeOutcomeOf(
  parts: { needed: number; outcome: ReceiptOutcome | null; error: Receipt['error'] }[],
): WholeOutcome | undefined {
  const delivered = parts.filter(({ outcome }) => outcome === 'delivered').length;
  if (delivered > 0 && delivered >= Math.max(...parts.map(({ needed }) => needed)))
    return { outcome: 'delivered', error: null };
  const bad = parts.find(({ outcome }) => outcome !== null && outcome !== 'delivered');
  return bad === undefined || bad.outcome === null ? undefined : { outcome: bad.outcome, error: bad.error };
}

/** A delivered part stays delivered; other reports replace `unknown` only. The first of several receipts counts. */
const noteStatement = `update text_part p set outcome = r.outcome, error_code = r.error
    from (select distinct on (id, part) * from unnest($1::uuid[], $2::smallint[], $3::smallint[], $4::smallint[])
      with ordinality as r(id, part, outcome, error, place)
      order by id, part, outcome <> ${statusCode('delivered')}, place) r
    where p.message_id = r.id and p.part = r.part and p.message_id = any($1::uuid[])
      and (p.outcome is null or p.outcome = ${statusCode('unknown')} or r.outcome = ${statusCode('delivered')})`;

/** Deletes parts of messages that are too old for any receipt. Ids are in the order of time. */
export async function deleteOldParts(tx: Tx, beforeMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from text_part where ctid = any(array(
       select ctid from text_part where message_id < $1 order by message_id limit $2))`,
    [uuidFloor(beforeMs), pieceRows],
  );
  return count;
}
