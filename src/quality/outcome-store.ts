// Tests: test/parts/totals.test.ts
import { hourMs, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import type { CountedRow } from '../platform/work/count-book.ts';
import { pieceRows } from '../platform/work/maintenance.ts';

/**
 * An answer or a report of a carrier. `refused`: for good. `unavailable`: it could not take the text at that time.
 * `undelivered`: reported as undelivered, failed or expired.
 */
export type Outcome = 'accepted' | 'refused' | 'unavailable' | 'throttled' | 'in_doubt' | 'delivered' | 'undelivered';

/** The outcomes after which a run of an outcome is over. */
export const endsRun: Record<Outcome, readonly Outcome[]> = {
  accepted: ['refused', 'unavailable', 'throttled', 'in_doubt'],
  refused: ['accepted'],
  unavailable: ['accepted'],
  throttled: ['accepted', 'refused', 'unavailable'],
  in_doubt: ['accepted', 'refused', 'unavailable', 'throttled'],
  delivered: ['undelivered'],
  undelivered: ['delivered'],
};

export interface OutcomeKey {
  /** When the answer or report came. */
  minuteMs: number;
  carrier: string;
  country: string;
  outcome: Outcome;
  /** The error in the carrier's own words; empty without one. */
  words: string;
}

/** The index of each count of an outcome in a row. `order` is not stored: it says which outcome was counted last. */
export const outcomePlaces = { total: 0, codes: 1, run: 2, runCodes: 3, runSinceMs: 4, lastMs: 5, order: 6 } as const;

const outcomesKeptMs = 2 * hourMs;

/** Writes the absolute counts that one node has under this name. An older write that arrives late changes nothing. */
export async function writeOutcomes(tx: Tx, name: string, rows: CountedRow<OutcomeKey>[]): Promise<void> {
  if (rows.length === 0) return;
  const counted = (place: keyof typeof outcomePlaces) => rows.map(({ counts }) => counts[outcomePlaces[place]] ?? 0);
  await tx.query(writeStatement, [
    name,
    rows.map(({ key }) => toTimestamp(key.minuteMs)),
    rows.map(({ key }) => key.carrier),
    rows.map(({ key }) => key.country),
    rows.map(({ key }) => key.outcome),
    rows.map(({ key }) => key.words),
    rows.map(({ revision }) => revision),
    ...(['total', 'codes', 'run', 'runCodes'] as const).map(counted),
    ...(['runSinceMs', 'lastMs'] as const).map((place) => counted(place).map(toTimestamp)),
  ]);
}

const writeStatement = {
  name: 'write-carrier-outcomes',
  text: `insert into carrier_outcome (node, minute, carrier, country, outcome, words, revision, total, codes, run,
      run_codes, run_since, last_at)
    select $1, * from unnest($2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::integer[],
      $8::integer[], $9::integer[], $10::integer[], $11::integer[], $12::timestamptz[], $13::timestamptz[])
    on conflict (minute, carrier, country, outcome, words, node) do update set revision = excluded.revision,
      total = excluded.total, codes = excluded.codes, run = excluded.run, run_codes = excluded.run_codes,
      run_since = excluded.run_since, last_at = excluded.last_at
    where carrier_outcome.revision < excluded.revision`,
};

export async function deleteOldOutcomes(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from carrier_outcome where ctid = any(array(
       select ctid from carrier_outcome where minute < $1 order by minute limit $2))`,
    [toTimestamp(nowMs - outcomesKeptMs), pieceRows],
  );
  return count;
}

export interface OutcomeTotal extends Omit<OutcomeKey, 'minuteMs'> {
  total: number;
  codes: number;
}

const mostOutcomes = 20_000;

/** What carriers answered and reported between two times, by carrier, country, outcome and words; the largest first. */
export async function readOutcomes(tx: Tx, fromMs: number, toMs: number): Promise<OutcomeTotal[]> {
  const { rows } = await tx.query<OutcomeTotal>(
    `select carrier, country, outcome, words, sum(total) as total, sum(codes) as codes from carrier_outcome
     where minute >= $1 and minute < $2 group by carrier, country, outcome, words
     order by sum(total) desc, carrier, country, outcome, words limit $3`,
    [toTimestamp(fromMs), toTimestamp(toMs), mostOutcomes],
  );
  return rows;
}

/** A row of one node and minute. */
export interface RecentOutcome extends OutcomeTotal {
  /** Of the total, those since this node's last answer that ends the run. */
  run: number;
  runCodes: number;
  runSinceMs: number;
  lastMs: number;
}

/** Like `readOutcomes`, by node and minute, with the runs; the largest first. */
export async function readRecentOutcomes(tx: Tx, fromMs: number, toMs: number): Promise<RecentOutcome[]> {
  const { rows } = await tx.query<RecentOutcome>(
    `select carrier, country, outcome, words, total, codes, run, run_codes as "runCodes",
       coalesce(run_since, minute) as "runSinceMs", coalesce(last_at, minute + interval '1 minute') as "lastMs"
     from carrier_outcome where minute >= $1 and minute < $2
     order by total desc, carrier, country, outcome, words, minute, node limit $3`,
    [toTimestamp(fromMs), toTimestamp(toMs), mostOutcomes],
  );
  return rows;
}
