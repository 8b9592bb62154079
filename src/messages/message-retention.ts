import { type Clock, dayMs, toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { idFloor } from '../platform/ids.ts';
import type { MessageStatus } from './message.ts';
import { maskNumber } from './phone-number.ts';

/** Masks numbers and deletes texts, after the retention time or on request. */
export interface MessageRetention {
  /** Masks messages older than the retention time. Returns how many rows it read; 0 when it is done. */
  maskOld(): Promise<number>;
  /** Masks everything about one number, in small transactions, and cancels its unsent messages. */
  forget(number: string, onProgress?: (rowsLookedAt: number) => void): Promise<number>;
}

interface Masked {
  id: string;
  recipient: string;
}

const chunk = 1000;
/** Unsent messages still need their number and text: a caller may schedule one 7 days ahead, valid for 3 more. */
const unsent: MessageStatus[] = ['scheduled', 'queued'];

export interface MessageRetentionOptions {
  database: Database;
  clock: Clock;
  days: number;
  /** Deletes the sandbox's arrivals of these messages. */
  deleteArrivals: (tx: Tx, messageIds: string[]) => Promise<void>;
}

export function createMessageRetention({
  database,
  clock,
  days,
  deleteArrivals,
}: MessageRetentionOptions): MessageRetention {
  async function maskMessages(tx: Tx, before: string): Promise<number> {
    await tx.query(`insert into retention (kind, masked_before) values ('message', '') on conflict (kind) do nothing`);
    const { rows: marks } = await tx.query<{ mark: string }>(
      `select masked_before as mark from retention where kind = 'message' for update`,
    );
    const late = await maskPutOff(tx);
    // Ids sort by age, so one id marks the progress and the primary key finds the next rows.
    const { rows } = await tx.query<Masked & { status: MessageStatus }>(
      'select id, recipient, status from message where id > $1 and id < $2 order by id limit $3 for update',
      [marks[0]?.mark ?? '', before, chunk],
    );
    const last = rows.at(-1);
    if (last === undefined) return late;
    const putOff = rows.filter(({ status }) => unsent.includes(status));
    await mask(
      tx,
      rows.filter((row) => !putOff.includes(row)),
    );
    await tx.query(
      `insert into retention (kind, masked_before) select id, '' from unnest($1::text[]) as p(id)
       on conflict (kind) do nothing`,
      [putOff.map(({ id }) => id)],
    );
    await tx.query(`update retention set masked_before = $1 where kind = 'message'`, [last.id]);
    return late + rows.length;
  }

  /** Messages that were unsent when the mark passed them are in `retention` under their own ids until they are sent. */
  async function maskPutOff(tx: Tx): Promise<number> {
    const { rows } = await tx.query<Masked>(
      `select m.id, m.recipient from retention r join message m on m.id = r.kind
       where not (m.status = any($1)) limit $2 for update of m`,
      [unsent, chunk],
    );
    await mask(tx, rows);
    await tx.query('delete from retention where kind = any($1)', [rows.map(({ id }) => id)]);
    return rows.length;
  }

  async function mask(tx: Tx, rows: Masked[]): Promise<void> {
    if (rows.length === 0) return;
    await tx.query(
      `update message m set recipient = u.masked, body = null from unnest($1::text[], $2::text[]) as u(id, masked)
       where m.id = u.id`,
      [rows.map(({ id }) => id), rows.map(({ recipient }) => maskNumber(recipient))],
    );
    await deleteArrivals(
      tx,
      rows.map(({ id }) => id),
    );
  }

  async function forgetPiece(ids: string[], number: string): Promise<number> {
    let forgotten = 0;
    for (let from = 0; from < ids.length; from += chunk) {
      const piece = ids.slice(from, from + chunk);
      forgotten += await database.transaction(async (tx) => {
        const values = [piece, number, maskNumber(number), toTimestamp(clock.nowMs()), unsent];
        const { count } = await tx.query(forgetStatement, values);
        await deleteArrivals(tx, piece);
        return count;
      });
    }
    return forgotten;
  }

  return {
    maskOld: () => {
      const before = idFloor('msg', clock.nowMs() - days * dayMs);
      return database.transaction((tx) => maskMessages(tx, before));
    },

    async forget(number, onProgress) {
      let forgotten = 0;
      let looked = 0;
      // No index finds a number across applications, so walk the table by primary key.
      for (let after = ''; ; ) {
        const { rows } = await database.query<{ last: string | null; looked: number; found: string[] | null }>(
          findPiece,
          [after, walkedRows, number],
        );
        const { last = null, looked: seen = 0, found } = rows[0] ?? {};
        if (last === null) return forgotten;
        if (found != null) forgotten += await forgetPiece(found, number);
        after = last;
        looked += seen;
        onProgress?.(looked);
      }
    },
  };
}

/** Rows per step of the walk. Most are only read, few are changed. */
const walkedRows = 20_000;

const findPiece = {
  name: 'find-number-in-messages',
  text: `select max(id) as last, count(*) as looked, array_agg(id) filter (where recipient = $3) as found
    from (select id, recipient from message where id > $1 order by id limit $2) piece`,
};

/**
 * Cancels unsent messages. A message on the wire becomes `unknown`: its number is gone, so it is not sent again, but a
 * receipt may still settle it.
 */
const forgetStatement = {
  name: 'forget-number',
  text: `update message set recipient = $3, body = null, on_the_wire = false,
      status = case when status <> all($5) then status when on_the_wire then 'unknown' else 'canceled' end,
      due_at = case when status = any($5) then null else due_at end,
      updated_at = case when status = any($5) then $4 else updated_at end,
      sequence = sequence + case when status = any($5) then 1 else 0 end
    where id = any($1) and recipient = $2`,
};
