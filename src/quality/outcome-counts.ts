// Tests: test/parts/totals.test.ts
import { createBoundedMap } from '../platform/bounded-map.ts';
import { type Clock, minuteMs } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { newId } from '../platform/ids.ts';
import { createCountBook } from '../platform/work/count-book.ts';
import { minuteOf } from './minute-store.ts';
import { outcomePlaces as at, endsRun, type Outcome, type OutcomeKey, writeOutcomes } from './outcome-store.ts';

/** Counts outcomes in the minute in which they come. */
export interface OutcomeCounts {
  /** The row of an outcome. The caller counts in it at once, by `note`. */
  row(key: Omit<OutcomeKey, 'minuteMs'>): OutcomeRow;
  note(row: OutcomeRow, isCode: boolean): void;
  flush(): Promise<void>;
}

export interface OutcomeRow {
  outcome: Outcome;
  counts: Float64Array;
  /** For its carrier and country: when each outcome was last counted, as the number of that count among all. */
  lasts: Map<Outcome, number>;
}

/** Carriers choose their words, so more different ones for a country within a minute are counted together. */
const mostWords = 8;
export const otherWords = '(others)';
const mostCountries = 5000;

export function createOutcomeCounts(database: Database, clock: Clock): OutcomeCounts {
  const book = createCountBook<OutcomeKey>({
    columns: Object.keys(at).length,
    newName: () => newId('nod', clock),
    write: (name, rows) => writeOutcomes(database, name, rows),
  });
  /** By minute, carrier, country and outcome. */
  const known = createBoundedMap<string, Set<string>>(mostCountries);
  const lastsOf = createBoundedMap<string, Map<Outcome, number>>(mostCountries);
  let order = 0;

  function wordsOf(scope: string, words: string): string {
    if (words === '') return words;
    const seen = known.get(scope) ?? new Set();
    if (seen.size === 0) known.set(scope, seen);
    if (seen.size < mostWords) seen.add(words);
    return seen.has(words) ? words : otherWords;
  }

  function findLasts(carrier: string, country: string): Map<Outcome, number> {
    const scope = `${carrier} ${country}`;
    const lasts = lastsOf.get(scope) ?? new Map();
    if (lasts.size === 0) lastsOf.set(scope, lasts);
    return lasts;
  }

  return {
    row({ carrier, country, outcome, words: given }) {
      const minute = minuteOf(clock.nowMs());
      const scope = `${minute} ${carrier} ${country} ${outcome}`;
      const words = wordsOf(scope, given);
      const counts = book.counts(`${scope} ${words}`, () => ({ minuteMs: minute, carrier, country, outcome, words }));
      return { outcome, counts, lasts: findLasts(carrier, country) };
    },
    note({ outcome, counts, lasts }, isCode) {
      const nowMs = clock.nowMs();
      const last = counts[at.order] ?? 0;
      const isOver = last === 0 || endsRun[outcome].some((other) => (lasts.get(other) ?? 0) > last);
      if (isOver) {
        counts.fill(0, at.run, at.runSinceMs);
        counts[at.runSinceMs] = nowMs;
      }
      raise(counts, at.total);
      raise(counts, at.run);
      if (isCode) {
        raise(counts, at.codes);
        raise(counts, at.runCodes);
      }
      counts[at.lastMs] = nowMs;
      counts[at.order] = ++order;
      lasts.set(outcome, order);
    },
    async flush() {
      await book.flush();
      const nowMs = clock.nowMs();
      book.forget((key) => key.minuteMs < nowMs - 2 * minuteMs);
    },
  };
}

function raise(counts: Float64Array, place: number): void {
  counts[place] = (counts[place] ?? 0) + 1;
}
