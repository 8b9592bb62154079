import { containsGroup } from '../../messages/numbers/number-prefix.ts';
import { dayMs, hourMs } from '../../platform/clock.ts';
import type { HoldRow } from '../guard-hold-store.ts';
import { type ConversionConstants, conversionConstants } from './constants.ts';
import {
  type Counted,
  clientWindows,
  evidenceOf,
  type HourCounts,
  isStillAbused,
  type JudgedCounts,
  latestOf,
  type ScopeHistory,
  type Suspicion,
  sharesFor,
  suspect,
  unexplainedIn,
  usualNumbers,
} from './conversion.ts';
import { wholeApplication } from './count.ts';
import { contains, isClient, type JudgedGroup, scopeKindOf, scopeKinds } from './scope.ts';
import type { CountedApplication } from './store.ts';
import { createUserShares } from './users.ts';

export type PastHold = Pick<
  HoldRow,
  'id' | 'scope' | 'country' | 'acts' | 'beganAtMs' | 'untilMs' | 'endedAtMs' | 'endedBy'
>;

export interface JudgedApplication {
  nowMs: number;
  /** The groups that may be suspicious. */
  groups: readonly JudgedGroup[];
  /** The holds that are open or ended within a day, the newest first. */
  holds: readonly PastHold[];
  /** By scope: the last day by hour, and the last 28 days. */
  counts: ReadonlyMap<string, ScopeHistory>;
  /** False: suspicions are only reported. */
  mayAct: boolean;
  constants?: ConversionConstants;
}

/** A group to hold back, or to report. */
export interface Verdict extends JudgedGroup {
  suspicion: Suspicion;
  acts: boolean;
  /** The id of the earlier report that this hold replaces; null if there is none. */
  replaces: string | null;
}

export const holdLastsMs = 6 * hourMs;
/** A renewed hold of numbers lasts longer. What is known of a client must be gone a day after its start. */
export const renewedLastsMs = (scope: string) => (isClient(scope) ? holdLastsMs : dayMs);
/** A hold that ends within this time is judged again: a number that asks now is counted 10 minutes later. */
const renewedBeforeMs = hourMs;
const onlyReportedMs = 7 * dayMs;
/** Maximum number of holds of an application: each node keeps them in memory, and each start checks all of them. */
const mostPrefixes = 200;
const mostClients = 1000;

/** In its first week the service learns the usual rates, and without an approval there is nothing to compare with. */
export function mayAct({ countedSinceMs, approvedSinceMs }: CountedApplication, nowMs: number): boolean {
  return approvedSinceMs !== null && nowMs - countedSinceMs >= onlyReportedMs;
}

/** Judges the smallest groups first. A larger group is judged without the smaller groups that are already held back. */
export function judge(application: JudgedApplication): Verdict[] {
  const { nowMs, groups, holds, mayAct: acts } = application;
  const verdicts: Verdict[] = [];
  const open = openHolds(application);
  const ended = holds.filter((hold) => !isOpen(hold, nowMs));
  const sizeOf = ({ scope }: JudgedGroup) => scopeKinds.indexOf(scopeKindOf(scope));
  const measure = createMeasure(application);
  for (const group of groups.toSorted((a, b) => sizeOf(a) - sizeOf(b))) {
    const same = open.find(({ scope }) => scope === group.scope);
    if (same !== undefined && (same.acts || !acts)) continue;
    // A larger hold covers it already.
    if (open.some((hold) => hold.acts === acts && contains(hold.scope, group))) continue;
    if (isFull([...open, ...verdicts], group)) continue;
    const afterMs = evidenceAfter(ended, group);
    const suspicion = isClient(group.scope)
      ? measure.suspectClient(group, afterMs)
      : measure.suspectNumbers(group, afterMs, verdicts);
    if (suspicion !== undefined) verdicts.push({ ...group, suspicion, acts, replaces: same?.id ?? null });
  }
  return verdicts;
}

/** The open holds that are needed longer. */
export function renewals(application: JudgedApplication): PastHold[] {
  const { nowMs, counts } = application;
  const measure = createMeasure(application);
  const ending = openHolds(application).filter(({ acts, untilMs }) => acts && untilMs - nowMs <= renewedBeforeMs);
  return ending.filter(({ scope, country, beganAtMs }) => {
    const hours = counts.get(scope)?.hours ?? [];
    const facts = { nowMs, hours, afterMs: beganAtMs - hourMs, ...measure.usualOf({ scope, country: country ?? '' }) };
    return isStillAbused(facts, application.constants ?? conversionConstants);
  });
}

function openHolds({ holds, nowMs }: JudgedApplication): PastHold[] {
  return holds.filter((hold) => isOpen(hold, nowMs));
}

function isOpen({ untilMs, endedAtMs }: PastHold, nowMs: number): boolean {
  return endedAtMs === null && untilMs > nowMs;
}

function isFull(held: readonly { scope: string }[], { scope }: JudgedGroup): boolean {
  if (isClient(scope)) return held.filter((each) => isClient(each.scope)).length >= mostClients;
  return scope.startsWith('+') && held.filter((each) => each.scope.startsWith('+')).length >= mostPrefixes;
}

/** Numbers before the end of a hold were judged already, by the rule that made the hold or by a person. */
function evidenceAfter(ended: readonly PastHold[], group: JudgedGroup): number | null {
  const same = ended.find(({ scope, endedBy }) => scope === group.scope && endedBy === null);
  const byPersons = ended.filter(
    ({ scope, endedBy }) => endedBy !== null && (scope === group.scope || contains(scope, group)),
  );
  const times = [...(same === undefined ? [] : [same.beganAtMs]), ...byPersons.map(({ endedAtMs }) => endedAtMs ?? 0)];
  return times.length === 0 ? null : Math.max(...times);
}

/** The rules, with the usual rates of the application. */
function createMeasure(application: JudgedApplication) {
  const { nowMs, holds, counts, constants = conversionConstants } = application;
  const daysOf = (scope: string) => counts.get(scope)?.days ?? [];
  const hoursOf = (scope: string) => counts.get(scope)?.hours ?? [];
  const applicationDays = daysOf(wholeApplication);
  const users = createUserShares(application, constants);
  const abuse = new Map<string, boolean>();

  const usualOf = ({ scope, country }: JudgedGroup) => {
    const shares = sharesFor(applicationDays, daysOf(country), constants);
    if (isClient(scope)) return { usual: 0, shares };
    const own = usualNumbers(daysOf(scope), applicationDays);
    const around = usualNumbers(daysOf(country), applicationDays) * users.leastPartOf(scope);
    return { usual: Math.max(own, around), shares };
  };

  /** Whether enough numbers of a country are unexplained that each small group in it needs less evidence. */
  function isAbused(country: string): boolean {
    const known = abuse.get(country);
    if (known !== undefined) return known;
    const facts = { nowMs, hours: hoursOf(country), ...usualOf({ scope: country, country }) };
    const isUnexplained = unexplainedIn(facts, constants).some(
      ({ unexplained, numbers }) =>
        unexplained >= constants.unexplained && unexplained >= constants.unexplainedPart * numbers,
    );
    const prefixes = openHolds(application).filter((hold) => hold.acts && contains(country, toGroup(hold)));
    const result = country !== '' && (isUnexplained || prefixes.length >= constants.heldGroups);
    abuse.set(country, result);
    return result;
  }

  const clientsAreAbused =
    openHolds(application).filter((hold) => hold.acts && isClient(hold.scope)).length >= constants.heldGroups;

  function evidenceFor({ scope, country }: JudgedGroup): number {
    const kind = scopeKindOf(scope);
    if (kind === 'country' || kind === 'wide_prefix') return constants.evidenceOfSpread;
    const isLess = isAbused(country) || (isClient(scope) && clientsAreAbused);
    if (isLess) return constants.evidenceInAbuse;
    return kind === 'address' ? constants.evidenceOfAddress : constants.evidence;
  }

  return {
    usualOf,
    suspectClient(group: JudgedGroup, afterMs: number | null): Suspicion | undefined {
      const hours = hoursOf(group.scope);
      if (users.isTooManyBehind(group.scope)) return undefined;
      const evidence = evidenceFor(group);
      const { shares } = usualOf(group);
      // If all other groups fail as well, texts are being lost.
      if (evidence > constants.evidenceInAbuse && evidenceOf(restOf(hours), shares) > 0) return undefined;
      return suspect({ nowMs, hours, afterMs, usual: 0, shares, evidence, windows: clientWindows }, constants);
    },
    suspectNumbers(group: JudgedGroup, afterMs: number | null, verdicts: readonly Verdict[]): Suspicion | undefined {
      const all = hoursOf(group.scope);
      const inside = [...holds, ...verdicts].map(toGroup).filter((each) => contains(group.scope, each));
      const rest = withoutGroups(all, inside, hoursOf);
      const facts = { nowMs, afterMs, ...usualOf(group), evidence: evidenceFor(group) };
      const isSpread = new Set(inside.map(({ scope }) => scope)).size >= constants.heldGroups;
      const suspicion = suspect({ ...facts, hours: isSpread ? all : rest }, constants);
      if (suspicion === undefined || users.mayHold(group, verdicts)) return suspicion;
      if (scopeKindOf(group.scope) !== 'country' || !isLastResort(rest, facts)) return undefined;
      return suspect({ ...facts, hours: rest }, constants);
    },
  };

  /** Recent numbers of all other groups. */
  function restOf(hours: readonly HourCounts[]): Counted {
    const [all, own] = [latestOf(hoursOf(wholeApplication), nowMs), latestOf(hours, nowMs)];
    return { numbers: Math.max(0, all.numbers - own.numbers), approved: Math.max(0, all.approved - own.approved) };
  }

  /** Smaller holds leave too much abuse, so a larger hold is needed although it affects users. */
  function isLastResort(
    rest: readonly HourCounts[],
    { usual, shares }: Pick<JudgedCounts, 'usual' | 'shares'>,
  ): boolean {
    const most = Math.max(constants.lastResort, constants.lastResortDays * usual);
    return unexplainedIn({ nowMs, hours: rest, usual, shares }, constants).some(
      ({ unexplained }) => unexplained >= most,
    );
  }
}

const toGroup = ({ scope, country }: { scope: string; country: string | null }): JudgedGroup => ({
  scope,
  country: country ?? '',
});

/** The hours of a group without the groups in it that are held or were held within a day. */
function withoutGroups(
  hours: readonly HourCounts[],
  inside: readonly JudgedGroup[],
  hoursOf: (scope: string) => readonly HourCounts[],
): HourCounts[] {
  const scopes = inside.map(({ scope }) => scope);
  const outermost = new Set(scopes.filter((each) => !scopes.some((other) => containsGroup(other, each))));
  const taken = new Map<number, Omit<HourCounts, 'hourMs'>>();
  for (const scope of outermost) {
    for (const { hourMs: at, numbers, approved, held } of hoursOf(scope)) {
      const sum = taken.get(at) ?? { numbers: 0, approved: 0, held: 0 };
      taken.set(at, { numbers: sum.numbers + numbers, approved: sum.approved + approved, held: sum.held + held });
    }
  }
  return hours.map(({ hourMs: at, numbers, approved, held }) => ({
    hourMs: at,
    numbers: Math.max(0, numbers - (taken.get(at)?.numbers ?? 0)),
    approved: Math.max(0, approved - (taken.get(at)?.approved ?? 0)),
    held: Math.max(0, held - (taken.get(at)?.held ?? 0)),
  }));
}

/** The scopes whose counts are needed to judge these groups, all held groups of numbers included. */
export function scopesToRead(groups: readonly JudgedGroup[], holds: readonly PastHold[]): string[] {
  const held = holds.map(toGroup).filter(({ scope }) => !isClient(scope));
  const all = [...groups, ...held].flatMap(({ scope, country }) => [scope, country]);
  return [...new Set([...all, wholeApplication])];
}
