// Tests: test/hostile/slow-webhooks.test.ts
import type { Database } from '../platform/database/database.ts';
import { claimLeases, findReady, mostReady, type ReadyOptions, type ReadyWebhook } from './claim-store.ts';
import type { Lease } from './lease.ts';
import type { ClaimedLease } from './lease-store.ts';
import { createShares, type Holding, type Seeker } from './shares.ts';

/** A webhook that was claimed in its turn. */
export interface Claimed {
  claimed: ClaimedLease;
  holding: Holding;
}

export interface HeldLease {
  lease: Lease;
  holding: Holding;
  begunAtMs: number;
}

export interface Polled {
  taken: Claimed[];
  /** Webhooks that wait for their turn. */
  left: ReadyWebhook[];
  /** The poll reached its limit: there may be more. */
  isCut: boolean;
  /** The poll claimed its maximum, so the next one should follow soon. */
  isFull: boolean;
}

/** Maximum claims of one poll: their first reads must not delay the next poll. */
const mostTaken = 40;
/** Maximum turn while other webhooks wait for a claim. */
const shortTurnMs = 1000;

/** The webhooks that a worker may hold, shared by account and then by endpoint. */
export function createClaims(database: Database, most: number) {
  const shares = createShares(most);

  /** Chooses the webhooks that are next in turn. */
  function choose(ready: Set<ReadyWebhook>): Map<string, Holding> {
    const chosen = new Map<string, Holding>();
    for (let next = shares.next(ready); next !== undefined && chosen.size < mostTaken; next = shares.next(ready)) {
      ready.delete(next.seeker);
      chosen.set(next.seeker.endpoint, shares.take(next));
    }
    return chosen;
  }

  return {
    async take(options: ReadyOptions): Promise<Polled> {
      const ready = new Set(await findReady(database, options));
      const isCut = ready.size === mostReady;
      const chosen = choose(ready);
      const isFull = chosen.size === mostTaken;
      const taken: Claimed[] = [];
      try {
        for (const claimed of await claimLeases(database, [...chosen.keys()])) {
          const holding = chosen.get(claimed.webhookId);
          if (holding !== undefined) taken.push({ claimed, holding });
          chosen.delete(claimed.webhookId);
        }
      } finally {
        // Another worker was faster, or the database is down.
        for (const holding of chosen.values()) shares.free(holding);
      }
      return { taken, left: [...ready], isCut, isFull };
    },
    move: shares.move,
    free: shares.free,
    /** Leases that must end their turn because others wait: of the account with the most leases, the oldest first. */
    findCrowders(left: readonly Seeker[], held: readonly HeldLease[], nowMs: number): HeldLease[] {
      return [true, false].flatMap((isSlow) => {
        if (shares.hasRoom(isSlow)) return [];
        const inHalf = ({ lane }: { lane: Seeker['lane'] }) => (lane === 'slow') === isSlow;
        const holders = held.filter(({ holding }) => inHalf(holding));
        const ending = holders.filter(({ lease }) => lease.isEnding).length;
        const countOf = ({ holding }: HeldLease) => shares.countOf(holding.account, isSlow);
        return holders
          .filter(({ lease, begunAtMs }) => !lease.isEnding && nowMs - begunAtMs >= shortTurnMs)
          .sort((one, other) => countOf(other) - countOf(one) || one.begunAtMs - other.begunAtMs)
          .slice(0, Math.max(0, left.filter(inHalf).length - ending));
      });
    },
  };
}
