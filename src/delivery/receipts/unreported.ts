import { unsentStatuses } from '../../messages/message.ts';
import { changedColumns, reportChanges } from '../../messages/message-events.ts';
import { statusCode, statusCodes } from '../../messages/message-row.ts';
import { insertEnds } from '../../messages/message-store.ts';
import { type Clock, hourMs, toTimestamp } from '../../platform/clock.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { readWalk, writeWalk } from '../../platform/database/walk.ts';
import { uuidFloor } from '../../platform/ids.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';

/** A text without a receipt for this long becomes `unknown`, but only once carriers have had time to report its expiry. */
const receiptWithinMs = 72 * hourMs;
/** How long a text is found by its carrier's id. */
export const carrierIdsKeptMs = 2 * receiptWithinMs;
const afterExpiryMs = 24 * hourMs;
export const unreportedWalk = 'unreported-texts';
const isUnsettled = `status in (${statusCodes([...unsentStatuses, 'sent'])})`;

interface OldText {
  id: string;
  unsettled: boolean;
}

/**
 * Ends texts whose receipt never came. It walks once over all messages as they become 72 hours old; texts that were
 * sent later than they were accepted are checked again.
 */
export function createUnreported(database: Database, clock: Clock) {
  async function walk(tx: Tx): Promise<OldText[]> {
    const done = await readWalk(tx, unreportedWalk);
    const { rows } = await tx.query<OldText>(
      `select id, ${isUnsettled} as unsettled from message where id > $1 and id < $2 order by id limit $3`,
      [done, uuidFloor(clock.nowMs() - receiptWithinMs + 1), pieceRows],
    );
    const last = rows.at(-1);
    if (last !== undefined) await writeWalk(tx, unreportedWalk, last.id);
    return rows;
  }

  /** Takes the texts that are due for another check from the list. */
  async function takeAgain(tx: Tx): Promise<string[]> {
    const { rows } = await tx.query<{ id: string }>(
      `delete from unsettled_text where message_id in (
         select message_id from unsettled_text where look_at <= $1 order by look_at limit $2 for update skip locked)
       returning message_id as id`,
      [toTimestamp(clock.nowMs()), pieceRows],
    );
    return rows.map(({ id }) => id);
  }

  return {
    /** Returns how many rows it read; 0 when it is done. */
    endSome: (): Promise<number> =>
      database.transaction(async (tx) => {
        const old = await walk(tx);
        const again = await takeAgain(tx);
        const ids = [...old.filter(({ unsettled }) => unsettled).map(({ id }) => id), ...again].sort((a, b) =>
          a < b ? -1 : 1,
        );
        if (ids.length > 0) {
          const nowMs = clock.nowMs();
          const times = [nowMs, nowMs - receiptWithinMs, nowMs + hourMs, nowMs - afterExpiryMs].map(toTimestamp);
          await tx.query(endStatement, [ids, ids[0], ids.at(-1), ...times]);
        }
        return old.length + again.length;
      }),

    /** Deletes carrier ids for which a receipt is no longer expected. */
    async deleteCarrierIds(): Promise<number> {
      const { count } = await database.query(
        `delete from sent_text where ctid = any(array(
           select ctid from sent_text where sent_at < $1 order by sent_at limit $2))`,
        [toTimestamp(clock.nowMs() - carrierIdsKeptMs), pieceRows],
      );
      return count;
    },
  };
}

/** Carriers that give no receipts: the last status of their texts is `sent`. */
const withoutReceipts = `select name || '#' || id from carrier where settings ->> 'receipts' = 'none'`;

const endStatement = `with ended as (
      update message set status = ${statusCode('unknown')}, updated_at = $4, sequence = sequence + 1
      where id = any($1::uuid[]) and id >= $2 and id <= $3 and status = ${statusCode('sent')} and sent_at <= $5
        and expires_at <= $7
        and carrier not in (${withoutReceipts})
      returning ${changedColumns()}),
    bad_end as (${insertEnds('ended')}),
    ${reportChanges('ended')}
    insert into unsettled_text (message_id, look_at)
    select m.id, case when m.sent_at is null then $6 else greatest(m.sent_at + ($4::timestamptz - $5::timestamptz),
      m.expires_at + ($4::timestamptz - $7::timestamptz)) end from message m
    where m.id = any($1::uuid[]) and m.id >= $2 and m.id <= $3 and ${isUnsettled} and m.id not in (select id from ended)
      and not (m.status = ${statusCode('sent')} and m.carrier in (${withoutReceipts}))
    on conflict do nothing`;
