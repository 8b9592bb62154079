import type { Database } from '../platform/database/database.ts';
import { claimCourses, findReady, mostReady, type ReadyCourse, type ReadyOptions } from './claim-store.ts';
import type { Course } from './lease.ts';
import type { ClaimedCourse } from './lease-store.ts';
import { createShares, type Holding, type Seeker } from './shares.ts';

/** A webhook that was taken up in its turn. */
export interface TakenUp {
  claimed: ClaimedCourse;
  holding: Holding;
}

export interface HeldCourse {
  course: Course;
  holding: Holding;
  begunAtMs: number;
}

export interface Look {
  taken: TakenUp[];
  /** Those that have to wait for their turn. */
  left: ReadyCourse[];
  /** There may be more than the look has found. */
  isCut: boolean;
  /** It has taken up as many as a look does, so the next one should come soon. */
  isFull: boolean;
}

/** A look takes up so many: what they read first must not keep one waiting whose turn comes at the next look. */
const mostTaken = 40;
/** While others wait in vain for a claim, a webhook gives its own back after this time. */
const shortTurnMs = 1000;

/** The webhooks that a worker may hold, shared by account and then by endpoint. */
export function createClaims(database: Database, most: number) {
  const shares = createShares(most);

  /** Chooses those whose turn it is. */
  function choose(ready: Set<ReadyCourse>): Map<string, Holding> {
    const chosen = new Map<string, Holding>();
    for (let next = shares.next(ready); next !== undefined && chosen.size < mostTaken; next = shares.next(ready)) {
      ready.delete(next.seeker);
      chosen.set(next.seeker.endpoint, shares.take(next));
    }
    return chosen;
  }

  return {
    async take(options: ReadyOptions): Promise<Look> {
      const ready = new Set(await findReady(database, options));
      const isCut = ready.size === mostReady;
      const chosen = choose(ready);
      const isFull = chosen.size === mostTaken;
      const taken: TakenUp[] = [];
      try {
        for (const claimed of await claimCourses(database, [...chosen.keys()])) {
          const holding = chosen.get(claimed.webhookId);
          if (holding !== undefined) taken.push({ claimed, holding });
          chosen.delete(claimed.webhookId);
        }
      } finally {
        // Another worker was faster, or the database is away.
        for (const holding of chosen.values()) shares.free(holding);
      }
      return { taken, left: [...ready], isCut, isFull };
    },
    move: shares.move,
    free: shares.free,
    /** Who has to end a turn because others wait in vain: of the account with the most, the one that began first. */
    findCrowders(left: readonly Seeker[], held: readonly HeldCourse[], nowMs: number): HeldCourse[] {
      return [true, false].flatMap((isSlow) => {
        if (shares.hasRoom(isSlow)) return [];
        const inHalf = ({ lane }: { lane: Seeker['lane'] }) => (lane === 'slow') === isSlow;
        const holders = held.filter(({ holding }) => inHalf(holding));
        const ending = holders.filter(({ course }) => course.isEnding).length;
        const countOf = ({ holding }: HeldCourse) => shares.countOf(holding.account, isSlow);
        return holders
          .filter(({ course, begunAtMs }) => !course.isEnding && nowMs - begunAtMs >= shortTurnMs)
          .sort((one, other) => countOf(other) - countOf(one) || one.begunAtMs - other.begunAtMs)
          .slice(0, Math.max(0, left.filter(inHalf).length - ending));
      });
    },
  };
}
