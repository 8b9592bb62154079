import { dayMs, hourMs } from '../../src/platform/clock.ts';
import type { ConversionBook } from '../../src/quality/conversion/book.ts';
import { type Counted, type HourCounts, historyDays, hoursReadMs } from '../../src/quality/conversion/conversion.ts';
import { type KnownNumber, numberLastsMs } from '../../src/quality/conversion/count.ts';
import { isClient } from '../../src/quality/conversion/scope.ts';
import type { HoldRow } from '../../src/quality/guard-hold-store.ts';

interface SumRow extends HourCounts {
  applicationId: string;
  scope: string;
  byDay: boolean;
}

interface Sums {
  hours: Map<number, SumRow>;
  days: SumRow[];
}

export interface MemoryBook extends ConversionBook {
  /** Days before the simulation began. */
  addHistory(scope: string, days: Counted[]): void;
  /** Hours before it. */
  addHours(scope: string, hours: HourCounts[]): void;
  /** Adds old hours up, and forgets what the service forgets. */
  tidy(nowMs: number): void;
  readonly holds: HoldRow[];
}

/** The tables of the guard by conversion for one application, without a database. */
export function createMemoryBook(applicationUuid: string, countedSinceMs: number): MemoryBook {
  const numbers = new Map<string, KnownNumber>();
  const byClient = new Map<string, Set<string>>();
  const sums = new Map<string, Sums>();
  const holds: HoldRow[] = [];
  const sumsOf = (scope: string): Sums => {
    let found = sums.get(scope);
    if (found === undefined) {
      found = { hours: new Map(), days: [] };
      sums.set(scope, found);
    }
    return found;
  };

  return {
    holds,
    addHistory(scope, days) {
      const own = sumsOf(scope).days;
      days.forEach(({ numbers: count, approved }, index) => {
        const before = own[index] ?? newRow(scope, true, 0);
        own[index] = { ...before, numbers: before.numbers + count, approved: before.approved + approved };
      });
    },
    addHours(scope, given) {
      const { hours } = sumsOf(scope);
      for (const { hourMs: at, numbers: count, approved } of given) {
        const row = hours.get(at) ?? newRow(scope, false, at);
        row.numbers += count;
        row.approved += approved;
        hours.set(at, row);
      }
    },
    tidy(nowMs) {
      for (const [scope, { hours, days }] of sums) {
        for (const [at, row] of hours) {
          if (at >= nowMs - numberLastsMs - 2 * hourMs) continue;
          hours.delete(at);
          if (!isClient(scope)) addToDay(days, row);
        }
        if (hours.size === 0 && days.length === 0) sums.delete(scope);
      }
      for (const [id, { hourMs: at, clients }] of numbers) {
        if (at >= nowMs - numberLastsMs - hourMs) continue;
        numbers.delete(id);
        for (const client of clients) byClient.delete(client);
      }
    },
    lockNumbers: async (wanted) => wanted.flatMap(({ number }) => numbers.get(number) ?? []),
    lockNumbersOf: async (_, clients) => {
      const found = new Set(clients.flatMap((client) => [...(byClient.get(client) ?? [])]));
      return [...found].flatMap((id) => numbers.get(id) ?? []).filter(({ apart }) => apart === null);
    },
    async writeNumbers(given) {
      for (const each of given) {
        numbers.set(each.number, each);
        for (const client of each.clients) {
          const own = byClient.get(client) ?? new Set();
          byClient.set(client, own.add(each.number));
        }
      }
    },
    async addToSums(changes) {
      for (const { scope, hourMs: at, numbers: count, approved, held } of changes) {
        const { hours } = sumsOf(scope);
        const row = hours.get(at) ?? newRow(scope, false, at);
        row.numbers += count;
        row.approved += approved;
        row.held += held;
        hours.set(at, row);
      }
    },
    noteApplications: async () => {},
    readApplications: async () => [{ applicationId: applicationUuid, countedSinceMs, approvedSinceMs: countedSinceMs }],
    findCandidates: async (scopes) =>
      scopes.filter(({ scope }) => {
        let [missed, approved] = [0, 0];
        for (const row of sums.get(scope)?.hours.values() ?? []) {
          missed += row.numbers - row.approved;
          approved += row.approved;
        }
        return missed >= 2 && (approved < missed || missed >= 20);
      }),
    async readCounts(scopes, nowMs) {
      const found: SumRow[] = [];
      for (const { scope } of scopes) {
        const own = sums.get(scope);
        if (own === undefined) continue;
        for (const row of own.hours.values()) if (row.hourMs > nowMs - hoursReadMs) found.push(row);
        for (const row of own.days) found.push(row);
      }
      return found;
    },
    readHoldsOf: async (_, sinceMs) =>
      holds.filter(({ endedAtMs }) => endedAtMs === null || endedAtMs > sinceMs).toReversed(),
    async insertHold(hold) {
      // Which numbers a hold lets through follows from its id: an id of its own would make each run another one.
      holds.push({
        ...hold,
        id: `hold ${holds.length}`,
        blocked: 0,
        endedAtMs: null,
        endedBy: null,
        endedByMember: false,
      });
    },
    async renewHold(id, untilMs) {
      const hold = holds.find((each) => each.id === id);
      if (hold !== undefined) hold.untilMs = untilMs;
    },
    async endHold(id, by, nowMs) {
      const hold = holds.find((each) => each.id === id);
      if (hold !== undefined) Object.assign(hold, { endedAtMs: nowMs, endedBy: by?.personId ?? null });
      return hold !== undefined;
    },
    async endDueHolds(nowMs) {
      for (const hold of holds) if (hold.untilMs <= nowMs) hold.endedAtMs ??= hold.untilMs;
      return 0;
    },
    addBlocked: async () => {},
  };

  function newRow(scope: string, byDay: boolean, at: number): SumRow {
    return { applicationId: applicationUuid, scope, byDay, hourMs: at, numbers: 0, approved: 0, held: 0 };
  }

  function addToDay(days: SumRow[], row: SumRow): void {
    const day = row.hourMs - (row.hourMs % dayMs);
    let last = days.at(-1);
    if (last?.hourMs !== day) {
      last = newRow(row.scope, true, day);
      days.push(last);
      if (days.length > historyDays) days.shift();
    }
    last.numbers += row.numbers;
    last.approved += row.approved;
  }
}
