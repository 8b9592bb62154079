import { toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { uuidOf } from '../../platform/ids.ts';
import { type SenderTokens, takeTokens } from './sender-tokens.ts';

/** Texts of one sender that are ready to be sent. */
export interface WantedTexts {
  applicationId: string;
  sender: string;
  perSecond: number;
  /** By lane. */
  first: number;
  bulk: number;
}

export interface AllowedTexts {
  first: number;
  bulk: number;
  after: SenderTokens;
}

/** How many of these texts may be sent now, counted for all nodes together. In the order of `wanted`. */
export function takeTurns(database: Database, wanted: WantedTexts[], nowMs: number): Promise<AllowedTexts[]> {
  return database.transaction(async (tx) => {
    const keys = [wanted.map(({ applicationId }) => uuidOf(applicationId)), wanted.map(({ sender }) => sender)];
    const { rows } = await tx.query<SenderTokens & { index: number }>(lockStatement, [
      ...keys,
      wanted.map(({ perSecond }) => perSecond),
      toTimestamp(nowMs),
    ]);
    const byIndex = new Map(rows.map((row) => [Number(row.index), row]));
    const allowed = wanted.map((texts, index) => {
      const before = byIndex.get(index + 1) ?? { tokens: texts.perSecond, countedAtMs: nowMs };
      return takeTokens(before, { ...texts, nowMs });
    });
    await tx.query(writeStatement, [
      ...keys,
      allowed.map(({ after }) => after.tokens),
      allowed.map(({ after }) => toTimestamp(after.countedAtMs)),
    ]);
    return allowed;
  });
}

/** In the order of the key, so that two workers never wait for each other in a circle. */
const lockStatement = {
  name: 'lock-sender-pace',
  text: `with wanted as materialized (
      select * from unnest($1::uuid[], $2::text[], $3::float8[]) with ordinality as w(application_id, sender, rate, index)),
    held as (
      insert into sender_pace as p (application_id, sender, tokens, counted_at)
      select application_id, sender, rate, $4 from wanted order by application_id, sender
      on conflict (application_id, sender) do update set tokens = p.tokens
      returning application_id, sender, tokens, counted_at)
    select index, tokens, counted_at as "countedAtMs" from held join wanted using (application_id, sender)`,
};

const writeStatement = {
  name: 'write-sender-pace',
  text: `update sender_pace p set tokens = w.tokens, counted_at = w.counted_at
    from unnest($1::uuid[], $2::text[], $3::float8[], $4::timestamptz[]) as w(application_id, sender, tokens, counted_at)
    where p.application_id = w.application_id and p.sender = w.sender`,
};
