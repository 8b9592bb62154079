import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { giveBackClaim } from '../queue/claim-store.ts';

/** A statement whose answer was lost may still be running: Postgres ends it long before this. */
const searchedForMs = 10_000;

/** Claims whose answer from the database was lost, so this worker submitted nothing of them. */
export function createUnseenClaims(database: Database, clock: Pick<Clock, 'steadyMs'>) {
  /** When each answer was lost, by token. */
  const lostAtMs = new Map<string, number>();
  return {
    get size(): number {
      return lostAtMs.size;
    },
    add: (token: string): void => void lostAtMs.set(token, clock.steadyMs()),
    /** Requeues the texts of the claims that it finds. Throws while the database is away. */
    async giveBack(): Promise<void> {
      for (const [token, sinceMs] of lostAtMs) {
        const isOver = clock.steadyMs() - sinceMs > searchedForMs;
        if ((await giveBackClaim(database, token)) || isOver) lostAtMs.delete(token);
      }
    },
  };
}
