import { maskNumber } from '../messages/phone-number.ts';
import { type Clock, toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { idFloor } from '../platform/ids.ts';
import { dayMs, prefixOf } from './verification.ts';

/** The same for verifications as `messages/retention.ts` for texts: their numbers go when their time is over. */
export interface VerificationRetention {
  maskOld(): Promise<number>;
  forget(number: string): Promise<number>;
}

const chunk = 1000;

export function createVerificationRetention(database: Database, clock: Clock, days: number): VerificationRetention {
  async function maskChunk(tx: Tx, before: string): Promise<number> {
    await tx.query(
      `insert into retention (kind, masked_before) values ('verification', '') on conflict (kind) do nothing`,
    );
    const { rows: marks } = await tx.query<{ mark: string }>(
      `select masked_before as mark from retention where kind = 'verification' for update`,
    );
    const { rows } = await tx.query<{ id: string; recipient: string }>(
      'select id, recipient from verification where id > $1 and id < $2 order by id limit $3 for update',
      [marks[0]?.mark ?? '', before, chunk],
    );
    const last = rows.at(-1);
    if (last === undefined) return 0;
    await mask(tx, rows);
    await tx.query(`update retention set masked_before = $1 where kind = 'verification'`, [last.id]);
    return rows.length;
  }

  async function mask(tx: Tx, rows: { id: string; recipient: string }[]): Promise<void> {
    const masked = rows.map(({ recipient }) => maskNumber(recipient));
    await tx.query(maskStatement, [rows.map(({ id }) => id), masked, masked.map(prefixOf), toTimestamp(clock.nowMs())]);
  }

  return {
    maskOld: () => database.transaction((tx) => maskChunk(tx, idFloor('ver', clock.nowMs() - days * dayMs))),

    forget: (number) =>
      database.transaction(async (tx) => {
        const { rows } = await tx.query<{ id: string; recipient: string }>(
          'select id, recipient from verification where recipient = $1 for update',
          [number],
        );
        await mask(tx, rows);
        return rows.length;
      }),
  };
}

/** One that is still open ends here: without its number nobody could finish it, and two masks may look the same. */
const maskStatement = {
  name: 'mask-verifications',
  text: `update verification v set recipient = m.recipient, prefix = m.prefix,
      status = case when status <> 'pending' then status when expires_at <= $4 then 'expired' else 'canceled' end,
      reason = case when status <> 'pending' then reason when expires_at <= $4 then 'ttl_elapsed' else 'canceled_by_client' end,
      updated_at = case when status = 'pending' then least(expires_at, $4) else updated_at end,
      sequence = sequence + case when status = 'pending' then 1 else 0 end
    from unnest($1::text[], $2::text[], $3::text[]) as m(id, recipient, prefix) where v.id = m.id`,
};
