// Tests: test/contract/guard-conversion.test.ts
import type { Clock } from '../../platform/clock.ts';
import { fromUuid, newId } from '../../platform/ids.ts';
import type { ConversionBook } from './book.ts';
import type { ConversionConstants } from './constants.ts';
import { longestWindowMs, type ScopeHistory } from './conversion.ts';
import { type CountedNumber, wholeApplication } from './count.ts';
import {
  holdLastsMs,
  type JudgedApplication,
  judge,
  mayAct,
  renewals,
  renewedLastsMs,
  scopesToRead,
  type Verdict,
} from './judge.ts';
import { isClient, type JudgedGroup, type ScopeKind, scopeKindOf } from './scope.ts';
import type { CountedApplication, Scope } from './store.ts';

export interface JudgedPiece {
  book: ConversionBook;
  clock: Clock;
  constants: ConversionConstants;
  numbers: readonly CountedNumber[];
  /** Takes the numbers of clients that are held from now on out of their prefixes and countries. */
  setApart: (applicationId: string, clients: readonly string[]) => Promise<void>;
}

/** Clients are judged before numbers, and small ones before large ones: numbers held by one no longer count in the next. */
const rounds: readonly (readonly ScopeKind[])[] = [
  ['device'],
  ['program'],
  ['address'],
  ['prefix', 'wide_prefix', 'country'],
];

/** Judges the groups that got a number without an approval. Returns the applications whose holds have changed. */
export async function judgeGroups(piece: JudgedPiece): Promise<Set<string>> {
  const { book, clock } = piece;
  const nowMs = clock.nowMs();
  const touched = groupsOf(piece.numbers.filter(({ approved }) => !approved));
  const ids = [...new Set([...touched.values()].map(({ applicationId }) => applicationId))];
  const changed = new Set<string>();
  for (const application of await book.readApplications(ids)) {
    const own = [...touched.values()].filter(({ applicationId }) => applicationId === application.applicationId);
    for (const kinds of rounds) {
      const wanted = own.filter(({ scope }) => kinds.includes(scopeKindOf(scope)));
      if (wanted.length > 0 && (await judgeRound(piece, application, wanted, nowMs)))
        changed.add(fromUuid('app', application.applicationId));
    }
  }
  return changed;
}

/** Returns whether a hold was added or extended. */
async function judgeRound(
  { book, clock, constants, setApart }: JudgedPiece,
  application: CountedApplication,
  touched: readonly (Scope & JudgedGroup)[],
  nowMs: number,
): Promise<boolean> {
  const { applicationId } = application;
  const holds = await book.readHoldsOf([fromUuid('app', applicationId)], nowMs - longestWindowMs);
  const open = new Set(
    holds
      .filter(({ acts, endedAtMs, untilMs }) => acts && endedAtMs === null && untilMs > nowMs)
      .map(({ scope }) => scope),
  );
  // Groups that are held already must not crowd out others.
  const wanted = touched.filter(({ scope }) => !open.has(scope));
  const found = new Set((await book.findCandidates(wanted, nowMs)).map(({ scope }) => scope));
  const groups = wanted.filter(({ scope }) => found.has(scope));
  const held = touched.filter(({ scope }) => open.has(scope));
  if (groups.length + held.length === 0) return false;
  const judged: JudgedApplication = {
    ...{ nowMs, groups, constants, mayAct: mayAct(application, nowMs) },
    holds: holds.filter(
      ({ scope }) => open.has(scope) || !isClient(scope) || groups.some((group) => group.scope === scope),
    ),
    counts: await readCountsFor(book, applicationId, scopesToRead([...groups, ...held], holds), nowMs),
  };
  const longer = renewals({
    ...judged,
    holds: holds.filter(({ scope }) => held.some((group) => group.scope === scope)),
  });
  for (const { id, scope } of longer) await book.renewHold(id, nowMs + renewedLastsMs(scope));
  const verdicts = judge(judged);
  await begin(book, clock, applicationId, verdicts, nowMs);
  const acting = verdicts.filter(({ acts }) => acts);
  const clients = acting.map(({ scope }) => scope).filter(isClient);
  if (clients.length > 0) await setApart(applicationId, clients);
  return acting.length + longer.length > 0;
}

async function readCountsFor(
  book: ConversionBook,
  applicationId: string,
  scopes: readonly string[],
  nowMs: number,
): Promise<Map<string, ScopeHistory>> {
  const counts = new Map<string, { hours: ScopeHistory['hours'][number][]; days: ScopeHistory['days'][number][] }>();
  const wanted = scopes.map((scope) => ({ applicationId, scope }));
  for (const row of await book.readCounts(wanted, nowMs)) {
    const of = counts.get(row.scope) ?? { hours: [], days: [] };
    counts.set(row.scope, of);
    if (row.byDay) of.days.push(row);
    else of.hours.push(row);
  }
  return counts;
}

async function begin(
  book: ConversionBook,
  clock: JudgedPiece['clock'],
  applicationUuid: string,
  verdicts: readonly Verdict[],
  nowMs: number,
): Promise<void> {
  if (verdicts.length > 0) await book.endDueHolds(nowMs);
  for (const { scope, country, suspicion, acts, replaces } of verdicts) {
    if (replaces !== null) await book.endHold(replaces, null, nowMs);
    await book.insertHold({
      id: newId('hld', clock),
      ...{ applicationId: fromUuid('app', applicationUuid), scope, acts, ...suspicion },
      country: country === '' || isClient(scope) ? null : country,
      beganAtMs: nowMs,
      untilMs: nowMs + holdLastsMs,
    });
  }
}

function groupsOf(numbers: readonly CountedNumber[]): Map<string, Scope & JudgedGroup> {
  const groups = new Map<string, Scope & JudgedGroup>();
  for (const { applicationId, scopes, clients, country, apart } of numbers) {
    const all = apart === null ? [...clients, ...scopes] : clients;
    for (const scope of all) {
      if (scope !== wholeApplication) groups.set(`${applicationId} ${scope}`, { applicationId, scope, country });
    }
  }
  return groups;
}
