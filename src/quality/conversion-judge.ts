import { containsGroup } from '../messages/number-prefix.ts';
import { dayMs, hourMs } from '../platform/clock.ts';
import { type Counted, type HourCounts, type Suspicion, suspect } from './conversion.ts';
import { wholeApplication } from './conversion-count.ts';
import type { CountedApplication } from './conversion-store.ts';
import type { HoldRow } from './guard-hold-store.ts';

export interface JudgedGroup {
  scope: string;
  /** Its country; empty for ranges of none. */
  country: string;
}

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
  counts: ReadonlyMap<string, { hours: readonly HourCounts[]; days: readonly Counted[] }>;
  /** Otherwise suspicions are only reported. */
  mayAct: boolean;
}

/** A group to hold back, or to report. */
export interface Verdict extends JudgedGroup {
  suspicion: Suspicion;
  acts: boolean;
  /** A report that turns into a hold. */
  replaces: string | null;
}

export const holdLastsMs = 6 * hourMs;
const onlyReportedMs = 7 * dayMs;
/** Each node remembers the holds of an application, and looks at all of them in a start. */
const mostPrefixes = 200;

/** In its first week the service learns what is usual, and without an approval there is nothing to compare with. */
export function mayAct({ countedSinceMs, approvedSinceMs }: CountedApplication, nowMs: number): boolean {
  return approvedSinceMs !== null && nowMs - countedSinceMs >= onlyReportedMs;
}

/** Judges the smallest groups first; each without the groups in it that are held. */
export function judge(application: JudgedApplication): Verdict[] {
  const { nowMs, groups, holds, mayAct: acts } = application;
  const verdicts: Verdict[] = [];
  const isOpen = ({ untilMs, endedAtMs }: PastHold) => endedAtMs === null && untilMs > nowMs;
  const open = holds.filter(isOpen);
  for (const group of groups.toSorted((a, b) => sizeOf(a.scope) - sizeOf(b.scope))) {
    const same = open.find(({ scope }) => scope === group.scope);
    if (same !== undefined && (same.acts || !acts)) continue;
    // It is held already, together with others.
    if (open.some((hold) => hold.acts === acts && contains(hold.scope, group))) continue;
    const prefixes = [...open, ...verdicts].filter(({ scope }) => !isCountry(scope)).length;
    if (!isCountry(group.scope) && prefixes >= mostPrefixes) continue;
    const ended = holds.find((hold) => hold.scope === group.scope && !isOpen(hold));
    const suspicion = suspect({ nowMs, ...countsFor(application, group, verdicts), afterMs: evidenceAfter(ended) });
    if (suspicion !== undefined) verdicts.push({ ...group, suspicion, acts, replaces: same?.id ?? null });
  }
  return verdicts;
}

/** What came before an end was judged before: by the rule that made the hold, or by an operator. */
function evidenceAfter(ended: PastHold | undefined): number | null {
  if (ended === undefined) return null;
  return ended.endedBy === null ? ended.beganAtMs : ended.endedAtMs;
}

function countsFor(
  { counts, holds }: JudgedApplication,
  { scope, country }: JudgedGroup,
  verdicts: readonly Verdict[],
) {
  const daysOf = (of: string) => counts.get(of)?.days ?? [];
  const inside = [...holds, ...verdicts]
    .filter((each) => contains(scope, { scope: each.scope, country: each.country ?? '' }))
    .map((each) => each.scope);
  const outermost = new Set(inside.filter((each) => !inside.some((other) => containsGroup(other, each))));
  const without = new Map<number, Counted>();
  for (const held of outermost) {
    for (const { hourMs: at, numbers, approved } of counts.get(held)?.hours ?? []) {
      const sum = without.get(at) ?? { numbers: 0, approved: 0 };
      without.set(at, { numbers: sum.numbers + numbers, approved: sum.approved + approved });
    }
  }
  const hours = (counts.get(scope)?.hours ?? []).map(({ hourMs: at, numbers, approved }) => ({
    hourMs: at,
    numbers: Math.max(0, numbers - (without.get(at)?.numbers ?? 0)),
    approved: Math.max(0, approved - (without.get(at)?.approved ?? 0)),
  }));
  return { hours, days: daysOf(scope), countryDays: daysOf(country), applicationDays: daysOf(wholeApplication) };
}

/** The scopes whose counts are needed to judge these groups. */
export function scopesToRead(groups: readonly JudgedGroup[], holds: readonly PastHold[]): string[] {
  const inside = holds.filter((hold) =>
    groups.some(({ scope }) => contains(scope, { scope: hold.scope, country: hold.country ?? '' })),
  );
  const all = [...groups.flatMap(({ scope, country }) => [scope, country]), ...inside.map(({ scope }) => scope)];
  return [...new Set([...all, wholeApplication])];
}

function isCountry(scope: string): boolean {
  return !scope.startsWith('+');
}

/** Whether the scope is larger than the group and has all its numbers. */
function contains(scope: string, group: JudgedGroup): boolean {
  return isCountry(scope) ? group.scope !== scope && group.country === scope : containsGroup(scope, group.scope);
}

function sizeOf(scope: string): number {
  if (isCountry(scope)) return 2;
  return scope.endsWith('******') ? 1 : 0;
}
