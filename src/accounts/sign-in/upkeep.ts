import { type Clock, dayMs } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { idFloor } from '../../platform/ids.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';

export const signInsKeptMs = 90 * dayMs;

/**
 * The most rows to keep: of e-mails that no person has, which a caller can invent, and in all. Beyond that the oldest go
 * early. Guesses at invented e-mails so push out none of those at accounts.
 */
const defaultMost = { unknown: 100_000, all: 1_000_000 };

/** Deletes old sign-ins, a small piece at a time. */
export function createSignInUpkeep(database: Database, clock: Clock, most = defaultMost) {
  const deleteBefore = async (id: string, condition = '') =>
    (await database.query(deletePiece(condition), [id, pieceRows])).count;

  /** Looks once per round where to cut: that reads as many index entries as there are rows to keep. */
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
