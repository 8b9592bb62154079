import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { uuidFloor, uuidOf } from '../platform/ids.ts';
import { pieceRows } from '../platform/work/maintenance.ts';

/** Whether a phone got a confirmation from this number since then. */
export async function wasConfirmed(
  tx: Tx,
  { hashes, sender, sinceMs }: { hashes: Buffer[]; sender: string; sinceMs: number },
): Promise<boolean> {
  const { count } = await tx.query(
    `select from automatic_reply
     where number_hash = any($1::bytea[]) and sender = $2 and message_id >= $3 and confirmation limit 1`,
    [hashes, sender, uuidFloor(sinceMs)],
  );
  return count > 0;
}

export interface NewReply {
  messageId: string;
  hash: Buffer;
  sender: string;
  confirmation: boolean;
}

/** Marks a message as our own answer: it is also sent to people who opted out. */
export async function insertReply(
  tx: Tx,
  { messageId, hash, sender, confirmation }: NewReply,
  nowMs: number,
): Promise<void> {
  await tx.query(
    `insert into automatic_reply (message_id, number_hash, sender, confirmation, sent_at) values ($1, $2, $3, $4, $5)`,
    [uuidOf(messageId), hash, sender, confirmation, toTimestamp(nowMs)],
  );
}

export async function deleteOldReplies(tx: Tx, beforeMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from automatic_reply where ctid = any(array(
       select ctid from automatic_reply where message_id < $1 order by message_id limit $2))`,
    [uuidFloor(beforeMs), pieceRows],
  );
  return count;
}
