import { neededTextsFrom } from '../../delivery/receipts/needed-texts.ts';
import { messageTable, numberIndex } from '../../messages/message-store.ts';
import { minuteMs } from '../../platform/clock.ts';
import { createIndexTurn } from '../../platform/database/index-turn.ts';
import type { Chore } from '../../platform/work/maintenance.ts';
import { neededVerificationsFrom, verificationTables } from '../../verify/verification-store.ts';
import type { ChoreKit, ChoreOptions } from './kit.ts';

/** The tables of records: their partitions, and an index that is rebuilt in the background. */
export function recordChores({ database }: ChoreOptions, { partitions, keptFrom }: ChoreKit): Chore[] {
  return [
    createIndexTurn(database, numberIndex, 10 * minuteMs),
    ...partitions(messageTable, keptFrom, neededTextsFrom),
    ...verificationTables.flatMap((table) => partitions(table, keptFrom, neededVerificationsFrom)),
  ];
}
