import { narrowGroupOf, wideGroupOf } from '../messages/number-prefix.ts';
import { hourMs } from '../platform/clock.ts';
import { type Counted, hourOf } from './conversion.ts';

/** A code that is over, and reached its phone as far as we know. */
export interface CountedCode {
  /** A uuid. */
  applicationId: string;
  to: string;
  startedAtMs: number;
  approved: boolean;
}

/** A number of an application, as it is remembered for a day. */
export interface KnownNumber {
  applicationId: string;
  /** Its keyed hash, in hex. */
  number: string;
  /** Of its newest code. */
  hourMs: number;
  approved: boolean;
}

/** A number that got codes, with the scopes that it counts in. */
export interface CountedNumber extends KnownNumber {
  scopes: readonly string[];
  country: string;
}

export interface SumChange extends Counted {
  applicationId: string;
  scope: string;
  hourMs: number;
}

/** The scope of a whole application. */
export const wholeApplication = '';
/** A number counts once in this time, in the hour of its newest code. */
export const numberLastsMs = 24 * hourMs;

/** The groups that a number belongs to, the smallest first. A satellite belongs to no country. */
export function scopesOf(to: string, country: string): string[] {
  return [narrowGroupOf(to), wideGroupOf(to), ...(country === '' ? [] : [country]), wholeApplication];
}

/** One entry for each application and number: its newest hour, and whether any of its codes was approved. */
export function distinctNumbers(
  codes: readonly CountedCode[],
  hashOf: (to: string) => string,
  countryOf: (to: string) => string,
): CountedNumber[] {
  const found = new Map<string, CountedNumber>();
  for (const { applicationId, to, startedAtMs, approved } of codes) {
    const number = hashOf(to);
    const id = `${applicationId} ${number}`;
    const before = found.get(id);
    const country = before?.country ?? countryOf(to);
    found.set(id, {
      applicationId,
      number,
      country,
      scopes: before?.scopes ?? scopesOf(to, country),
      hourMs: Math.max(before?.hourMs ?? 0, hourOf(startedAtMs)),
      approved: approved || before?.approved === true,
    });
  }
  return [...found.values()];
}

/** What a number is after more codes. One that was quiet for a day begins anew. */
export function afterCodes(known: KnownNumber | undefined, given: CountedNumber): CountedNumber {
  if (known === undefined || !isRemembered(known, given)) return given;
  return { ...given, hourMs: Math.max(known.hourMs, given.hourMs), approved: known.approved || given.approved };
}

/** How the sums change: a number leaves the hour in which it was, and counts in that of its newest code. */
export function sumChanges(known: KnownNumber | undefined, given: CountedNumber): SumChange[] {
  const now = afterCodes(known, given);
  const { applicationId } = given;
  return given.scopes.flatMap((scope) => {
    const enters = { applicationId, scope, hourMs: now.hourMs, numbers: 1, approved: Number(now.approved) };
    if (known === undefined || !isRemembered(known, given)) return [enters];
    return [{ ...enters, hourMs: known.hourMs, numbers: -1, approved: -Number(known.approved) }, enters];
  });
}

function isRemembered(known: KnownNumber, given: KnownNumber): boolean {
  return Math.abs(given.hourMs - known.hourMs) < numberLastsMs;
}

/** Adds up changes of the same row, and leaves out those that change nothing. */
export function addUp(changes: readonly SumChange[]): SumChange[] {
  const sums = new Map<string, SumChange>();
  for (const change of changes) {
    const id = `${change.applicationId} ${change.scope} ${change.hourMs}`;
    const sum = sums.get(id);
    if (sum === undefined) sums.set(id, { ...change });
    else {
      sum.numbers += change.numbers;
      sum.approved += change.approved;
    }
  }
  return [...sums.values()].filter(({ numbers, approved }) => numbers !== 0 || approved !== 0);
}
