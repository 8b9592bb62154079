import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { giveBackClaim } from '../queue/claim-store.ts';

/** Claims of which this worker submitted nothing, because an answer of the database was lost. */
export interface UnseenClaims {
  readonly size: number;
  add(token: string): void;
  /** Puts the texts of those that it finds back into the queue. Throws while the database is away. */
  giveBack(): Promise<void>;
}

/** A statement whose answer was lost may still be running: Postgres ends it long before this. */
const lookedForMs = 10_000;

export function createUnseenClaims(database: Database, clock: Pick<Clock, 'steadyMs'>): UnseenClaims {
  /** When each answer was lost, by token. */
  const lostAtMs = new Map<string, number>();
  return {
    get size() {
      return lostAtMs.size;
    },
    add: (token) => void lostAtMs.set(token, clock.steadyMs()),
    async giveBack() {
      for (const [token, sinceMs] of lostAtMs) {
        const isOver = clock.steadyMs() - sinceMs > lookedForMs;
        if ((await giveBackClaim(database, token)) || isOver) lostAtMs.delete(token);
      }
    },
  };
}
