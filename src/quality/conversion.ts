import { hourMs } from '../platform/clock.ts';
import { wilson } from './wilson.ts';

/** Numbers that got a code, and those of them that typed one in. */
export interface Counted {
  numbers: number;
  approved: number;
}

export interface HourCounts extends Counted {
  hourMs: number;
}

/** What is known of a group of numbers of an application: a prefix or a country. */
export interface ConversionFacts {
  nowMs: number;
  /** Of the last 24 hours, without the groups in it that are held back. */
  hours: readonly HourCounts[];
  /** After an end of a hold, only later hours count. */
  afterMs: number | null;
  /** The last 28 days of the group, of its country and of the whole application. */
  days: readonly Counted[];
  countryDays: readonly Counted[];
  applicationDays: readonly Counted[];
}

/** Why a group is held back. */
export interface Suspicion extends Counted {
  /** The share of approvals that it should have at least. */
  leastShare: number;
}

export const enoughNumbers = 30;
export const historyDays = 28;
/** So much worse than usual is no chance and no bad route. */
const partOfUsual = 1 / 3;
/** A country that was always bad is still suspected below this share. */
const floor = 0.1;
/** So many times the usual number: an outage loses approvals, but brings no more numbers. */
const surge = 2;

/** The last hours, and the part of a day's numbers that they may have. */
const windows = [
  { hours: 2, part: 0.25 },
  { hours: 6, part: 0.5 },
  { hours: 24, part: 1 },
] as const;
export const longestWindowMs = 24 * hourMs;

/** No share at or above this one is ever suspicious. */
export const highestLeastShare = partOfUsual;

/** Whether a group looks like pumping: many numbers, more than usual, and hardly one types its code in. */
export function suspect(facts: ConversionFacts): Suspicion | undefined {
  const { nowMs, hours, afterMs, days } = facts;
  const application = sumOf(betterHalf(facts.applicationDays));
  const leastShare = leastShareFor(application, sumOf(betterHalf(facts.countryDays)));
  const usual = usualNumbers(days, application);
  for (const { hours: length, part } of windows) {
    const fromMs = hourOf(nowMs) - (length - 1) * hourMs;
    const counted = hours.filter(
      (each) => each.hourMs >= fromMs && (afterMs === null || each.hourMs > hourOf(afterMs)),
    );
    const { numbers, approved } = sumOf(counted);
    const share = wilson(approved, numbers);
    if (share === undefined || numbers < enoughNumbers) continue;
    if (share.high < leastShare && numbers > surge * part * usual) return { numbers, approved, leastShare };
  }
  return undefined;
}

/** A third of what is usual: of the application, or of a country that was always worse. Without a history, the floor. */
function leastShareFor(application: Counted, country: Counted): number {
  const whole = lowestShare(application);
  if (whole === undefined || application.approved === 0) return floor;
  const own = lowestShare(country) ?? whole;
  return Math.min(partOfUsual * whole, Math.max(floor, partOfUsual * own));
}

/** An attack brings numbers but no approvals, so what is usual is derived from approvals. */
function usualNumbers(days: readonly Counted[], application: Counted): number {
  const busiest = days.reduce((most, { approved }) => Math.max(most, approved), 0);
  return busiest === 0 ? 0 : (busiest * application.numbers) / Math.max(1, application.approved);
}

/** The lower bound; undefined for too few numbers. */
function lowestShare({ numbers, approved }: Counted): number | undefined {
  return numbers < enoughNumbers ? undefined : wilson(approved, numbers)?.low;
}

/** The better half of the days: some days of an attack do not become the measure. */
function betterHalf(days: readonly Counted[]): readonly Counted[] {
  const used = days.filter(({ numbers }) => numbers > 0);
  const best = used.toSorted((a, b) => b.approved / b.numbers - a.approved / a.numbers);
  return best.slice(0, Math.ceil(best.length / 2));
}

function sumOf(counts: readonly Counted[]): Counted {
  let [numbers, approved] = [0, 0];
  for (const each of counts) {
    numbers += each.numbers;
    approved += each.approved;
  }
  return { numbers, approved };
}

export function hourOf(atMs: number): number {
  return atMs - (atMs % hourMs);
}
