// Tests: test/parts/analytics.test.ts
import { dayMs, hourMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';
import { foldedAfterMs, type StepKey, stepMs } from './step-store.ts';

/**
 * A verification that has ended. `atMs` is its start. `carrier` names none unless a single carrier had all its texts;
 * `sender` is empty without a text.
 */
export interface EndedVerification extends StepKey {
  approved: boolean;
  /** It was added before, when it had no approval. */
  wasCounted?: boolean;
}

const byDayAfterMs = 26 * hourMs;
/** A chart of 30 days, with the first day whole. */
const daysKept = 31;

/** Adds ended verifications, in the transaction of the walk over them: each counts once. */
export async function addVerifications(tx: Tx, ended: readonly EndedVerification[]): Promise<void> {
  if (ended.length === 0) return;
  await tx.query(addStatement, [
    ended.map(({ applicationId }) => applicationId),
    ended.map(({ atMs }) => toTimestamp(atMs - (atMs % stepMs))),
    ended.map(({ carrier }) => carrier),
    ended.map(({ country }) => country),
    ended.map(({ sender }) => sender),
    ended.map(({ approved }) => (approved ? 1 : 0)),
    ended.map(({ wasCounted }) => (wasCounted === true ? 0 : 1)),
  ]);
}

const keys = 'application_id, at, minutes, carrier, country, sender';
const addUp = `on conflict (${keys}) do update set verifications = v.verifications + excluded.verifications,
      approved = v.approved + excluded.approved`;

/** In the order of the keys, so that two transactions never wait for each other in a circle. */
const addStatement = {
  name: 'add-verification-steps',
  text: `insert into verification_step as v (${keys}, verifications, approved)
    select ${keys}, sum(added), sum(approved) from (
      select application_id, at, 5 as minutes, carrier, country, sender, approved, added
      from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::integer[])
        as t(application_id, at, carrier, country, sender, approved, added)) as ended
    group by ${keys} order by ${keys} ${addUp}`,
};

/** Adds up some old steps by the hour, and some old hours by the day. */
export async function foldVerifications(tx: Tx, nowMs: number): Promise<number> {
  const fold = async (minutes: number, into: number, beforeMs: number) => {
    const values = [minutes, into, toTimestamp(beforeMs), pieceRows];
    const { rows } = await tx.query<{ taken: number }>(foldStatement, values);
    return rows[0]?.taken ?? 0;
  };
  return (await fold(5, 60, nowMs - foldedAfterMs)) + (await fold(60, 1440, nowMs - byDayAfterMs));
}

const foldStatement = `with old as (
      delete from verification_step where ctid = any(array(
        select ctid from verification_step where minutes = $1 and at < $3 order by at limit $4 for update skip locked))
      returning application_id, date_bin(make_interval(mins => $2::integer), at, '2000-01-01Z') as at,
        $2::smallint as minutes, carrier, country, sender, verifications, approved),
    added as (
      insert into verification_step as v (${keys}, verifications, approved)
      select ${keys}, sum(verifications), sum(approved) from old group by ${keys} order by ${keys} ${addUp})
    select count(*) as taken from old`;

export async function deleteOldVerificationSteps(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from verification_step where ctid = any(array(
       select ctid from verification_step where minutes = 1440 and at < $1 order by at limit $2))`,
    [toTimestamp(nowMs - daysKept * dayMs), pieceRows],
  );
  return count;
}
