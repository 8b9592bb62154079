import { dayMs, hourMs } from '../../platform/clock.ts';
import type { ConversionConstants } from './constants.ts';
import { wilson } from './wilson.ts';

/** Numbers that got a code, and those of them that typed one in. */
export interface Counted {
  numbers: number;
  approved: number;
}

export interface HourCounts extends Counted {
  hourMs: number;
  /** Numbers that were held back, and got no code. */
  held: number;
}

/** The last day of a group by hour, and its last 28 days. */
export interface ScopeHistory {
  hours: readonly HourCounts[];
  days: readonly Counted[];
}

/** The approval rates that distinguish honest numbers from abuse. */
export interface Shares {
  /** The least approval rate of an honest group. */
  least: number;
  /** The evidence for abuse of a number without an approval, and of one with it: logarithms of odds. */
  miss: number;
  hit: number;
}

/** Why a group is held back. */
export interface Suspicion extends Counted {
  /** The least approval rate that it should have. */
  leastShare: number;
}

export const historyDays = 28;
/** A country that was always bad is still suspected below this rate. */
const floor = 0.1;
/** The rate of fewer numbers is not significant. */
const fewestNumbers = 30;

/** The last hours, and the fraction of a day's numbers that they may have. */
export interface Window {
  hours: number;
  part: number;
}
const shortest: Window = { hours: 2, part: 0.18 };
const windows: readonly Window[] = [shortest, { hours: 6, part: 0.5 }, { hours: 24, part: 1 }];
/** A hold that was renewed before has a longer time. */
const renewalWindow: Window = { hours: 6, part: 0.5 };
/** Clients are deleted a day after their start: a hold may use 16 hours of a client's history for 6 more hours. */
export const clientWindows: readonly Window[] = [{ hours: 16, part: 1 }];
export const longestWindowMs = 24 * hourMs;
/** A day, and the same two hours of the day before. */
export const hoursReadMs = 26 * hourMs;

/**
 * The expected approval rates of honest numbers and of abuse in a country, from the usual rates there and in the whole
 * application.
 */
export function sharesFor(
  applicationDays: readonly Counted[],
  countryDays: readonly Counted[],
  constants: ConversionConstants,
): Shares {
  const { leastOfKnown, leastOfOther, knownNumbers, abusedPart } = constants;
  const application = sumOf(betterHalf(applicationDays));
  const country = sumOf(betterHalf(countryDays));
  const whole = application.approved === 0 ? undefined : lowestShare(application);
  const own = country.numbers < knownNumbers ? undefined : lowestShare(country);
  const least = own === undefined ? leastOfOther * (whole ?? 0) : leastOfKnown * Math.min(own, whole ?? own);
  return weigh(Math.max(floor, least), abusedPart);
}

function weigh(least: number, abusedPart: number): Shares {
  const abused = abusedPart * least;
  return { least, miss: Math.log((1 - abused) / (1 - least)), hit: Math.log(abused / least) };
}

/** The evidence for abuse; negative evidence speaks against it. */
export function evidenceOf({ numbers, approved }: Counted, { miss, hit }: Shares): number {
  return (numbers - approved) * miss + approved * hit;
}

/** Whether there are more numbers than usual: an outage loses approvals, but brings no more numbers. */
export function isSurge(numbers: number, usual: number, { surge, surgeEvidence }: ConversionConstants): boolean {
  if (numbers <= surge * usual) return false;
  return usual === 0 || numbers * Math.log(numbers / usual) - (numbers - usual) >= surgeEvidence;
}

export interface JudgedCounts {
  nowMs: number;
  hours: readonly HourCounts[];
  /** After the end of a hold, only later hours count. */
  afterMs: number | null;
  /** The numbers of a busy day. */
  usual: number;
  shares: Shares;
  /** The evidence that is needed. */
  evidence: number;
  windows?: readonly Window[];
}

/** Whether a group looks like pumping: more numbers than usual, and hardly one types its code in. */
export function suspect(facts: JudgedCounts, constants: ConversionConstants): Suspicion | undefined {
  const { nowMs, hours, afterMs, usual, shares, evidence } = facts;
  for (const window of facts.windows ?? windows) {
    const { numbers, approved } = countIn(hours, window, nowMs, afterMs);
    if (evidenceOf({ numbers, approved }, shares) < evidence) continue;
    if (isSurge(numbers, window.part * usual, constants)) return { numbers, approved, leastShare: shares.least };
  }
  return undefined;
}

/** The maximum over windows of numbers that neither approvals nor a busy day explain, with all numbers of that window. */
export function unexplainedIn(
  { nowMs, hours, usual, shares }: Pick<JudgedCounts, 'nowMs' | 'hours' | 'usual' | 'shares'>,
  { usualTimes, yesterdayTimes }: ConversionConstants,
): { unexplained: number; numbers: number }[] {
  return windows.map((window) => {
    const { numbers, approved, held } = countIn(hours, window, nowMs, null);
    const busy = usualTimes * window.part * usual;
    const yesterday = window === shortest ? numbersOfYesterday(hours, nowMs) : 0;
    const asUsual = yesterday > 0 ? Math.min(busy, yesterdayTimes * yesterday) : busy;
    const explained = Math.max(approved / shares.least, asUsual);
    return { unexplained: Math.max(0, numbers + held - explained), numbers: numbers + held };
  });
}

/**
 * The numbers in the same two hours of yesterday. Approvals are not used: texts that were lost yesterday would make today
 * look abused.
 */
function numbersOfYesterday(hours: readonly HourCounts[], nowMs: number): number {
  const toMs = hourOf(nowMs) - dayMs;
  const same = hours.filter((each) => each.hourMs <= toMs && each.hourMs > toMs - shortest.hours * hourMs);
  return sumOf(same).numbers;
}

/**
 * Whether to renew a hold that ends soon: more numbers than usual still ask for a code. Without a usual rate, the numbers
 * that passed must also not look honest; with one they say little, because most were approved before.
 */
export function isStillAbused(
  facts: Omit<JudgedCounts, 'evidence' | 'windows'>,
  constants: ConversionConstants,
): boolean {
  const { nowMs, hours, usual, shares, afterMs } = facts;
  const { numbers, approved, held } = countIn(hours, renewalWindow, nowMs, afterMs);
  if (numbers + held < constants.renewing + renewalWindow.part * usual) return false;
  return usual > 0 || evidenceOf({ numbers, approved }, shares) >= -constants.evidenceInAbuse;
}

/** The last two hours. */
export const latestOf = (hours: readonly HourCounts[], nowMs: number): Counted => countIn(hours, shortest, nowMs, null);

function countIn(hours: readonly HourCounts[], window: Window, nowMs: number, afterMs: number | null) {
  const fromMs = hourOf(nowMs) - (window.hours - 1) * hourMs;
  let [numbers, approved, held] = [0, 0, 0];
  for (const each of hours) {
    if (each.hourMs < fromMs || (afterMs !== null && each.hourMs <= hourOf(afterMs))) continue;
    numbers += each.numbers;
    approved += each.approved;
    held += each.held;
  }
  return { numbers, approved, held };
}

/** The numbers of a busy day. An attack brings numbers but no approvals, so they are derived from approvals. */
export function usualNumbers(days: readonly Counted[], applicationDays: readonly Counted[]): number {
  const application = sumOf(betterHalf(applicationDays));
  const busiest = days.reduce((most, { approved }) => Math.max(most, approved), 0);
  return busiest === 0 ? 0 : (busiest * application.numbers) / Math.max(1, application.approved);
}

/** The lower bound of the approval rate; undefined for too few numbers. */
function lowestShare({ numbers, approved }: Counted): number | undefined {
  return numbers < fewestNumbers ? undefined : wilson(approved, numbers)?.low;
}

/** Uses the better half of the days, so that some days of an attack do not become the usual rate. */
function betterHalf(days: readonly Counted[]): readonly Counted[] {
  const used = days.filter(({ numbers }) => numbers > 0);
  const best = used.toSorted((a, b) => b.approved / b.numbers - a.approved / a.numbers);
  return best.slice(0, Math.ceil(best.length / 2));
}

export function sumOf(counts: readonly Counted[]): Counted {
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
