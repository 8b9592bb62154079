import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import type { ReceivedAnswer } from '../platform/http-out/received-answer.ts';
import { uuidOf } from '../platform/ids.ts';
import { pieceRows } from '../platform/work/maintenance.ts';

/** The answer to one attempt. */
export interface AttemptAnswer extends ReceivedAnswer {
  webhookId: string;
  position: number;
  /** When the attempt began. */
  timeMs: number;
}

export async function insertAnswers(tx: Tx, answers: readonly AttemptAnswer[]): Promise<void> {
  await tx.query(insertStatement, [
    answers.map(({ webhookId }) => uuidOf(webhookId)),
    answers.map(({ position }) => position),
    answers.map(({ timeMs }) => toTimestamp(timeMs)),
    answers.map(({ headers }) => JSON.stringify(headers)),
    answers.map(({ body }) => body),
    answers.map(({ isCut }) => isCut),
  ]);
}

const insertStatement = {
  name: 'insert-webhook-answers',
  text: `insert into webhook_answer (webhook_id, position, attempted_at, headers, body, is_cut)
    select * from unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::jsonb[], $5::bytea[], $6::boolean[])
    on conflict do nothing`,
};

/** The answers to the attempts of one delivery that are still kept, by the time of the attempt. */
export async function findAnswers(
  tx: Tx,
  { webhookId, position, sinceMs }: { webhookId: string; position: number; sinceMs: number },
): Promise<Map<number, ReceivedAnswer>> {
  const { rows } = await tx.query<ReceivedAnswer & { timeMs: number }>(
    `select attempted_at as "timeMs", headers, body, is_cut as "isCut" from webhook_answer
     where webhook_id = $1 and position = $2 and attempted_at >= $3 order by attempted_at desc limit 100`,
    [uuidOf(webhookId), position, toTimestamp(sinceMs)],
  );
  return new Map(rows.map(({ timeMs, ...answer }) => [timeMs, answer]));
}

/** Deletes some answers from before a time, oldest first. Returns the number. */
export async function deleteOldAnswers(tx: Tx, beforeMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from webhook_answer where ctid = any(array(
       select ctid from webhook_answer where attempted_at < $1 order by attempted_at limit $2))`,
    [toTimestamp(beforeMs), pieceRows],
  );
  return count;
}

/** Deletes the answers that name a phone number, for a person who wants to be forgotten. */
export async function deleteAnswersNaming(tx: Tx, number: string): Promise<void> {
  const digits = number.replace('+', '');
  for (let count = pieceRows; count >= pieceRows; ) {
    ({ count } = await tx.query(
      `delete from webhook_answer where ctid = any(array(select ctid from webhook_answer
         where position($1::bytea in body) > 0 or position($2 in headers::text) > 0 limit $3))`,
      [Buffer.from(digits), digits, pieceRows],
    ));
  }
}
