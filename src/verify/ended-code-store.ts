import type { Tx } from '../platform/database.ts';
import { uuidFloor } from '../platform/ids.ts';
import { pieceRows } from '../platform/maintenance.ts';
import { readWalk, writeWalk } from '../platform/walk.ts';
import { longestTtlSeconds } from './verification.ts';
import { statusCode } from './verification-row.ts';

/** A verification that is over. */
export interface EndedCode {
  approved: boolean;
  /** Its texts, as uuids. */
  textIds: string[];
}

const walkName = 'ended-codes';

/**
 * Walks once over all verifications as they become too old to be pending, in the caller's transaction. Those that no
 * text was sent for, and those of test numbers, say nothing about a carrier. `read` is 0 when there are none left.
 */
export async function walkEndedCodes(tx: Tx, nowMs: number): Promise<{ read: number; codes: EndedCode[] }> {
  const done = await readWalk(tx, walkName);
  const { rows } = await tx.query<{ id: string; status: number; test: boolean; textIds: string[] }>(
    `select id, status, test_number as test, text_ids as "textIds" from verification
     where id > $1 and id < $2 order by id limit $3`,
    [done, uuidFloor(nowMs - longestTtlSeconds * 1000), pieceRows],
  );
  const last = rows.at(-1);
  if (last !== undefined) await writeWalk(tx, walkName, last.id);
  const codes = rows
    .filter(({ test, status }) => !test && status !== statusCode('blocked'))
    .map(({ status, textIds }) => ({ approved: status === statusCode('approved'), textIds }));
  return { read: rows.length, codes };
}
