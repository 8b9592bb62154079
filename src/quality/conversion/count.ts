import { narrowGroupOf, prefixOf, wideGroupOf } from '../../messages/numbers/number-prefix.ts';
import { hourMs } from '../../platform/clock.ts';
import { type Counted, hourOf } from './conversion.ts';

/** A code whose verification has ended, and that reached its phone as far as we know. */
export interface CountedCode {
  /** A uuid. */
  applicationId: string;
  to: string;
  startedAtMs: number;
  approved: boolean;
  /** The start was held back: no code was sent. */
  held?: boolean;
  /** The groups of its client; undefined or empty if the application reported none. */
  clients?: readonly string[];
}

/** A number of an application, as it is remembered for a day. */
export interface KnownNumber {
  applicationId: string;
  /** The keyed hash of the number, in hex. */
  number: string;
  /** The hour of its newest start. */
  hourMs: number;
  approved: boolean;
  /** It was held back each time, and got no code. */
  held: boolean;
  /** The number without its last four digits. */
  prefix: string;
  /** The groups of its newest client. */
  clients: readonly string[];
  /** The held client that it came through: it then does not count for larger groups, its prefix and its country. */
  apart: string | null;
}

/** A number that got codes or was held back, with the groups of numbers that it belongs to. */
export interface CountedNumber extends KnownNumber {
  scopes: readonly string[];
  country: string;
}

export interface SumChange extends Counted {
  applicationId: string;
  scope: string;
  hourMs: number;
  held: number;
}

/** The scope of a whole application. */
export const wholeApplication = '';
/** A number counts once in this time, in the hour of its newest code. */
export const numberLastsMs = 24 * hourMs;

/** The groups that a number belongs to, the smallest first. A satellite belongs to no country. */
export function scopesOf(to: string, country: string): string[] {
  return [narrowGroupOf(to), wideGroupOf(to), ...(country === '' ? [] : [country]), wholeApplication];
}

/** One entry for each application and number: its newest hour, and the results of its starts. */
export function distinctNumbers(
  codes: readonly CountedCode[],
  hashOf: (to: string) => string,
  countryOf: (to: string) => string,
): CountedNumber[] {
  const found = new Map<string, CountedNumber>();
  for (const { applicationId, to, startedAtMs, approved, held = false, clients = [] } of codes) {
    const number = hashOf(to);
    const id = `${applicationId} ${number}`;
    const before = found.get(id);
    const country = before?.country ?? countryOf(to);
    const atMs = hourOf(startedAtMs);
    found.set(id, {
      applicationId,
      number,
      country,
      prefix: prefixOf(to),
      scopes: before?.scopes ?? scopesOf(to, country),
      hourMs: Math.max(before?.hourMs ?? 0, atMs),
      approved: approved || before?.approved === true,
      held: held && before?.held !== false,
      clients: before === undefined || atMs >= before.hourMs ? clients : before.clients,
      apart: null,
    });
  }
  return [...found.values()];
}

/** Updates a number by further starts. A number without a start for a day begins anew. */
export function afterCodes(known: KnownNumber | undefined, given: CountedNumber): CountedNumber {
  if (known === undefined || !isRemembered(known, given)) return given;
  return {
    ...given,
    hourMs: Math.max(known.hourMs, given.hourMs),
    approved: known.approved || given.approved,
    held: known.held && given.held,
    clients: given.hourMs >= known.hourMs ? given.clients : known.clients,
  };
}

/** How the sums change: a number leaves the hour and groups in which it was, and counts in those of its newest start. */
export function sumChanges(known: KnownNumber | undefined, given: CountedNumber): SumChange[] {
  const now = afterCodes(known, given);
  const enters = changesOf(now, given.scopes, 1);
  if (known === undefined || !isRemembered(known, given)) return enters;
  return [...changesOf(known, given.scopes, -1), ...enters];
}

/** A number whose client is held back from now on no longer counts in its prefix and country. */
export function changesOfApart(known: KnownNumber, apart: string, scopes: readonly string[]): SumChange[] {
  return [...changesOf(known, scopes, -1), ...changesOf({ ...known, apart }, scopes, 1)];
}

function changesOf(number: KnownNumber, scopes: readonly string[], sign: 1 | -1): SumChange[] {
  const { applicationId, hourMs: at, approved, held, clients, apart } = number;
  const counts = {
    numbers: sign * Number(!held),
    approved: sign * Number(approved && !held),
    held: sign * Number(held),
  };
  const all = apart === null ? [...scopes, ...clients] : clients.slice(0, clients.indexOf(apart) + 1);
  return all.map((scope) => ({ applicationId, scope, hourMs: at, ...counts }));
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
      sum.held += change.held;
    }
  }
  return [...sums.values()].filter(({ numbers, approved, held }) => numbers !== 0 || approved !== 0 || held !== 0);
}
