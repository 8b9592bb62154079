import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { keyedHash } from '../../platform/crypto/secrets.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid } from '../../platform/ids.ts';
import { createCountries } from '../country-of.ts';
import type { BlockedIn } from '../guard-hold-store.ts';
import { bookIn, type ConversionBook } from './book.ts';
import { type ConversionConstants, conversionConstants } from './constants.ts';
import {
  addUp,
  afterCodes,
  type CountedCode,
  type CountedNumber,
  changesOfApart,
  distinctNumbers,
  type KnownNumber,
  scopesOf,
  sumChanges,
} from './count.ts';
import { judgeGroups } from './groups.ts';
import type { PastHold } from './judge.ts';
import { isClient } from './scope.ts';
import type { CountedApplication } from './store.ts';

/** A start that was held back. */
export type BlockedStart = Omit<CountedCode, 'approved' | 'held'>;

export interface ConversionWatch {
  /** Counts ended codes in the caller's transaction, and holds back groups that look like pumping. */
  count(tx: Tx, codes: readonly CountedCode[], blocked: readonly BlockedStart[]): Promise<void>;
}

export interface ConversionWatchOptions {
  clock: Clock;
  keys: KeyRing;
  /** Invalidates the application on every node; must be the last statement of the transaction. */
  notifyNodes: (tx: Tx, applicationId: string, nowMs: number) => Promise<unknown>;
}

/** Half a hash is enough to distinguish the numbers of a day. */
const hashBytes = 16;

export function createConversionWatch({ clock, keys, notifyNodes }: ConversionWatchOptions): ConversionWatch {
  const countryOf = createCountries();
  return {
    async count(tx, codes, blocked) {
      if (codes.length === 0 && blocked.length === 0) return;
      const key = keys.keyFor('conversion', keys.version);
      const hashOf = (to: string) => keyedHash(key, to).subarray(0, hashBytes).toString('hex');
      const changed = await countConversions(bookIn(tx), {
        ...{ codes, blocked, hashOf, countryOf, clock },
        constants: conversionConstants,
      });
      for (const applicationId of changed) await notifyNodes(tx, applicationId, clock.nowMs());
    },
  };
}

export interface CountedPiece {
  codes: readonly CountedCode[];
  blocked: readonly BlockedStart[];
  hashOf: (to: string) => string;
  countryOf: (to: string) => string;
  clock: Clock;
  constants: ConversionConstants;
}

/** Counts a batch, and judges the groups that it has changed. Returns the applications whose holds have changed. */
export async function countConversions(book: ConversionBook, piece: CountedPiece): Promise<Set<string>> {
  const { codes, blocked, hashOf, countryOf, clock, constants } = piece;
  const held = blocked.map((start) => ({ ...start, approved: false, held: true }));
  const numbers = distinctNumbers([...codes, ...held], hashOf, countryOf);
  const nowMs = clock.nowMs();
  const ids = [...new Set(numbers.map(({ applicationId }) => fromUuid('app', applicationId)))];
  const holds = await book.readHoldsOf(ids, nowMs);
  const heldClients = new Set(holds.filter((hold) => isClientHold(hold, nowMs)).map(({ scope }) => scope));
  const apart = numbers.map((number) => ({
    ...number,
    apart: number.clients.find((each) => heldClients.has(each)) ?? null,
  }));
  await countNumbers(book, apart);
  await book.addBlocked(blocked.flatMap((start) => blockedIn(start, countryOf)));
  const setApart = (applicationId: string, clients: readonly string[]) =>
    setNumbersApart(book, applicationId, clients, countryOf);
  return judgeGroups({ book, clock, constants, numbers: apart, setApart });
}

async function countNumbers(book: ConversionBook, numbers: readonly CountedNumber[]): Promise<void> {
  const rows = await book.lockNumbers([...numbers]);
  const known = new Map(rows.map((row) => [`${row.applicationId} ${row.number}`, row]));
  const knownOf = ({ applicationId, number }: CountedNumber) => known.get(`${applicationId} ${number}`);
  await book.writeNumbers(numbers.map((number) => afterCodes(knownOf(number), number)));
  await book.addToSums(addUp(numbers.flatMap((number) => sumChanges(knownOf(number), number))));
  await book.noteApplications(applicationsOf(numbers));
}

/** Numbers that came through a client before it was held no longer count against their prefix and country. */
async function setNumbersApart(
  book: ConversionBook,
  applicationId: string,
  clients: readonly string[],
  countryOf: (to: string) => string,
): Promise<void> {
  const numbers = await book.lockNumbersOf(applicationId, clients);
  const moved = numbers.flatMap((number) => {
    const apart = number.clients.find((each) => clients.includes(each));
    return apart === undefined ? [] : [{ number, apart }];
  });
  await book.writeNumbers(moved.map(({ number, apart }): KnownNumber => ({ ...number, apart })));
  const changes = moved.flatMap(({ number, apart }) => {
    const example = `${number.prefix}0000`;
    return changesOfApart(number, apart, scopesOf(example, countryOf(example)));
  });
  await book.addToSums(addUp(changes));
}

function isClientHold({ scope, acts, endedAtMs, untilMs }: PastHold, nowMs: number): boolean {
  return acts && endedAtMs === null && untilMs > nowMs && isClient(scope);
}

/** The smallest held group of a start holds it back. */
function blockedIn(
  { applicationId, to, startedAtMs, clients = [] }: BlockedStart,
  countryOf: (to: string) => string,
): BlockedIn[] {
  const scopes = [...clients, ...scopesOf(to, countryOf(to))];
  return scopes.map((scope) => ({ applicationId: fromUuid('app', applicationId), scope, atMs: startedAtMs }));
}

function applicationsOf(numbers: readonly CountedNumber[]): CountedApplication[] {
  const found = new Map<string, CountedApplication>();
  for (const { applicationId, hourMs: at, approved, held } of numbers) {
    if (held) continue;
    const before = found.get(applicationId);
    const approvedSinceMs = before?.approvedSinceMs ?? (approved ? at : null);
    found.set(applicationId, {
      applicationId,
      countedSinceMs: Math.min(before?.countedSinceMs ?? at, at),
      approvedSinceMs,
    });
  }
  return [...found.values()];
}
