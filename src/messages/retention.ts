import type { Clock } from '../platform/clock.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { deleteExpiredAnswers } from '../platform/idempotency.ts';
import { idFloor } from '../platform/ids.ts';
import { maskNumber } from './phone-number.ts';

/** Lets go of what is about people: numbers and texts, when their time is over or when somebody asks for it. */
export interface Retention {
  /** Masks what is older than the retention time. Returns how many rows were looked at; 0 when all is done. */
  maskOld(): Promise<number>;
  /** Masks everything about one number, at once. What has not been sent to it yet is canceled. */
  forget(number: string): Promise<number>;
}

const chunk = 1000;
const dayMs = 86_400_000;

export function createRetention(database: Database, clock: Clock, days: number): Retention {
  async function maskMessages(tx: Tx, before: string): Promise<number> {
    await tx.query(`insert into retention (kind, masked_before) values ('message', '') on conflict (kind) do nothing`);
    const { rows: marks } = await tx.query<{ mark: string }>(
      `select masked_before as mark from retention where kind = 'message' for update`,
    );
    // Ids sort by age, so one id says how far it has been done, and no index is needed to go on from there.
    const { rows } = await tx.query<{ id: string; recipient: string }>(
      'select id, recipient from message where id > $1 and id < $2 order by id limit $3',
      [marks[0]?.mark ?? '', before, chunk],
    );
    const last = rows.at(-1);
    if (last === undefined) return 0;
    await mask(tx, rows);
    await tx.query(`update retention set masked_before = $1 where kind = 'message'`, [last.id]);
    return rows.length;
  }

  async function mask(tx: Tx, rows: { id: string; recipient: string }[]): Promise<void> {
    await tx.query(
      `update message m set recipient = u.masked, body = null from unnest($1::text[], $2::text[]) as u(id, masked)
       where m.id = u.id`,
      [rows.map(({ id }) => id), rows.map(({ recipient }) => maskNumber(recipient))],
    );
    await tx.query('delete from handset_text where message_id = any($1)', [rows.map(({ id }) => id)]);
  }

  return {
    async maskOld() {
      const before = idFloor('msg', clock.nowMs() - days * dayMs);
      const masked = await database.transaction((tx) => maskMessages(tx, before));
      return masked + (await deleteExpiredAnswers(database, clock.nowMs()));
    },

    forget: (number) =>
      database.transaction(async (tx) => {
        await tx.query(
          `update message set status = 'canceled', due_at = null, updated_at = $2, sequence = sequence + 1
           where recipient = $1 and status in ('scheduled', 'queued') and not on_the_wire`,
          [number, toTimestamp(clock.nowMs())],
        );
        const { rows } = await tx.query<{ id: string; recipient: string }>(
          'select id, recipient from message where recipient = $1 and not on_the_wire',
          [number],
        );
        await mask(tx, rows);
        // Kept answers repeat the record they answered with.
        await tx.query('delete from idempotency where position($1 in body) > 0', [number]);
        return rows.length;
      }),
  };
}
