import type { HoldRow } from '../guard-hold-store.ts';
import type { ConversionConstants } from './constants.ts';
import { type ScopeHistory, sumOf } from './conversion.ts';
import { wholeApplication } from './count.ts';
import { contains, isClient, type JudgedGroup, type ScopeKind, scopeKindOf } from './scope.ts';

/** A cautious guess of a prefix's fraction of its country's users, if its own days are not kept. */
const leastParts: Partial<Record<ScopeKind, number>> = { prefix: 1 / 5000, wide_prefix: 1 / 50, country: 1 };
/** From this many approvals on, many people may share a client. */
const sharedFrom = 5;

export interface UsersOfApplication {
  nowMs: number;
  counts: ReadonlyMap<string, ScopeHistory>;
  holds: readonly Pick<HoldRow, 'scope' | 'country' | 'acts' | 'untilMs' | 'endedAtMs'>[];
}

/** The fraction of an application's users that a hold would cover: the guard must not become a weapon against them. */
export function createUserShares(application: UsersOfApplication, { mostOfUsers }: ConversionConstants) {
  const { counts, holds, nowMs } = application;
  const daysOf = (scope: string) => counts.get(scope)?.days ?? [];
  const all = Math.max(1, sumOf(daysOf(wholeApplication)).approved);
  const ofDay = all / Math.max(1, daysOf(wholeApplication).length);
  const approvedNow = ({ hours }: ScopeHistory) => sumOf(hours).approved;

  const leastPartOf = (scope: string) => leastParts[scopeKindOf(scope)] ?? 0;

  function partOf({ scope, country }: JudgedGroup): number {
    const own = sumOf(daysOf(scope)).approved / all;
    return Math.max(own, (leastPartOf(scope) * sumOf(daysOf(country)).approved) / all);
  }

  return {
    leastPartOf,
    /** Whether the holds then cover few enough users. Half of the allowed fraction is reserved for small prefixes. */
    mayHold(group: JudgedGroup, others: readonly JudgedGroup[]): boolean {
      const open = holds
        .filter(({ acts, endedAtMs, untilMs }) => acts && endedAtMs === null && untilMs > nowMs)
        .map(({ scope, country }) => ({ scope, country: country ?? '' }));
      const held = [...open, ...others].filter(({ scope }) => !isClient(scope));
      const outside = held.filter((each) => !contains(group.scope, each));
      const outermost = outside.filter((each) => !outside.some((other) => contains(other.scope, each)));
      const most = isLarge(group) ? mostOfUsers / 2 : mostOfUsers;
      const counted = isLarge(group) ? outermost.filter(isLarge) : outermost;
      return counted.reduce((sum, each) => sum + partOf(each), partOf(group)) <= most;
    },
    /** A client such as the address of a network, or of the application's own server, has many people behind it. */
    isTooManyBehind(scope: string): boolean {
      const approved = approvedNow(counts.get(scope) ?? { hours: [], days: [] });
      const lately = approvedNow(counts.get(wholeApplication) ?? { hours: [], days: [] });
      return approved >= sharedFrom && approved > (mostOfUsers / 2) * Math.max(ofDay, lately);
    },
  };
}

const isLarge = ({ scope }: JudgedGroup) => scopeKindOf(scope) !== 'prefix';
