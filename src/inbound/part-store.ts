import type { InboundPart } from '../delivery/carrier/carrier.ts';
import { toTimestamp } from '../platform/clock.ts';
import { lockSeeds } from '../platform/database/advisory-locks.ts';
import type { Tx } from '../platform/database/database.ts';

/** What identifies one long text. Two phones may use the same reference, and one phone may use references of both widths. */
export interface LongText {
  carrier: string;
  from: string;
  to: string;
  width: InboundPart['width'];
  reference: number;
  total: number;
}

export interface StoredPart {
  part: number;
  text: string;
  receivedAtMs: number;
}

const isOf = 'carrier = $1 and sender = $2 and recipient = $3 and width = $4 and reference = $5 and total = $6';

function keyOf({ carrier, from, to, width, reference, total }: LongText): unknown[] {
  return [carrier, from, to, width, reference, total];
}

/** Locks the parts of these texts until the transaction ends: the last part must see all others. */
export async function lockLongTexts(tx: Tx, texts: LongText[]): Promise<void> {
  const names = texts.map((text) => JSON.stringify(keyOf(text)));
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended(name, ${lockSeeds.longTexts}))
     from (select unnest($1::text[]) as name order by 1) n`,
    [names],
  );
}

export async function readParts(tx: Tx, text: LongText): Promise<StoredPart[]> {
  const { rows } = await tx.query<{ part: number; body: Buffer; receivedAtMs: number }>(
    `select part, body, received_at as "receivedAtMs" from inbound_part where ${isOf} order by part`,
    keyOf(text),
  );
  return rows.map(({ part, body, receivedAtMs }) => ({ part, text: body.toString('utf16le'), receivedAtMs }));
}

export async function insertPart(
  tx: Tx,
  text: LongText,
  { part, text: body, receivedAtMs }: StoredPart,
): Promise<void> {
  await tx.query(
    `insert into inbound_part (carrier, sender, recipient, width, reference, total, part, body, received_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [...keyOf(text), part, Buffer.from(body, 'utf16le'), toTimestamp(receivedAtMs)],
  );
}

export async function deleteParts(tx: Tx, text: LongText): Promise<void> {
  await tx.query(`delete from inbound_part where ${isOf}`, keyOf(text));
}

/** Long texts whose first part came before this time. */
export async function findOldLongTexts(tx: Tx, beforeMs: number, limit: number): Promise<LongText[]> {
  const { rows } = await tx.query<LongText>(
    `select carrier, sender as "from", recipient as "to", width, reference, total from inbound_part
     where received_at < $1 order by received_at limit $2`,
    [toTimestamp(beforeMs), limit],
  );
  const seen = new Map(rows.map((text) => [JSON.stringify(keyOf(text)), text]));
  return [...seen.values()];
}

export async function deletePartsFrom(tx: Tx, number: string): Promise<number> {
  const { count } = await tx.query('delete from inbound_part where sender = $1', [number]);
  return count;
}
