import type { NoteEnds } from '../../delivery/attempts/answered-text.ts';
import { neededTextsFrom } from '../../delivery/receipts/needed-texts.ts';
import { type Clock, dayMs, hourMs, minuteMs } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import {
  deleteOldRows,
  dropOldPartition,
  makePartitions,
  type NeededFrom,
  type PartitionedTable,
} from '../../platform/database/partitions.ts';
import { deleteSums, type SummedRecords, sumSome } from '../../platform/database/record-sums.ts';
import type { Log } from '../../platform/log.ts';
import type { Chore } from '../../platform/work/maintenance.ts';
import type { Config } from '../../settings/settings.ts';

export interface ChoreOptions {
  config: Config;
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  /** Counts texts that have expired without a carrier. */
  onExpired?: ((status: 'expired' | 'unknown', by: number) => void) | undefined;
  noteEnds?: NoteEnds | undefined;
  /** Delivers texts from phones whose other parts never came. */
  deliverIncomplete: () => Promise<number>;
}

/** A function of a store that handles one batch of rows and returns their number. */
type Act = (database: Database, nowMs: number) => Promise<number>;
type From = (nowMs: number) => number;

export type ChoreKit = ReturnType<typeof createChoreKit>;

/** The functions that chores are built with. */
export function createChoreKit({ config, database, clock }: ChoreOptions) {
  const every = (everyMs: number, name: string, act: Act): Chore => ({
    ...{ name, everyMs, runPiece: () => act(database, clock.nowMs()) },
  });
  /** Records older than this are gone. */
  const keptFrom: From = (nowMs) => nowMs - config.keepDays * dayMs;

  return {
    every,
    keptFrom,

    /** Deletes rows that belong to texts with expired records. */
    withTexts: (name: string, act: (database: Database, beforeMs: number) => Promise<number>, oldFrom: From): Chore =>
      every(hourMs, name, async (tx, nowMs) => act(tx, await neededTextsFrom(tx, oldFrom(nowMs)))),

    /** Partitions are made ahead, and dropped with all their rows when the youngest is old enough and none is needed. */
    partitions: (table: PartitionedTable, keptFrom: From, neededFrom?: NeededFrom): Chore[] => [
      every(hourMs, `${table.name}-partitions`, (tx, nowMs) => makePartitions(tx, table, nowMs)),
      every(hourMs, `old-${table.name}-partitions`, (tx, nowMs) =>
        dropOldPartition(tx, table, keptFrom(nowMs), neededFrom),
      ),
      every(hourMs, `old-${table.name}-rows`, (tx, nowMs) => deleteOldRows(tx, table, keptFrom(nowMs), neededFrom)),
    ],

    sums: (summed: SummedRecords): Chore[] => [
      every(minuteMs, `sum-up-${summed.records}`, (tx, nowMs) => sumSome(tx, summed, nowMs)),
      every(hourMs, `old-${summed.records}-sums`, (tx, nowMs) => deleteSums(tx, summed, nowMs, keptFrom(nowMs))),
    ],
  };
}
