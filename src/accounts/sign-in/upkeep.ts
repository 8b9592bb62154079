// Tests: test/contract/portal-upkeep.test.ts
import { type Clock, dayMs } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { idFloor } from '../../platform/ids.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';

export const signInsKeptMs = 90 * dayMs;

/**
 * Maximum rows to keep: of e-mails that no person has, which a caller can invent, and in total. Beyond that the oldest
 * are deleted early, so invented e-mails displace no rows of accounts.
 */
const defaultMost = { unknown: 100_000, all: 1_000_000 };

/** Deletes old sign-ins in small batches. */
export function createSignInUpkeep(database: Database, clock: Clock, most = defaultMost) {
  const deleteBefore = async (id: string, condition = '') =>
    (await database.query(deletePiece(condition), [id, pieceRows])).count;

  /** Finds the limit once per round, because this reads as many index entries as there are rows to keep. */
  function keepNewest(count: number, condition = ''): () => Promise<number> {
    let keptFrom: string | undefined;
    return async () => {
      keptFrom ??= await oldestKept(count, condition);
      const deleted = keptFrom === undefined ? 0 : await deleteBefore(keptFrom, condition);
      if (deleted === 0) keptFrom = undefined;
      return deleted;
    };
  }

  async function oldestKept(count: number, condition: string): Promise<string | undefined> {
    const { rows } = await database.query<{ id: string }>(
      `select id from sign_in where true ${condition} order by id desc offset $1 limit 1`,
      [count - 1],
    );
    return rows[0]?.id;
  }

  return {
    deleteOld: () => deleteBefore(idFloor('sin', clock.nowMs() - signInsKeptMs)),
    deleteUnknown: keepNewest(most.unknown, 'and person_id is null'),
    deleteBeyond: keepNewest(most.all),
  };
}

const deletePiece = (condition: string) =>
  `delete from sign_in where id = any(array(select id from sign_in where id < $1 ${condition} order by id limit $2))`;
