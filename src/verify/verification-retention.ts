// Tests: test/contract/verification-retention.test.ts
import { maskNumber } from '../messages/numbers/phone-number.ts';
import { type Clock, dayMs, toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { readWalk, writeWalk } from '../platform/database/walk.ts';
import { uuidFloor } from '../platform/ids.ts';
import { insertVerificationEvents } from './verification-events.ts';
import { reasonCode, statusCode } from './verification-row.ts';
import { boundsOf, isOneOf, isPending } from './verification-store.ts';

/** Masks the numbers of verifications after the retention time, like `messages/message-retention.ts` does for texts. */
export interface VerificationRetention {
  maskOld(): Promise<number>;
  /** Masks a number in all applications, in small transactions, so that requests do not wait. */
  forget(number: string): Promise<number>;
}

interface Unmasked {
  id: string;
  recipient: string;
}

const chunk = 1000;
const walkName = 'mask-verifications';

export function createVerificationRetention(database: Database, clock: Clock, days: number): VerificationRetention {
  async function maskChunk(tx: Tx, before: string): Promise<number> {
    const done = await readWalk(tx, walkName);
    const { rows } = await tx.query<Unmasked>(
      `select id, recipient from verification where id > $1 and id < $2 order by id limit $3 for update`,
      [done, before, chunk],
    );
    const last = rows.at(-1);
    if (last === undefined) return 0;
    await mask(tx, rows);
    await writeWalk(tx, walkName, last.id);
    return rows.length;
  }

  async function mask(tx: Tx, rows: Unmasked[]): Promise<void> {
    const uuids = rows.map(({ id }) => id);
    const masked = rows.map(({ recipient }) => maskNumber(recipient));
    await tx.query(maskStatement, [uuids, masked, toTimestamp(clock.nowMs()), ...boundsOf(uuids)]);
  }

  /** Locks the records before their rows in the narrow tables, as every other statement does. */
  const forgetChunk = (number: string) =>
    database.transaction(async (tx) => {
      const { rows: found } = await tx.query<{ id: string }>(findNumber, [number, chunk]);
      if (found.length === 0) return 0;
      const uuids = found.map(({ id }) => id);
      const { rows } = await tx.query<Unmasked>(
        `select id, recipient from verification
         where id = any(array(select unnest($1::uuid[]))) and id >= $2 and id <= $3 order by id for update`,
        [uuids, ...boundsOf(uuids)],
      );
      await mask(tx, rows);
      return rows.length;
    });

  return {
    maskOld: () => database.transaction((tx) => maskChunk(tx, uuidFloor(clock.nowMs() - days * dayMs))),

    async forget(number) {
      let forgotten = 0;
      for (let count = chunk; count > 0; forgotten += count) count = await forgetChunk(number);
      for (let count = chunk; count > 0; ) ({ count } = await database.query(forgetSends, [number, chunk]));
      return forgotten;
    },
  };
}

const forgetSends = `delete from counted_send where ctid = any(array(
    select ctid from counted_send where recipient = $1 limit $2))`;

const findNumber = {
  name: 'find-verifications-of-number',
  text: `(select verification_id as id from pending_verification where recipient = $1 limit $2)
    union all
    (select verification_id as id from ended_verification where recipient = $1 limit $2)
    limit $2`,
};

/**
 * Ends pending verifications: no caller can finish one without its number, and two masked numbers may be equal. A lookup
 * for each row, as in `endings`, keeps Postgres from reading the narrow tables whole.
 */
const maskStatement = {
  name: 'mask-verifications',
  text: `with k as materialized (
      select v.id, v.application_id, v.recipient, v.status, v.attempts, u.masked,
        case when v.status <> ${statusCode('pending')} then v.status
          when v.expires_at <= $3 then ${statusCode('expired')} else ${statusCode('canceled')} end as becomes
      from unnest($1::uuid[], $2::text[]) as u(id, masked) cross join lateral (
        select id, application_id, recipient, status, attempts, expires_at from verification
        where id = u.id and id >= $4 and id <= $5 limit 1 for update) v),
    record as (
      update verification v set recipient = k.masked, status = k.becomes,
        payment = regexp_replace(v.payment, '^([^ ]+ [^ ]+) .*$', '\\1 •••'),
        reason = case when v.${isPending} then case when k.becomes = ${statusCode('expired')}
          then ${reasonCode('ttl_elapsed')} else ${reasonCode('canceled_by_client')} end else reason end,
        updated_at = case when v.${isPending} then least(expires_at, $3) else updated_at end
      from k where ${isOneOf('$4', '$5')}
      returning v.id, v.application_id, v.status, v.updated_at, k.${isPending} as was_pending),
    emitted as (${insertVerificationEvents('(select * from record where was_pending) r')}),
    freed as (
      delete from pending_verification where ctid = any(array(
        select p.ctid from k cross join lateral (
          select ctid from pending_verification
          where recipient = k.recipient and application_id = k.application_id and verification_id = k.id limit 1) p
        where k.${isPending}))),
    ended as (
      insert into ended_verification (verification_id, application_id, status, recipient)
      select id, application_id, becomes, masked from k where ${isPending}),
    forgotten as (
      delete from recent_failure where ctid = any(array(
        select f.ctid from k cross join lateral (
          select ctid from recent_failure
          where recipient = k.recipient and application_id = k.application_id and verification_id = k.id limit 1) f
        where k.attempts > 0)))
    update ended_verification e set recipient = k.masked
    from k
    where not k.${isPending} and e.recipient = k.recipient and e.application_id = k.application_id and e.status = k.status
      and e.verification_id = k.id and e.verification_id >= $4 and e.verification_id <= $5`,
};
