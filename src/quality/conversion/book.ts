import type { Tx } from '../../platform/database/database.ts';
import * as holds from '../guard-hold-store.ts';
import type { HourCounts } from './conversion.ts';
import type { KnownNumber, SumChange } from './count.ts';
import * as store from './store.ts';

/** Storage of the guard by conversion: Postgres in the service, memory in the pumping laboratory. */
export interface ConversionBook {
  lockNumbers(wanted: Pick<KnownNumber, 'applicationId' | 'number'>[]): Promise<KnownNumber[]>;
  lockNumbersOf(applicationId: string, clients: readonly string[]): Promise<KnownNumber[]>;
  writeNumbers(numbers: readonly KnownNumber[]): Promise<void>;
  addToSums(changes: readonly SumChange[]): Promise<void>;
  noteApplications(given: readonly store.CountedApplication[]): Promise<void>;
  readApplications(uuids: readonly string[]): Promise<store.CountedApplication[]>;
  findCandidates(scopes: readonly store.Scope[], nowMs: number): Promise<store.Scope[]>;
  readCounts(scopes: readonly store.Scope[], nowMs: number): Promise<(store.Scope & HourCounts & { byDay: boolean })[]>;
  readHoldsOf(applicationIds: readonly string[], sinceMs: number): Promise<holds.HoldRow[]>;
  insertHold(hold: holds.NewHold): Promise<void>;
  renewHold(id: string, untilMs: number): Promise<void>;
  endHold(id: string, by: holds.EndedBy | null, nowMs: number): Promise<boolean>;
  endDueHolds(nowMs: number): Promise<number>;
  addBlocked(blocked: readonly holds.BlockedIn[]): Promise<void>;
}

export function bookIn(tx: Tx): ConversionBook {
  return {
    lockNumbers: (wanted) => store.lockNumbers(tx, wanted),
    lockNumbersOf: (applicationId, clients) => store.lockNumbersOf(tx, applicationId, clients),
    writeNumbers: (numbers) => store.writeNumbers(tx, numbers),
    addToSums: (changes) => store.addToSums(tx, changes),
    noteApplications: (given) => store.noteApplications(tx, given),
    readApplications: (uuids) => store.readApplications(tx, uuids),
    findCandidates: (scopes, nowMs) => store.findCandidates(tx, scopes, nowMs),
    readCounts: (scopes, nowMs) => store.readCounts(tx, scopes, nowMs),
    readHoldsOf: (applicationIds, sinceMs) => holds.readHoldsOf(tx, applicationIds, sinceMs),
    insertHold: (hold) => holds.insertHold(tx, hold),
    renewHold: (id, untilMs) => holds.renewHold(tx, id, untilMs),
    endHold: (id, by, nowMs) => holds.endHold(tx, id, by, nowMs),
    endDueHolds: (nowMs) => holds.endDueHolds(tx, nowMs),
    addBlocked: (blocked) => holds.addBlocked(tx, blocked),
  };
}
