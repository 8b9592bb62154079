import { createBoundedMap } from '../platform/bounded-map.ts';
import type { Lane } from './pace.ts';

/** An endpoint that waits for a claim or for a call. */
export interface Seeker {
  account: string;
  endpoint: string;
  readonly lane: Lane;
}

/** A claim or a call of an endpoint. */
export interface Holding {
  readonly account: string;
  readonly endpoint: string;
  lane: Lane;
  /** The endpoint became slow after this began in the half for quick endpoints. */
  isOverdrawn: boolean;
}

/** An endpoint whose turn it is, and the lane in which it begins. */
export interface Turn<Kind extends Seeker = Seeker> {
  seeker: Kind;
  lane: Lane;
}

interface Counts extends Record<Lane, number> {
  overdrawn: number;
}

/** Calls that become slow leave the quick half, so the total may exceed the limit by at most this factor. */
const mostOverdraft = 3;
/** Accounts whose last turn is remembered. */
const remembered = 10_000;

/**
 * Divides the limited claims or calls of a worker by account, then by endpoint, in turns. Decision 0017 has the rules
 * and the reasons.
 */
export function createShares(most: number) {
  const partOf = (part: number) => Math.max(1, Math.floor(most / part));
  const [half, quarter, eighth, sixteenth] = [partOf(2), partOf(4), partOf(8), partOf(16)];
  const all = noCounts();
  const accounts = new Map<string, Counts>();
  const endpoints = new Map<string, number>();
  const servedAt = createBoundedMap<string, number>(remembered);
  let turn = 0;

  function count({ account, endpoint, lane, isOverdrawn }: Holding, by: 1 | -1): void {
    const own = accounts.get(account) ?? noCounts();
    accounts.set(account, own);
    for (const counts of [all, own]) {
      counts[lane] += by;
      if (isOverdrawn) counts.overdrawn += by;
    }
    endpoints.set(endpoint, (endpoints.get(endpoint) ?? 0) + by);
    if (endpoints.get(endpoint) === 0) endpoints.delete(endpoint);
    if (totalOf(own) === 0) accounts.delete(account);
  }

  const countsOf = (account: string) => accounts.get(account) ?? noCounts();
  const hasRoom = (isSlow: boolean): boolean => {
    if (totalOf(all) >= most * mostOverdraft) return false;
    if (isSlow) return all.slow < half && totalOf(all) < most;
    return all.new + all.quick < Math.max(half, most - all.slow);
  };

  function maySlow(account: string, othersWait: boolean): boolean {
    const own = countsOf(account);
    if (!hasRoom(true) || (othersWait && totalOf(own) >= quarter)) return false;
    // The slow endpoints of an account leave room for its quick ones.
    return !othersWait || own.slow < eighth;
  }

  function mayQuick(account: string, othersWait: boolean): boolean {
    const own = countsOf(account);
    if (!hasRoom(false) || (othersWait && totalOf(own) >= quarter)) return false;
    return own.overdrawn < sixteenth;
  }

  /** New endpoints get at most a quarter in all. An account without a share does not wait for new endpoints of others. */
  function mayTryOut(account: string, othersWait: boolean): boolean {
    const own = countsOf(account);
    if (!mayQuick(account, othersWait) || own.new + own.overdrawn >= sixteenth) return false;
    return all.new < quarter || totalOf(own) === 0;
  }

  /** The lane in which it may have one more; undefined if none. A new endpoint may also begin in the slow half. */
  function laneFor({ account, lane }: Seeker, waiting: Waiting): Lane | undefined {
    if (lane === 'quick') return mayQuick(account, waiting.quick.hasOther(account)) ? 'quick' : undefined;
    if (lane === 'new' && mayTryOut(account, waiting.quick.hasOther(account))) return 'new';
    return maySlow(account, waiting.slow.hasOther(account)) ? 'slow' : undefined;
  }

  /**
   * The account with the fewest comes first; then the one whose last turn was longest ago; then the endpoint with the
   * fewest.
   */
  function isBefore(one: Turn, other: Turn): boolean {
    const fewer = inHalf(countsOf(one.seeker.account), one.lane) - inHalf(countsOf(other.seeker.account), other.lane);
    if (fewer !== 0) return fewer < 0;
    const earlier = (servedAt.get(one.seeker.account) ?? 0) - (servedAt.get(other.seeker.account) ?? 0);
    if (earlier !== 0) return earlier < 0;
    return (endpoints.get(one.seeker.endpoint) ?? 0) < (endpoints.get(other.seeker.endpoint) ?? 0);
  }

  return {
    /** The next turn, the first of equals; undefined if none of them may have more now. */
    next<Kind extends Seeker>(seekers: Iterable<Kind>): Turn<Kind> | undefined {
      const waiting = { quick: createAccounts(), slow: createAccounts() };
      for (const { account, lane } of seekers) waiting[lane === 'slow' ? 'slow' : 'quick'].add(account);
      let best: Turn<Kind> | undefined;
      for (const seeker of seekers) {
        const lane = laneFor(seeker, waiting);
        if (lane === undefined) continue;
        const turn = { seeker, lane };
        if (best === undefined || isBefore(turn, best)) best = turn;
      }
      return best;
    },
    take({ seeker: { account, endpoint }, lane }: Turn): Holding {
      const holding: Holding = { account, endpoint, lane, isOverdrawn: false };
      count(holding, 1);
      servedAt.set(account, ++turn);
      return holding;
    },
    /** The endpoint has proved quick or slow. */
    move(holding: Holding, lane: Lane): void {
      if (holding.lane === lane) return;
      count(holding, -1);
      holding.isOverdrawn = lane === 'slow';
      holding.lane = lane;
      count(holding, 1);
    },
    free(holding: Holding): void {
      count(holding, -1);
    },
    hasRoom,
    /** The number of slow or of other shares of an account. */
    countOf: (account: string, isSlow: boolean): number => inHalf(countsOf(account), isSlow ? 'slow' : 'quick'),
  };
}

function noCounts(): Counts {
  return { new: 0, quick: 0, slow: 0, overdrawn: 0 };
}

function totalOf(counts: Counts): number {
  return counts.new + counts.quick + counts.slow;
}

interface Waiting {
  quick: Accounts;
  slow: Accounts;
}

type Accounts = ReturnType<typeof createAccounts>;

/** Waiting accounts. Only whether there is another one matters. */
function createAccounts() {
  let first: string | undefined;
  let areSeveral = false;
  return {
    add(account: string): void {
      first ??= account;
      areSeveral ||= account !== first;
    },
    hasOther: (account: string): boolean => areSeveral || (first !== undefined && first !== account),
  };
}

function inHalf(counts: Counts, lane: Lane): number {
  return lane === 'slow' ? counts.slow : counts.new + counts.quick;
}
