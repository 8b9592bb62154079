// Tests: src/quality/rules/outcomes.test.ts
import type { AlertKind } from '../alerts/alert.ts';
import type { AlertFacts } from '../alerts/facts.ts';
import { endsRun, type Outcome, type OutcomeTotal, type RecentOutcome } from '../outcome-store.ts';
import { isDown } from './connections.ts';

/** The outcomes that a rule counts as bad, and how many are significant. The good ones are those that end their run. */
interface Measure {
  bad: readonly Outcome[];
  /** The share of bad texts: of few texts at least half must be bad, of many at least this share. */
  share: number;
  /** Number of texts that is enough even without 3 codes among them. */
  few: number;
}

const measures = {
  refused: { bad: ['refused', 'unavailable'], share: 0.25, few: 10 },
  undelivered: { bad: ['undelivered'], share: 0.35, few: 10 },
  throttled: { bad: ['throttled'], share: 0.1, few: 3 },
  answers_slow: { bad: ['in_doubt'], share: 0.25, few: 3 },
} as const satisfies Partial<Record<AlertKind, Measure>>;

export type Judged = keyof typeof measures;

const fewCodes = 3;
const many = 50;
/** A run of bad answers counts when no good one came for this time; nodes write their counts every 5 s. */
const runMs = 10_000;
/** The trouble is over after enough good answers, and no bad one for this time. */
const wellMs = 60_000;

/** What came back from a carrier for a country, or for all. */
export interface Tally {
  carrier: string;
  country: string;
  bad: number;
  badCodes: number;
  all: number;
  codes: number;
  /** The most frequent words among the bad ones. */
  words: string;
}

/** Finds bad outcomes by carrier and country; by carrier alone if `together`, or if each of several countries is bad. */
export function findBad({ nowMs, carriers, outcomes }: AlertFacts, kind: Judged, together = false): Tally[] {
  const measure: Measure = measures[kind];
  return carriers.flatMap((carrier) => {
    // A missing connection explains more than the last answers do.
    if (kind !== 'undelivered' && isDown(carrier)) return [];
    const { key } = carrier;
    const lately = outcomes.lately.filter((row) => row.carrier === key);
    const longer = outcomes.longer.filter((row) => row.carrier === key);
    const judge = (country: string) => {
      const isOf = (row: OutcomeTotal) => country === '' || row.country === country;
      return judgeRows({ lately: lately.filter(isOf), longer: longer.filter(isOf) }, { key, country, measure, nowMs });
    };
    const whole = judge('');
    if (together) return whole === undefined ? [] : [whole];
    const countries = [...new Set(longer.filter((row) => isCounted(row, measure)).map(({ country }) => country))];
    const bad = countries.flatMap((country) => judge(country) ?? []);
    return bad.length > 1 && bad.length === countries.length && whole !== undefined ? [whole] : bad;
  });
}

interface Scope {
  key: string;
  country: string;
  measure: Measure;
  nowMs: number;
}

/**
 * An unbroken run of bad answers counts at once. Else the last minutes count if they suffice. At low traffic the last
 * quarter of an hour does, unless things go well again.
 */
function judgeRows(
  rows: { lately: readonly RecentOutcome[]; longer: readonly OutcomeTotal[] },
  scope: Scope,
): Tally | undefined {
  const { measure, nowMs } = scope;
  const lastBadMs = lastOf(rows.lately, measure.bad);
  const lastGoodMs = lastOf(rows.lately, goodOf(measure));
  const run = tallyOf(runsSince(rows.lately, lastGoodMs), scope);
  if (isEnough(run, measure) && lastGoodMs <= nowMs - runMs) return run;
  const good = runsSince(rows.lately, lastBadMs).filter(({ outcome }) => goodOf(measure).includes(outcome));
  if (lastBadMs <= nowMs - wellMs && isEnough(tallyOf(good, scope), measure)) return undefined;
  const lately = tallyOf(rows.lately, scope);
  if (isEnough(lately, measure)) return isBad(lately, measure) ? lately : undefined;
  const longer = tallyOf(rows.longer, scope);
  const isWell = lately.all > 0 && lately.bad === 0;
  return !isWell && isEnough(longer, measure) && isBad(longer, measure) ? longer : undefined;
}

function goodOf({ bad }: Measure): readonly Outcome[] {
  return bad.flatMap((outcome) => endsRun[outcome]);
}

function lastOf(rows: readonly RecentOutcome[], outcomes: readonly Outcome[]): number {
  return Math.max(...rows.filter(({ outcome }) => outcomes.includes(outcome)).map(({ lastMs }) => lastMs));
}

/** The runs that began after a time, on whatever node. */
function runsSince(rows: readonly RecentOutcome[], sinceMs: number): OutcomeTotal[] {
  return rows
    .filter(({ runSinceMs, lastMs }) => runSinceMs >= sinceMs && lastMs > sinceMs)
    .map(({ run, runCodes, ...row }) => ({ ...row, total: run, codes: runCodes }));
}

function isEnough({ all, codes }: Tally, { few }: Measure): boolean {
  return codes >= fewCodes || all >= few;
}

function isBad({ bad, all }: Tally, { share }: Measure): boolean {
  return bad >= all * (all >= many ? share : 0.5);
}

function isCounted({ outcome }: OutcomeTotal, measure: Measure): boolean {
  return measure.bad.includes(outcome) || goodOf(measure).includes(outcome);
}

/** Rows are ordered: those with the most texts first. */
function tallyOf(rows: readonly OutcomeTotal[], { key: carrier, country, measure }: Scope): Tally {
  const tally: Tally = { carrier, country, bad: 0, badCodes: 0, all: 0, codes: 0, words: '' };
  for (const row of rows) {
    if (!isCounted(row, measure)) continue;
    tally.all += row.total;
    tally.codes += row.codes;
    if (!measure.bad.includes(row.outcome)) continue;
    tally.bad += row.total;
    tally.badCodes += row.codes;
    if (tally.words === '') tally.words = row.words;
  }
  return tally;
}
