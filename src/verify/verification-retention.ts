import { maskNumber } from '../messages/phone-number.ts';
import { type Clock, dayMs, toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { idFloor } from '../platform/ids.ts';
import { prefixOf } from './verification.ts';
import { isNumber } from './verification-store.ts';

/** Masks the numbers of verifications after the retention time, like `messages/message-retention.ts` does for texts. */
export interface VerificationRetention {
  maskOld(): Promise<number>;
  /** Masks a number in all applications, in small transactions, so that it does not hold up requests. */
  forget(number: string): Promise<number>;
}

interface Application {
  id: string;
  /** True if the application has verifications of the number. */
  known: boolean;
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

  async function nextApplications(after: string, number: string): Promise<Application[]> {
    const { rows } = await database.query<Application>(selectApplications, [after, number, chunk]);
    return rows;
  }

  const forgetChunk = (applicationId: string, number: string) =>
    database.transaction(async (tx) => {
      const { rows } = await tx.query<{ id: string; recipient: string }>(
        `select id, recipient from verification where ${isNumber('$1::text', '$2::text')} limit $3 for update`,
        [applicationId, number, chunk],
      );
      await mask(tx, rows);
      return rows.length;
    });

  return {
    maskOld: () => database.transaction((tx) => maskChunk(tx, idFloor('ver', clock.nowMs() - days * dayMs))),

    async forget(number) {
      let forgotten = 0;
      let after: string | undefined = '';
      while (after !== undefined) {
        const applications: Application[] = await nextApplications(after, number);
        for (const { id } of applications.filter(({ known }) => known)) {
          for (let count = chunk; count > 0; forgotten += count) count = await forgetChunk(id, number);
        }
        after = applications.at(-1)?.id;
      }
      return forgotten;
    },
  };
}

/** The next applications with verifications, and whether they have any of the number: two index lookups for each. */
const selectApplications = {
  name: 'select-applications-knowing-number',
  text: `with recursive next(id, place) as (
      (select application_id, 1 from verification where application_id > $1 order by application_id limit 1)
      union all
      select (select application_id from verification where application_id > next.id order by application_id limit 1),
        place + 1
      from next where next.id is not null and place < $3)
    select id, exists (select from verification where ${isNumber('next.id', '$2::text')}) as known
    from next where id is not null order by id`,
};

/** Ends pending verifications: no caller can finish one without its number, and two masked numbers may be equal. */
const maskStatement = {
  name: 'mask-verifications',
  text: `update verification v set recipient = m.recipient, prefix = m.prefix,
      status = case when status <> 'pending' then status when expires_at <= $4 then 'expired' else 'canceled' end,
      reason = case when status <> 'pending' then reason when expires_at <= $4 then 'ttl_elapsed' else 'canceled_by_client' end,
      updated_at = case when status = 'pending' then least(expires_at, $4) else updated_at end,
      sequence = sequence + case when status = 'pending' then 1 else 0 end
    from unnest($1::text[], $2::text[], $3::text[]) as m(id, recipient, prefix) where v.id = m.id`,
};
