import { type Clock, dayMs, toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { readWalk, writeWalk } from '../platform/database/walk.ts';
import { uuidFloor } from '../platform/ids.ts';
import { unsentStatuses } from './message.ts';
import { changedColumns, deleteStatusCalls, reportChanges } from './message-events.ts';
import { statusCode, statusCodes } from './message-row.ts';
import { insertEnds } from './message-store.ts';
import { maskNumber } from './numbers/phone-number.ts';

interface Masked {
  id: string;
  recipient: string;
}

const chunk = 1000;
const walkName = 'mask-messages';
/** Unsent messages still need their number and text: a caller may schedule one 7 days ahead, valid for 3 more. */
const isUnsent = `status in (${statusCodes(unsentStatuses)})`;

/**
 * Deletes the text and its callback address. A verification's text derives from its template, so the payee there is masked.
 */
const withoutContent = `body = null, status_callback = null,
    template = case when template ? 'payment' then jsonb_set(template, '{payment,payee}', '"•••"') else template end`;

export interface MessageRetentionOptions {
  database: Database;
  clock: Clock;
  days: number;
  /** Deletes some of the sandbox's arrivals of one number. Returns how many; 0 when none is left. */
  deleteArrivalsOf: (tx: Tx, applicationIds: string[], number: string) => Promise<number>;
}

/** Masks numbers and deletes texts, after the retention time or on request. */
export function createMessageRetention({ database, clock, days, deleteArrivalsOf }: MessageRetentionOptions) {
  async function maskMessages(tx: Tx, before: string): Promise<number> {
    const done = await readWalk(tx, walkName);
    const late = await maskPutOff(tx);
    const { rows } = await tx.query<Masked & { unsent: boolean }>(
      `select id, recipient, ${isUnsent} as unsent from message
       where id > $1 and id < $2 order by id limit $3 for update`,
      [done, before, chunk],
    );
    const last = rows.at(-1);
    if (last === undefined) return late;
    await mask(
      tx,
      rows.filter(({ unsent }) => !unsent),
    );
    await tx.query('insert into unmasked_message select unnest($1::uuid[]) on conflict do nothing', [
      rows.filter(({ unsent }) => unsent).map(({ id }) => id),
    ]);
    await writeWalk(tx, walkName, last.id);
    return late + rows.length;
  }

  /** Masks messages that were unsent when the walk passed them. */
  async function maskPutOff(tx: Tx): Promise<number> {
    const { rows } = await tx.query<Masked>(
      `select m.id, m.recipient from unmasked_message u join message m on m.id = u.message_id
       where not ${isUnsent} limit $1 for update of m`,
      [chunk],
    );
    await mask(tx, rows);
    await tx.query('delete from unmasked_message where message_id = any($1::uuid[])', [rows.map(({ id }) => id)]);
    return rows.length;
  }

  async function mask(tx: Tx, rows: Masked[]): Promise<void> {
    const ids = rows.map(({ id }) => id).sort((a, b) => (a < b ? -1 : 1));
    if (ids.length === 0) return;
    await tx.query(
      `update message m set recipient = u.masked, ${withoutContent}
       from unnest($1::uuid[], $2::text[]) as u(id, masked)
       where m.id = u.id and m.id >= $3 and m.id <= $4`,
      [rows.map(({ id }) => id), rows.map(({ recipient }) => maskNumber(recipient)), ids[0], ids.at(-1)],
    );
  }

  /**
   * Deletes most arrivals first, in transactions of their own. Arrivals that came since then are deleted with the messages.
   */
  async function forgetPiece({ ids, applicationIds, first, last }: Piece, number: string): Promise<number> {
    let forgotten = 0;
    const deleteArrivals = async (tx: Tx) => {
      while ((await deleteArrivalsOf(tx, applicationIds, number)) > 0);
    };
    await deleteArrivals(database);
    for (let from = 0; from < ids.length; from += chunk) {
      const values = [
        ids.slice(from, from + chunk),
        number,
        maskNumber(number),
        toTimestamp(clock.nowMs()),
        first,
        last,
      ];
      forgotten += await database.transaction(async (tx) => {
        const { count } = await tx.query(forgetStatement, values);
        await deleteArrivals(tx);
        return count;
      });
    }
    return forgotten;
  }

  return {
    /** Masks messages older than the retention time. Returns how many rows it read; 0 when it is done. */
    maskOld: (): Promise<number> =>
      database.transaction((tx) => maskMessages(tx, uuidFloor(clock.nowMs() - days * dayMs))),

    /** Masks everything about one number, in small transactions, and cancels its unsent messages. */
    async forget(number: string, onProgress?: (rowsRead: number) => void): Promise<number> {
      let forgotten = 0;
      let rowsRead = 0;
      // The index of numbers leaves out the texts of verifications, so walk the table by primary key.
      for (let after = uuidFloor(0); ; ) {
        const { rows } = await database.query<FoundPiece>(findPiece, [after, walkedRows, number]);
        const [piece] = rows;
        if (piece === undefined || piece.last === null) return forgotten;
        const { ids, last } = piece;
        if (ids !== null) forgotten += await forgetPiece({ ...piece, ids, first: after, last }, number);
        after = piece.last;
        rowsRead += piece.rowsRead;
        onProgress?.(rowsRead);
      }
    },
  };
}

interface Piece {
  ids: string[];
  applicationIds: string[];
  first: string;
  last: string;
}

interface FoundPiece {
  last: string | null;
  rowsRead: number;
  /** Null if the number is not among them. */
  ids: string[] | null;
  applicationIds: string[];
}

/** Rows per step of the walk. Most are only read, few are changed. */
const walkedRows = 20_000;

const findPiece = {
  name: 'find-number-in-messages',
  text: `select (array_agg(id order by id desc))[1] as last, count(*) as "rowsRead",
      array_agg(id) filter (where recipient = $3) as ids,
      array_agg(distinct application_id) filter (where recipient = $3) as "applicationIds"
    from (select id, application_id, recipient from message where id > $1 order by id limit $2) piece`,
};

/**
 * Cancels unsent messages. A message that a worker has claimed, or that may have been sent, becomes `unknown`: its number
 * is gone, so it is not sent again, but a receipt may still settle it.
 */
const forgetStatement = `with forgotten as (
      select id, application_id, ${isUnsent} as unsent from message
      where id = any($1::uuid[]) and id > $5 and id <= $6 and recipient = $2 for update),
    unqueued as (
      delete from delivery_queue q using forgotten f, message m
      where m.id = f.id and m.id > $5 and m.id <= $6 and q.carrier = m.carrier and q.lane = m.lane
        and q.application_id = f.application_id and q.message_id = f.id returning q.message_id, q.in_doubt),
    unscheduled as (
      delete from delivery_schedule s using forgotten f
      where s.application_id = f.application_id and s.message_id = f.id returning s.message_id, s.in_doubt),
    removed as (select * from unqueued union all select * from unscheduled),
    masked as (
      update message m set recipient = $3, ${withoutContent},
        status = case when not f.unsent then status
          when r.message_id is null or r.in_doubt then ${statusCode('unknown')} else ${statusCode('canceled')} end,
        updated_at = case when f.unsent then $4 else updated_at end,
        sequence = sequence + case when f.unsent then 1 else 0 end
      from forgotten f left join removed r on r.message_id = f.id
      where m.id = f.id and m.id > $5 and m.id <= $6
      returning ${changedColumns('m.')}, f.unsent),
    uncalled as (${deleteStatusCalls('forgotten')}),
    ended as (${insertEnds(`(select * from masked where status in (${statusCodes(['canceled', 'unknown'])})) e`)}),
    ${reportChanges('(select * from masked where unsent) m')}
    select from masked`;
