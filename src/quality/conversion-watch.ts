import type { Clock } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { fromUuid, newId } from '../platform/ids.ts';
import type { KeyRing } from '../platform/keys.ts';
import { keyedHash } from '../platform/secrets.ts';
import { type Counted, type HourCounts, longestWindowMs } from './conversion.ts';
import {
  addUp,
  afterCodes,
  type CountedCode,
  type CountedNumber,
  distinctNumbers,
  scopesOf,
  sumChanges,
  wholeApplication,
} from './conversion-count.ts';
import { holdLastsMs, type JudgedGroup, judge, mayAct, scopesToRead, type Verdict } from './conversion-judge.ts';
import * as store from './conversion-store.ts';
import { createCountries } from './country-of.ts';
import { addBlocked, type BlockedIn, endDueHolds, endHold, insertHold, readHoldsOf } from './guard-hold-store.ts';

/** A start that was held back. */
export type BlockedStart = Omit<CountedCode, 'approved'>;

export interface ConversionWatch {
  /** Counts codes that are over, in the caller's transaction, and holds back what looks like pumping. */
  count(tx: Tx, codes: readonly CountedCode[], blocked: readonly BlockedStart[]): Promise<void>;
}

export interface ConversionWatchOptions {
  clock: Clock;
  keys: KeyRing;
  /** Makes every node forget what it knows of the application; the last statement of the transaction. */
  tellNodes: (tx: Tx, applicationId: string, nowMs: number) => Promise<unknown>;
}

/** Half a hash is enough to tell the numbers of a day apart. */
const hashBytes = 16;

export function createConversionWatch({ clock, keys, tellNodes }: ConversionWatchOptions): ConversionWatch {
  const countryOf = createCountries();

  async function countNumbers(tx: Tx, numbers: CountedNumber[]): Promise<void> {
    const rows = await store.lockNumbers(tx, numbers);
    const known = new Map(rows.map((row) => [`${row.applicationId} ${row.number}`, row]));
    const knownOf = ({ applicationId, number }: CountedNumber) => known.get(`${applicationId} ${number}`);
    await store.writeNumbers(
      tx,
      numbers.map((number) => afterCodes(knownOf(number), number)),
    );
    const changes = numbers.flatMap((number) => sumChanges(knownOf(number), number));
    await store.addToSums(tx, addUp(changes));
    await store.noteApplications(tx, applicationsOf(numbers));
  }

  const blockedIn = ({ applicationId, to, startedAtMs: atMs }: BlockedStart): BlockedIn[] =>
    scopesOf(to, countryOf(to)).map((scope) => ({ applicationId: fromUuid('app', applicationId), scope, atMs }));

  /** Judges the groups that got a number without an approval. Returns the applications with new holds. */
  async function judgeGroups(tx: Tx, numbers: CountedNumber[], nowMs: number): Promise<Set<string>> {
    const touched = groupsOf(numbers.filter(({ approved }) => !approved));
    const ids = [...new Set([...touched.values()].map(({ applicationId }) => applicationId))];
    const holds = await readHoldsOf(tx, ids.map(toAppId), nowMs - longestWindowMs);
    // What is held already must not keep others from being looked at.
    const held = new Set(holds.filter(({ acts, endedAtMs }) => acts && endedAtMs === null).map(nameOf));
    const wanted = [...touched.values()].filter(
      (group) => !held.has(nameOf({ ...group, applicationId: toAppId(group.applicationId) })),
    );
    const found = await store.findCandidates(tx, wanted, nowMs);
    const changed = new Set<string>();
    if (found.length === 0) return changed;
    for (const application of await store.readApplications(tx, ids)) {
      const id = application.applicationId;
      const groups = found
        .filter(({ applicationId }) => applicationId === id)
        .map(({ scope }) => ({ scope, country: touched.get(`${id} ${scope}`)?.country ?? '' }));
      const own = holds.filter(({ applicationId }) => applicationId === toAppId(id));
      const acts = mayAct(application, nowMs);
      const counts = await readCountsFor(tx, id, scopesToRead(groups, own), nowMs);
      const verdicts = judge({ nowMs, groups, holds: own, counts, mayAct: acts });
      await begin(tx, toAppId(id), verdicts, nowMs);
      if (verdicts.length > 0 && acts) changed.add(toAppId(id));
    }
    return changed;
  }

  async function readCountsFor(tx: Tx, applicationId: string, scopes: string[], nowMs: number) {
    const counts = new Map<string, { hours: HourCounts[]; days: Counted[] }>();
    const wanted = scopes.map((scope) => ({ applicationId, scope }));
    for (const row of await store.readCounts(tx, wanted, nowMs)) {
      const of = counts.get(row.scope) ?? { hours: [], days: [] };
      counts.set(row.scope, of);
      if (row.byDay) of.days.push(row);
      else of.hours.push(row);
    }
    return counts;
  }

  async function begin(tx: Tx, applicationId: string, verdicts: Verdict[], nowMs: number): Promise<void> {
    if (verdicts.length > 0) await endDueHolds(tx, nowMs);
    for (const { scope, country, suspicion, acts, replaces } of verdicts) {
      if (replaces !== null) await endHold(tx, replaces, null, nowMs);
      await insertHold(tx, {
        id: newId('hld', clock),
        ...{ applicationId, scope, acts, ...suspicion },
        country: country === '' ? null : country,
        beganAtMs: nowMs,
        untilMs: nowMs + holdLastsMs,
      });
    }
  }

  return {
    async count(tx, codes, blocked) {
      if (codes.length === 0 && blocked.length === 0) return;
      const key = keys.keyFor('conversion', keys.version);
      const hashOf = (to: string) => keyedHash(key, to).subarray(0, hashBytes).toString('hex');
      const numbers = distinctNumbers(codes, hashOf, countryOf);
      const nowMs = clock.nowMs();
      await countNumbers(tx, numbers);
      await addBlocked(tx, blocked.flatMap(blockedIn));
      const changed = await judgeGroups(tx, numbers, nowMs);
      for (const applicationId of changed) await tellNodes(tx, applicationId, nowMs);
    },
  };
}

const toAppId = (uuid: string) => fromUuid('app', uuid);

const nameOf = ({ applicationId, scope }: { applicationId: string; scope: string }) => `${applicationId} ${scope}`;

function groupsOf(numbers: readonly CountedNumber[]): Map<string, store.Scope & JudgedGroup> {
  const groups = new Map<string, store.Scope & JudgedGroup>();
  for (const { applicationId, scopes, country } of numbers) {
    for (const scope of scopes) {
      if (scope !== wholeApplication) groups.set(`${applicationId} ${scope}`, { applicationId, scope, country });
    }
  }
  return groups;
}

function applicationsOf(numbers: readonly CountedNumber[]): store.CountedApplication[] {
  const found = new Map<string, store.CountedApplication>();
  for (const { applicationId, hourMs: at, approved } of numbers) {
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
